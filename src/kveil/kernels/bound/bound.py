"""The bound's sums over all nodes of a product of trees. Numba is imported with the first sum."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from kveil.arrays import Bools, Longs
from kveil.kernels.bound.layout import (
    CoverLattice,
    Cuts,
    Insides,
    KeptNodes,
    NodeWalk,
    Tolls,
    new_fill_room,
    new_walk,
)
from kveil.kernels.grouping.members import members_by_group
from kveil.kernels.threads import threads
from kveil.stopping import current

T = TypeVar("T")
MANY = 10_000  # tuples from which on several walks share the nodes
MANY_MEMBERS = 50_000  # tuples of kept nodes from which on several threads share these


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
    """Return Σ over nodes of max(0, what its best k rows or more pay above its cost).

    A node's payers are its tuples that are in sets of k rows or more which pay more than its cost together. Only nodes
    count that are the lowest over their payers: a group at another one would be in a lower one, too, or pay nothing.
    ``used`` is set to how many rows of each tuple those sets hold.
    """
    return collect(lattice, price, price, k, used, 0)[0]


def collect(
    lattice: CoverLattice, price: Longs, want: Longs, k: int, used: Longs, room: int, *, low: Longs | None = None,
    large: int = 0,
) -> tuple[int, KeptNodes]:  # fmt: skip
    """Return the excess, and the nodes that would have one at the prices ``want``, with their payers, as many as fit.

    Payers are those at the prices ``want``: who is none there is none at lower prices. The kept ones of a node stand in
    the order of ``want``, the highest first, so that whoever looks for the best of them finds these early.

    With ``low``, nodes of ``large`` rows or more are kept without the tuples that are in no best set of theirs while
    every price stays between ``low`` and ``want``: where k rows of a node pay some amount, up to its cost, even at
    their low prices, a tuple that pays less even at its high price is never among the best.
    """
    from kveil.kernels.bound.bound_loops import sum_all

    lowest = np.zeros_like(want) if low is None else low
    order = np.argsort(-want, kind="stable").astype(np.int32)
    by_want = lattice._replace(
        above=lattice.above[:, order],
        cost=lattice.cost[:, order],
        weight=lattice.weight[order],
        first=lattice.first[order],
    )
    price, want, lowest = price[order], want[order], lowest[order]

    def walk_over(walk: NodeWalk) -> tuple[int, Longs, KeptNodes]:
        own = np.zeros(len(used), dtype=np.int64)
        nodes = room // 4
        start, member = np.empty(nodes + 1, dtype=np.int64), np.empty(room, dtype=np.int32)
        start[0] = 0
        cost, turn, rows = (np.empty(nodes, dtype=np.int64) for _ in range(3))
        kept = start, member, cost, turn, rows
        total, number, whole = sum_all(
            by_want, walk, price, want, k, own, *kept, lowest, large, order, new_fill_room(k)
        )
        return int(total), own, KeptNodes(int(number), *kept, bool(whole))

    sums = _shared(by_want, walk_over)
    used[order] = np.sum([own for _, own, _ in sums], axis=0)
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
    whole = number == len(order) and all(nodes.whole for nodes in kept)
    rows = np.concatenate([nodes.rows[: nodes.number] for nodes in kept])[order]
    return KeptNodes(number, start, member[at], cost[:number], turn[order][:number], rows[:number], whole)


def no_cuts() -> Cuts:
    """Return no cuts."""
    return Cuts(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64))


def insides_of(nodes: KeptNodes, small: Bools, cuts: Cuts, tuples: int, room: int) -> Insides:
    """Return the cuts that each of the ``small`` nodes lies inside of with all its tuples, as many as fit.

    Nodes that are not small have been trimmed, or are larger than any cut.
    """
    from kveil.kernels.bound.kept_loops import find_insides

    number = nodes.number
    filled = nodes.member[: nodes.start[number]]
    first = np.minimum.reduceat(filled, nodes.start[:number]) if number else filled
    chosen = np.flatnonzero(small)
    by_first = members_by_group(first[chosen], tuples)
    node, cut = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
    mark = np.full(tuples, -1, dtype=np.int32)
    found = int(
        find_insides(
            chosen[by_first.rows].astype(np.int32),
            by_first.starts,
            nodes.start,
            nodes.member,
            cuts.start,
            cuts.member,
            mark,
            node,
            cut,
        )
    )
    by_node = members_by_group(node[:found], number)
    return Insides(by_node.starts, cut[by_node.rows])


def new_tolls(nodes: KeptNodes, insides: Insides, toll: Longs) -> Tolls:
    """Return tolls of cuts around nodes, none of which has been looked at."""
    due, often = np.full(nodes.number, -1, dtype=np.int64), np.zeros(nodes.number, dtype=np.int64)
    return Tolls(insides, toll, np.zeros(len(toll), dtype=np.int64), due, often)


def kept_excess(
    nodes: KeptNodes, weight: Longs, price: Longs, k: int, used: Longs, tolls: Tolls, risen: int = 0
) -> int:  # fmt: skip
    """Return the sum that `excess` returns, but over kept nodes alone, and with the tolls of cuts added to their costs.

    A node costs what it costs itself and the toll of every cut that it lies inside of. It counts if its best set pays
    more than that; ``opened`` of the tolls is set to how many nodes inside of each cut count, and ``used`` to how many
    rows of each tuple their best sets hold; ``often`` of the tolls goes up by one for each of them. ``risen`` is the
    most that any price has risen since the tolls were made: a node whose best set then lacked more than such a rise can
    bring is not looked at again (``due`` of the tolls says up to which rise). Where there are many nodes several
    threads share them; sums of whole numbers do not depend on it.
    """
    from kveil.kernels.bound.kept_loops import sum_kept

    start, member, cost = nodes.start, nodes.member, nodes.cost
    cut_at, cut = tolls.insides

    def sum_some(turn: int, used: Longs, opened: Longs) -> int:
        own = used, cut_at, cut, tolls.toll, opened, tolls.due, tolls.often
        return int(sum_kept(turn, several, start, member, cost, weight, price, k, *own, risen, new_fill_room(k)))

    opened = tolls.opened
    several = threads() if start[nodes.number] >= MANY_MEMBERS else 1
    if several == 1:
        return sum_some(0, used, opened)
    counted = [(used, opened), *((np.empty_like(used), np.empty_like(opened)) for _ in range(1, several))]
    with ThreadPoolExecutor(several) as pool:
        totals = list(pool.map(sum_some, range(several), *zip(*counted, strict=True)))
    for own_used, own_opened in counted[1:]:
        used += own_used
        opened += own_opened
    return sum(totals)


def bound_nothing() -> None:
    """Sum over one tuple, which compiles the loops for the types they are called with."""
    one = np.ones(1, dtype=np.int64)
    none = np.zeros((1, 1), dtype=np.int32)
    lattice = CoverLattice(np.array([0, 1]), none, none.astype(np.int64), one, none[0], 1)
    used = np.zeros(1, dtype=np.int64)
    cheapest(lattice, 1, 1)
    excess(lattice, one, 1, used)
    nodes = collect(lattice, one, one, 1, used, 8)[1]
    insides = insides_of(nodes, np.ones(nodes.number, dtype=bool), no_cuts(), 1, 1)
    kept_excess(nodes, one, one, 1, used, new_tolls(nodes, insides, one[:0]))
