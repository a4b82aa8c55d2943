"""The bound's sums over all nodes of a product of trees. Numba is imported with the first sum."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Longs
from kveil.kernels.bound.layout import CoverLattice, KeptNodes, new_walk


def cheapest(lattice: CoverLattice, k: int, whole: int) -> Longs:
    """Return for every tuple the cost of the cheapest node over it that covers k rows, ``whole`` if none does."""
    from kveil.kernels.bound.bound_loops import cheapest_nodes

    number = lattice.above.shape[1]
    least = np.full(number, whole, dtype=np.int64)
    cheapest_nodes(lattice, new_walk(lattice), k, whole, least, np.zeros(number, dtype=np.int64))
    return least


def excess(lattice: CoverLattice, price: Longs, k: int, used: Longs) -> int:
    """Return Σ over all closed nodes of max(0, what its best k rows or more pay above its cost); O(nodes · tuples).

    ``used`` is set to how many rows of each tuple those sets hold.
    """
    from kveil.kernels.bound.bound_loops import sum_all

    none = np.zeros(0, dtype=np.int64)
    empty = (none, np.zeros(0, dtype=np.int32), none)
    return int(sum_all(lattice, new_walk(lattice), price, 0, k, used, *empty, price)[0])


def collect(lattice: CoverLattice, price: Longs, more: int, k: int, used: Longs, room: int) -> tuple[int, KeptNodes]:
    """Return the excess, and the closed nodes that would have one at prices higher by ``more``, as many as fit."""
    from kveil.kernels.bound.bound_loops import sum_all

    start, member = np.zeros(room // 4 + 2, dtype=np.int64), np.zeros(room, dtype=np.int32)
    cost = np.zeros(room // 4 + 1, dtype=np.int64)
    total, number = sum_all(lattice, new_walk(lattice), price, more, k, used, start, member, cost, price + more)
    return int(total), KeptNodes(int(number), start, member, cost)


def kept_excess(nodes: KeptNodes, weight: Longs, price: Longs, k: int, used: Longs) -> int:
    """Return the excess over kept nodes alone."""
    from kveil.kernels.bound.bound_loops import sum_kept

    return int(sum_kept(nodes.number, nodes.start, nodes.member, nodes.cost, weight, price, k, used))


def bound_nothing() -> None:
    """Sum over one tuple, which compiles the loops for the types they are called with."""
    one = np.ones(1, dtype=np.int64)
    lattice = CoverLattice(np.array([0, 1]), np.zeros((1, 1), dtype=np.int32), np.zeros((1, 1), dtype=np.int64), one, 1)
    used = np.zeros(1, dtype=np.int64)
    cheapest(lattice, 1, 1)
    excess(lattice, one, 1, used)
    kept_excess(collect(lattice, one, 1, 1, used, 8)[1], one, one, 1, used)
