"""Greedy clustering of tuples. Numba is imported when the first table is clustered, not before."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.clustering.layout import (
    ClusterArrays,
    Costs,
    DistinctTuples,
    new_cluster_room,
    new_clusters,
    no_costs,
)
from kveil.stopping import halting


def cluster(costs: Costs, distinct: DistinctTuples, groups: Longs, k: int) -> ClusterArrays:
    """Return greedy k-member clusters of every group; ``groups`` is where they start among the tuples.

    Each group has at least k rows. The same clusters as by comparing all pairs; a search in a tree of the tuples
    looks at few of them. Memory linear in the tuples and rows.
    """
    from kveil.kernels.clustering.greedy_loops import cluster_groups

    clusters = new_clusters(distinct, int((np.diff(distinct.start[groups]) // k).sum()))
    with halting() as stop:
        cluster_groups(costs, distinct, groups, k, clusters, new_cluster_room(costs, distinct, groups, 3, stop.flag))
        stop.check_cancelled()
    return clusters


def blocks(costs: Costs, distinct: DistinctTuples, groups: Longs, largest: int) -> tuple[Ints, Longs]:
    """Return the tuples in blocks of at most so many, each within a group: an order, and where blocks start in it."""
    from kveil.kernels.clustering.greedy_loops import split_blocks

    tuples = len(distinct.low)
    order, is_start = np.empty(tuples, dtype=np.int32), np.zeros(tuples + 1, dtype=np.bool_)
    with halting() as stop:
        room = new_cluster_room(costs, distinct, groups, 0, stop.flag)._replace(left=np.ones(tuples, dtype=np.int64))
        split_blocks(costs, distinct, groups, largest, room, order, is_start)
        stop.check_cancelled()
    is_start[tuples] = True
    return order, np.flatnonzero(is_start)


def cluster_nothing() -> None:
    """Cluster an empty table, which compiles the loops for the types they are called with."""
    far = np.zeros(1, dtype=np.int64)
    flat = np.zeros((0, 1), dtype=np.int32)
    costs, distinct = no_costs(), DistinctTuples(flat, flat, far)
    cluster(costs, distinct, far, 2)
    blocks(costs, distinct, far, 2)
