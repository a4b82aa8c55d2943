"""The bound's sums over all nodes of a product of trees. Numba is imported with the first sum."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kveil.arrays import Ints, Longs


class Lattice(NamedTuple):
    """Distinct tuples and all that may cover them: node ``above[at[a] + d, t]`` of attribute a at depth d.

    -1 where a tuple has no node at that depth, or may not show it. ``cost`` is what the node costs a row, ``weight``
    how many rows have the tuple. Attribute a has the depths from ``at[a]`` to ``at[a + 1]``. A node over whose tuples
    another one lies at most ``ahead`` depths below is left out.
    """

    at: Longs
    above: Ints
    cost: Longs
    weight: Longs
    ahead: int


class Nodes(NamedTuple):
    """Nodes that are kept, with the tuples they cover: node i has ``member[start[i] : start[i + 1]]``."""

    number: int
    start: Longs
    member: Ints
    cost: Longs


def cheapest(lattice: Lattice, k: int, whole: int) -> Longs:
    """Return for every tuple the cost of the cheapest node over it that covers k rows, ``whole`` if none does."""
    from kveil.kernels.bound.bound_loops import cheapest_nodes

    return cheapest_nodes(lattice, k, whole)


def excess(lattice: Lattice, price: Longs, k: int, used: Longs) -> int:
    """Return Σ over all closed nodes of max(0, what its best k rows or more pay above its cost); O(nodes · tuples).

    ``used`` is set to how many rows of each tuple those sets hold.
    """
    from kveil.kernels.bound.bound_loops import walk

    none = np.zeros(0, dtype=np.int64)
    return int(walk(lattice, price, 0, k, used, none, np.zeros(0, dtype=np.int32), none)[0])


def collect(lattice: Lattice, price: Longs, more: int, k: int, used: Longs, room: int) -> tuple[int, Nodes]:
    """Return the excess, and the closed nodes that would have one at prices higher by ``more``, as many as fit."""
    from kveil.kernels.bound.bound_loops import walk

    start, member = np.zeros(room // 4 + 2, dtype=np.int64), np.zeros(room, dtype=np.int32)
    cost = np.zeros(room // 4 + 1, dtype=np.int64)
    total, number = walk(lattice, price, more, k, used, start, member, cost)
    return int(total), Nodes(int(number), start, member, cost)


def kept_excess(nodes: Nodes, weight: Longs, price: Longs, k: int, used: Longs) -> int:
    """Return the excess over kept nodes alone."""
    from kveil.kernels.bound.bound_loops import sum_kept

    return int(sum_kept(nodes.number, nodes.start, nodes.member, nodes.cost, weight, price, k, used))


def bound_nothing() -> None:
    """Sum over one tuple, which compiles the loops for the types they are called with."""
    one = np.ones(1, dtype=np.int64)
    lattice = Lattice(np.array([0, 1]), np.zeros((1, 1), dtype=np.int32), np.zeros((1, 1), dtype=np.int64), one, 1)
    used = np.zeros(1, dtype=np.int64)
    cheapest(lattice, 1, 1)
    excess(lattice, one, 1, used)
    kept_excess(collect(lattice, one, 1, 1, used, 8)[1], one, one, 1, used)
