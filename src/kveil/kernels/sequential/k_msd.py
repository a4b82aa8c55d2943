"""Minimal distance generalization of many groups at once. Numba is imported when the first one is repaired."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kveil.arrays import Bools, Ints, Longs


class RunNodes(NamedTuple):
    """A tree whose nodes are numbered depth first: parent, depth, the last node below each, and where climbing ends."""

    parent: Ints
    depth: Ints
    end: Ints
    limit: Bools


def repair(nodes: RunNodes, starts: Longs, node: Ints, count: Longs, k: int) -> Ints | None:
    """Return what every value of every group becomes so that none occurs fewer than k times in its group.

    ``node`` and ``count`` list the values of the groups, one group after another, each in the order of nodes;
    ``starts`` is where groups begin, with the end as last entry. None where a group cannot succeed. Close to linear:
    a violating value looks at those below the ancestor it comes to share.
    """
    from kveil.kernels.sequential.k_msd_loops import repair_groups

    shown = node.copy()
    values = len(node)
    room = (
        np.empty(values, dtype=np.int32),
        np.empty(values, dtype=np.int32),
        np.arange(values, dtype=np.int64),
        np.full(len(nodes.parent), -1, dtype=np.int32),
        np.empty((2, values), dtype=np.int64),
    )
    done = repair_groups(*nodes, starts, shown, count.copy(), k, *room)
    return shown if done else None


def repair_nothing() -> None:
    """Repair an empty table, which compiles the loops for the types they are called with."""
    none, far = np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64)
    repair(RunNodes(none, none, none, np.zeros(0, dtype=np.bool_)), far, none, far[:0], 1)
