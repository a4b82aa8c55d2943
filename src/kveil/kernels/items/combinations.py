"""Merging of clusters and generalization of their items. Numba is imported with the first cluster, not before."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.clustering.layout import Costs, no_costs
from kveil.kernels.items.layout import ClusterItems, Forest
from kveil.stopping import halting


def climb(forest: Forest, items: ClusterItems, cluster: Ints, nodes: Ints) -> int:
    """Generalize one item of every combination that is still shown as given; return how many were.

    ``nodes`` is combination × item, in the order they are dealt with. In each, the node goes to its parent where that
    costs the cluster least, of equals the first; with it go all items of the cluster below that parent.
    """
    from kveil.kernels.items.combinations_loops import climb_all

    return int(climb_all(forest, items, cluster, nodes))


def merge_nearest(costs: Costs, low: Ints, high: Ints, size: Longs, group: Ints, most: int) -> Ints:
    """Return the cluster that each cluster ends up in, after merging nearest ones while the total cost allows it.

    ``low`` and ``high`` are cluster × attribute spans, which change. The cluster whose members lose least is merged
    with the one of its group with which they then lose least; ties go to the first. Never so far that nothing is shown.
    Quadratic in the clusters.
    """
    from kveil.kernels.items.combinations_loops import merge_clusters

    number = len(size)
    into, alone = np.arange(number, dtype=np.int32), np.zeros(number, dtype=np.bool_)
    cost = np.empty(number, dtype=np.int64)
    with halting() as stop:
        merge_clusters(costs, low, high, size.copy(), group, most, into, cost, alone, stop.flag)
        stop.check_cancelled()
    return into


def combine_nothing() -> None:
    """Merge and climb nothing, which compiles the loops for the types they are called with."""
    none, far = np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64)
    flat = np.zeros((0, 1), dtype=np.int32)
    forest = Forest(none, none, far[:0], far, none, none, none)
    climb(forest, ClusterItems(far, none, far[:0], none), none, flat)
    merge_nearest(no_costs(), flat, flat, far[:0], none, 0)
