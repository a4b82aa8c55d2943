"""The bound's sums over all nodes of a product of trees. Numba is imported with the first sum."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from kveil.arrays import Longs
from kveil.kernels.bound.layout import CoverLattice, KeptNodes, NodeWalk, new_walk
from kveil.kernels.threads import threads
from kveil.stopping import current

T = TypeVar("T")
MANY = 10_000  # tuples from which on several walks share the nodes


def cheapest(lattice: CoverLattice, k: int, whole: int) -> Longs:
    """Return for every tuple the cost of the cheapest node over it that covers k rows, ``whole`` if none does."""
    from kveil.kernels.bound.bound_loops import cheapest_nodes

    anything = np.full(lattice.above.shape[1], whole, dtype=np.int64)

    def walk_over(walk: NodeWalk) -> Longs:
        own = anything.copy()
        cheapest_nodes(lattice, walk, k, anything, own)
        return own

    least: Longs = np.minimum.reduce(_shared(lattice, walk_over))
    return least


def excess(lattice: CoverLattice, price: Longs, k: int, used: Longs) -> int:
    """Return Σ over all closed nodes of max(0, what its best k rows or more pay above its cost).

    ``used`` is set to how many rows of each tuple those sets hold.
    """
    return collect(lattice, price, 0, k, used, 0)[0]


def collect(lattice: CoverLattice, price: Longs, more: int, k: int, used: Longs, room: int) -> tuple[int, KeptNodes]:
    """Return the excess, and the closed nodes that would have one at prices higher by ``more``, as many as fit."""
    from kveil.kernels.bound.bound_loops import sum_all

    want = price + more

    def walk_over(walk: NodeWalk) -> tuple[int, Longs, KeptNodes]:
        own = np.zeros(len(used), dtype=np.int64)
        nodes = room // 4
        start, member = np.zeros(nodes + 1, dtype=np.int64), np.zeros(room, dtype=np.int32)
        cost, turn = np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.int64)
        total, number = sum_all(lattice, walk, price, more, k, own, start, member, cost, turn, want)
        return int(total), own, KeptNodes(int(number), start, member, cost, turn)

    sums = _shared(lattice, walk_over)
    used[:] = np.sum([own for _, own, _ in sums], axis=0)
    return sum(total for total, _, _ in sums), _together([nodes for _, _, nodes in sums], room)


def _shared(lattice: CoverLattice, walk_over: Callable[[NodeWalk], T]) -> list[T]:
    """Return what walks that share the nodes come to, one per core; small lattices are walked over by one alone."""
    walks = threads() if lattice.above.shape[1] >= MANY else 1
    stop = current()
    if walks == 1:
        found = [walk_over(new_walk(lattice, stop.flag))]
    else:
        with ThreadPoolExecutor(walks) as pool:
            found = list(pool.map(walk_over, [new_walk(lattice, stop.flag, n, walks) for n in range(walks)]))
    stop.check_cancelled()
    return found


def _together(kept: list[KeptNodes], room: int) -> KeptNodes:
    """Return the nodes that several walks kept in the order in which one would have come to them, as many as fit."""
    if len(kept) == 1:
        return kept[0]
    turn = np.concatenate([nodes.turn[: nodes.number] for nodes in kept])
    order = np.argsort(turn, kind="stable")
    cost = np.concatenate([nodes.cost[: nodes.number] for nodes in kept])[order]
    sizes = np.concatenate([np.diff(nodes.start[: nodes.number + 1]) for nodes in kept])
    begin = (np.cumsum(sizes) - sizes)[order]
    sizes = sizes[order]
    number = min(int(np.searchsorted(np.cumsum(sizes), room, side="right")), room // 4)
    start = np.concatenate([[0], np.cumsum(sizes[:number])]).astype(np.int64)
    member = np.concatenate([nodes.member[: nodes.start[nodes.number]] for nodes in kept])
    at = np.arange(start[-1]) - np.repeat(start[:-1] - begin[:number], sizes[:number])
    return KeptNodes(number, start, member[at], cost[:number], turn[order][:number])


def kept_excess(nodes: KeptNodes, weight: Longs, price: Longs, k: int, used: Longs) -> int:
    """Return the excess over kept nodes alone."""
    from kveil.kernels.bound.bound_loops import sum_kept

    return int(sum_kept(nodes.number, nodes.start, nodes.member, nodes.cost, weight, price, k, used))


def bound_nothing() -> None:
    """Sum over one tuple, which compiles the loops for the types they are called with."""
    one = np.ones(1, dtype=np.int64)
    none = np.zeros((1, 1), dtype=np.int32)
    lattice = CoverLattice(np.array([0, 1]), none, none.astype(np.int64), one, none[0], 1)
    used = np.zeros(1, dtype=np.int64)
    cheapest(lattice, 1, 1)
    excess(lattice, one, 1, used)
    kept_excess(collect(lattice, one, 1, 1, used, 8)[1], one, one, 1, used)
