"""Greedy clustering under models over sensitive values. Numba is imported with the first call, not before."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Longs
from kveil.kernels.clustering.layout import (
    ClusterArrays,
    Costs,
    DistinctTuples,
    DiverseRoom,
    new_cluster_room,
    new_clusters,
    new_heap,
    no_costs,
)
from kveil.kernels.models.layout import Needs, SensitiveCodes, new_models
from kveil.stopping import halting


def cluster_diverse(
    costs: Costs,
    distinct: DistinctTuples,
    needs: Needs,
    values: SensitiveCodes,
    groups: Longs,
    k: int,
    more_is_safe: bool,
) -> ClusterArrays:
    """Return clusters that satisfy every need, in every group; rows that are left over have the label -1.

    ``values`` has the sensitive values of each tuple. Diversity first: a cluster takes the nearest rows that bring it
    nearer to the first need it fails, then the nearest until it has k. Where ``more_is_safe``, what is left over joins
    the cluster whose loss grows least.
    """
    from kveil.kernels.clustering.diverse_loops import cluster_all

    rows, number = int(distinct.start[-1]), len(needs.kind)
    with halting() as stop:
        clusters, room = new_clusters(distinct, rows // k), new_cluster_room(costs, distinct, groups, 4, stop.flag)
        plans = DiverseRoom(
            np.empty(number, dtype=np.int64),
            np.zeros(number, dtype=np.int64),
            np.zeros(number, dtype=np.int64),
            new_heap(len(room.heap.key)),
            np.empty(rows, dtype=np.int32),
        )
        models, outside = new_models(needs, values), new_models(needs, values)
        made = cluster_all(costs, distinct, models, outside, groups, k, more_is_safe, clusters, room, plans)
        stop.check_cancelled()
    return ClusterArrays(
        clusters.label, clusters.low[:made], clusters.high[:made], clusters.size[:made], clusters.group[:made]
    )


def cluster_no_values() -> None:
    """Cluster an empty table, which compiles the loops for the types they are called with."""
    none, far, real = np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64), np.zeros(0)
    flat, cube = np.zeros((0, 1), dtype=np.int32), np.zeros((1, 1))
    cluster_diverse(
        no_costs(),
        DistinctTuples(flat, flat, far),
        Needs(none, none, far[:0], far[:0], far[:0], real),
        SensitiveCodes(
            np.zeros((1, 1), dtype=np.int64), none, far[:0], none, cube, np.zeros((1, 1, 1), dtype=np.int32), cube, cube
        ),
        far,
        1,
        True,
    )
