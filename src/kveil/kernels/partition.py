"""Top-down generalization of sets of items. Numba is imported when the first sets are refined, not before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Hashes = NDArray[np.uint64]


class Forest(NamedTuple):
    """Trees laid end to end, nodes in depth-first order, and the way from the root to every leaf.

    ``first`` and ``last`` are the leaves under a node; ``cost`` is what showing it costs an item. The nodes from the
    root down to a leaf stand in ``way`` from ``way_start[leaf]`` on.
    """

    first: Ints
    last: Ints
    cost: Longs
    way_start: Longs
    way: Ints


class Sets(NamedTuple):
    """Every record's items as leaves in growing order, laid end to end."""

    start: Longs
    leaf: Ints


def refine(forest: Forest, sets: Sets, order: Ints, k: int, patient: bool = False) -> Ints:
    """Return how many steps below its root every item is shown, so that every shown set is shared by k records.

    ``order`` are the records that take part, in canonical order, at least k of them, all with items under the same
    roots. The items of others stay at their roots. ``patient``: no child is taken out of a node while any node can be
    opened, even where that gains more. See `algorithms.partition` for the rules.
    """
    from kveil.kernels.partition_loops import refine_parts

    return refine_parts(forest, sets, order, k, patient)


def shown_nodes(forest: Forest, sets: Sets, level: Ints) -> Ints:
    """Return the node that every item is shown as, given how many steps below its root it is."""
    return np.asarray(forest.way[forest.way_start[sets.leaf] + level])


def group_sets(start: Longs, values: Ints) -> tuple[Ints, Ints]:
    """Return every run's group and every group's first run; runs of equal values form a group. O(values)."""
    from kveil.kernels.partition_loops import group_runs

    return group_runs(start, np.ascontiguousarray(values, dtype=np.int32))


def refine_nothing() -> None:
    """Refine no sets, which compiles the loops for the types they are called with."""
    none, far = np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64)
    refine(Forest(none, none, far[:0], far, none), Sets(far, none), none, 1)
    group_sets(far, none)
