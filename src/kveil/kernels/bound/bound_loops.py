"""The compiled loops behind `bound`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.bound.kept_loops import best_set
from kveil.kernels.bound.layout import NARROWED, SHARED, UNPAYABLE, CoverLattice, NodeWalk
from kveil.kernels.jit import door, inner


@inner
def first_not_above(members: Ints, begin: int, end: int, want: Longs, bar: int) -> int:
    """Return where tuples that stand in the order of ``want``, the highest first, no longer want more than a bar."""
    while begin < end:
        middle = (begin + end) // 2
        if want[members[middle]] > bar:
            begin = middle + 1
        else:
            end = middle
    return end


@inner
def last_that_may_pay(walk: NodeWalk, a: int, begin: int, end: int, cost: int, weight: Longs, want: Longs,
                      k: int) -> int:  # fmt: skip
    """Return where the tuples end that are in sets of k rows or more which pay more than a cost together.

    They stand in the order of what they pay, the highest first; ``begin`` where there is no such set. The best one has
    all that pay more than the cost, and the next ones where these are fewer than k. Beside one row of a tuple, k - 1
    others pay no more than the best of them do; so that it is in no such set if it lacks as much as they pay.
    """
    members = walk.members[a]
    total, number, least = np.int64(0), np.int64(0), np.int64(cost)
    i = begin
    while i < end and (number < k or want[members[i]] > cost):
        t = members[i]
        if want[t] > cost:
            total += weight[t] * (want[t] - cost)
            number += weight[t]
        else:
            taken = min(weight[t], k - number)
            total -= taken * (cost - want[t])
            number += taken
            least = want[t]
        i += 1
    if number < k or total <= 0:
        return begin
    return first_not_above(members, i, end, want, least - total)


@inner
def part(lattice: CoverLattice, walk: NodeWalk, a: int, want: Longs, k: int) -> None:
    """Part the tuples of a node by their nodes one attribute on, at the level where the walk stands there.

    Nodes with fewer than k rows, or without a tuple whose ``want`` is above the cost, are left out with all that lies
    under them: it would have no more rows, and cost no less.
    """
    row, begin, end = walk.level[a], 0, lattice.above.shape[1]
    if a > 0:
        begin, end = walk.start[a - 1, walk.at[a - 1]], walk.start[a - 1, walk.at[a - 1] + 1]
    nodes = 0
    for i in range(begin, end):
        t = walk.members[a, i]
        node = lattice.above[row, t]
        if node < 0:
            continue
        if walk.place[node] < 0:
            walk.place[node] = nodes
            walk.node[nodes] = node
            walk.tuples[nodes], walk.rows[nodes], walk.most[nodes] = 0, 0, 0
            nodes += 1
        g = walk.place[node]
        walk.tuples[g] += 1
        walk.rows[g] += lattice.weight[t]
        walk.most[g] = max(walk.most[g], want[t] - walk.cost[a] - lattice.cost[row, t])
    groups, filled = 0, 0
    for g in range(nodes):
        if walk.rows[g] < k or walk.most[g] <= 0:
            walk.tuples[g] = -1
            continue
        walk.start[a, groups] = filled
        filled += walk.tuples[g]
        walk.tuples[g] = walk.start[a, groups]
        groups += 1
    walk.start[a, groups] = filled
    if groups > 0:
        for i in range(begin, end):
            t = walk.members[a, i]
            if lattice.above[row, t] >= 0:
                g = walk.place[lattice.above[row, t]]
                if walk.tuples[g] >= 0:
                    walk.members[a + 1, walk.tuples[g]] = t
                    walk.tuples[g] += 1
    for g in range(nodes):
        walk.place[walk.node[g]] = -1
    walk.groups[a] = groups


@inner
def least_of_use(walk: NodeWalk, nodes: int, next_want: int, k: int) -> int:
    """Return a price above which tuples must pay that are payers of some node of a parting.

    So far, each node has all its tuples that pay more than it costs, together ``most`` above it. Beside one row of
    another tuple, all that are missing to k pay no more than ``next_want``. Where none is, it takes the place of the
    last row that was needed, or of none.
    """
    lowest = np.int64(UNPAYABLE)
    for g in range(nodes):
        left = walk.most[g] - max(k - walk.rows[g] - 1, 0) * (walk.dear[g] - next_want)
        if left > 0:
            lowest = min(lowest, (walk.dear[g] if walk.rows[g] < k else walk.least[g]) - left)
    return lowest


@inner
def gather_payers(walk: NodeWalk, a: int, above: Ints, want: Longs, k: int, nodes: int, begin: int, stop: int) -> None:
    """Lay together the payers of each node of a parting that `part_payers` has counted; forget nodes without any."""
    members, under = walk.members[a], walk.members[a + 1]
    place, tuples, rows, most, least = walk.place, walk.tuples, walk.rows, walk.most, walk.least
    groups, filled = 0, 0
    for g in range(nodes):
        if rows[g] < k or most[g] <= 0:
            tuples[g] = -1
            continue
        walk.start[a, groups] = filled
        filled += tuples[g]
        tuples[g] = walk.start[a, groups]
        least[g] -= most[g]
        groups += 1
    walk.start[a, groups] = filled
    if groups > 0:
        for i in range(begin, stop):
            t = members[i]
            if above[t] >= 0:
                g = place[above[t]]
                if g >= 0 and tuples[g] >= 0 and want[t] > least[g]:
                    under[tuples[g]] = t
                    tuples[g] += 1
    for g in range(nodes):
        place[walk.node[g]] = -1
    walk.groups[a] = groups


@inner
def part_payers(lattice: CoverLattice, walk: NodeWalk, a: int, want: Longs, k: int) -> None:
    """Part the tuples of a node as `part` does, where these stand in the order of ``want``, the highest first.

    Nodes of which no k rows or more pay their cost together are left out, and so are tuples of the others that are in
    no such set: under them, there are fewer rows to choose from, and they cost no less. See `last_that_may_pay`, which
    also tells how many of the tuples are worth looking at, by the least that a node of the level costs. From those on
    that pay no more than that, no other node can begin to pay, and few of the others are of use: see `least_of_use`.
    """
    row, begin, end = walk.level[a], 0, lattice.above.shape[1]
    if a > 0:
        begin, end = walk.start[a - 1, walk.at[a - 1]], walk.start[a - 1, walk.at[a - 1] + 1]
    end = last_that_may_pay(walk, a, begin, end, walk.cost[a] + walk.cheap[row], lattice.weight, want, k)
    above, weight, members = lattice.above[row], lattice.weight, walk.members[a]
    place, tuples, rows, most, dear, least = walk.place, walk.tuples, walk.rows, walk.most, walk.dear, walk.least
    sure = first_not_above(members, begin, end, want, walk.cost[a] + walk.cheap[row])
    stop, nodes = end, 0
    for i in range(begin, end):
        if i == sure:
            stop = first_not_above(members, i, end, want, least_of_use(walk, nodes, want[members[i]], k))
        if i >= stop:
            break
        t = members[i]
        node = above[t]
        if node < 0:
            continue
        g = place[node]
        if g < 0:
            if i >= sure:
                continue
            g = nodes
            nodes += 1
            place[node], walk.node[g] = g, node
            tuples[g], rows[g], most[g] = 0, 0, 0
            dear[g] = walk.cost[a] + lattice.cost[row, t]
            least[g] = dear[g]
        over = want[t] - dear[g]
        if over > 0:
            rows[g] += weight[t]
            most[g] += weight[t] * over
        elif rows[g] < k:
            taken = min(weight[t], k - rows[g])
            rows[g] += taken
            most[g] += taken * over
            least[g] = want[t]
        elif least[g] - most[g] >= want[t]:
            continue
        tuples[g] += 1
    gather_payers(walk, a, above, want, k, nodes, begin, stop)


@inner
def next_node(
    lattice: CoverLattice, walk: NodeWalk, shared_want: Longs, want: Longs, k: int, a: int, payers: bool
) -> int:
    """Go on from the node of attribute ``a`` where the walk stands; return the next one's attribute, -1 at the end.

    An attribute's deepest level first; under a node come the nodes of the next attribute. Up to the nodes that walks
    share, all of them must see the same, so that there is a ``want`` of its own for these. Every turn goes up a level
    of an attribute or back to the attribute before, so that there are no more turns than levels and attributes so far.
    """
    for _ in range(lattice.at[a + 1] + a + 1):
        walk.at[a] += 1
        if walk.at[a] < walk.groups[a]:
            begin = walk.start[a, walk.at[a]]
            walk.cost[a + 1] = walk.cost[a] + lattice.cost[walk.level[a], walk.members[a + 1, begin]]
            return a
        walk.level[a] -= 1
        if walk.level[a] >= lattice.at[a]:
            if payers:
                part_payers(lattice, walk, a, want, k)
            else:
                part(lattice, walk, a, want if a > SHARED else shared_want, k)
            walk.at[a] = -1
        elif a == 0:
            return -1
        else:
            a -= 1
    return -1


@inner
def go_under(lattice: CoverLattice, walk: NodeWalk, a: int) -> None:
    """Let the walk begin with an attribute, under the node where it stands in the one before."""
    walk.level[a] = lattice.at[a + 1]
    walk.groups[a] = 0
    walk.at[a] = 0


@inner
def is_mine(walk: NodeWalk, a: int) -> bool:
    """Tell whether a walk goes under the node where it stands: those of one attribute are shared by all walks."""
    if a != min(SHARED, len(walk.level) - 1):
        return True
    walk.turn[2] += 1
    return walk.turn[2] % walk.turn[1] == walk.turn[0]


@inner
def is_closed(lattice: CoverLattice, rows: Longs, chosen: int, members: Ints, begin: int, end: int) -> bool:
    """Tell whether a node is the lowest over its tuples: in no attribute do all of them lie under one below it.

    A tree's node has its children one level on, a window the others of its class and of the next within ``ahead``.
    Only the first ``chosen`` attributes are looked at; what fails there fails with fewer tuples, too.
    """
    for a in range(chosen):
        for level in range(rows[a] + 1, min(rows[a] + 1 + lattice.ahead, lattice.at[a + 1])):
            below = lattice.above[level, members[begin]]
            i = begin if below >= 0 else end + 1
            while i < end and lattice.above[level, members[i]] == below:
                i += 1
            if i == end:
                return False
    return True


@inner
def end_of_best(members: Ints, begin: int, end: int, cost: int, weight: Longs, want: Longs, low: Longs,
                k: int) -> int:  # fmt: skip
    """Return where the tuples of a node end that may be in a best set of it, in the order of ``want``.

    Where k rows pay some price up to the node's cost even at the prices ``low``, whoever wants less is in none. That
    price is sought to so many bits of the cost, between the lowest that the first k rows pay and the least they want.
    """
    bar, number = np.int64(cost), np.int64(0)
    i = begin
    while i < end and number < k:
        bar = min(bar, low[members[i]])
        number += weight[members[i]]
        i += 1
    top = min(np.int64(cost), want[members[i - 1]])
    end = first_not_above(members, begin, end, want, bar - 1)
    while top - bar > cost >> NARROWED:
        middle = (bar + top + 1) // 2
        number = np.int64(0)
        for i in range(begin, end):
            if low[members[i]] >= middle:
                number += weight[members[i]]
        if number >= k:
            bar = middle
            end = first_not_above(members, begin, end, want, bar - 1)
        else:
            top = middle - 1
    return end


@inner
def count_rows(members: Ints, begin: int, end: int, weight: Longs) -> int:
    """Return how many rows some tuples have."""
    rows = np.int64(0)
    for i in range(begin, end):
        rows += weight[members[i]]
    return rows


@door
def sum_all(
    lattice: CoverLattice, walk: NodeWalk, price: Longs, want: Longs, k: int, used: Longs, kept_start: Longs,
    kept_member: Ints, kept_cost: Longs, kept_turn: Longs, kept_rows: Longs, low: Longs, large: int,
    order: Ints, room: Longs,
) -> tuple[int, int, bool]:  # fmt: skip
    """Sum over all closed nodes; see `bound.excess` and `bound.collect`. ``want`` is no lower than the price."""
    last = len(walk.level) - 1
    for t in range(len(used)):
        used[t] = 0
    total = np.int64(0)
    kept, fits = 0, len(kept_cost) > 0
    go_under(lattice, walk, 0)
    a = next_node(lattice, walk, want, want, k, 0, True)
    while a >= 0 and not walk.halt[0]:
        begin, end, cost = walk.start[a, walk.at[a]], walk.start[a, walk.at[a] + 1], walk.cost[a + 1]
        members = walk.members[a + 1]
        if is_mine(walk, a) and is_closed(lattice, walk.level, a + 1, members, begin, end):
            if a < last:
                a += 1
                go_under(lattice, walk, a)
            else:
                rows = count_rows(members, begin, end, lattice.weight)
                if rows >= large:
                    end = end_of_best(members, begin, end, cost, lattice.weight, want, low, k)
                total += max(best_set(members, begin, end, cost, 0, lattice.weight, price, k, used, room), 0)
                filled = kept_start[min(kept, len(kept_cost))] + end - begin
                fits = fits and kept < len(kept_cost) and filled <= len(kept_member)
                if fits:
                    for i in range(begin, end):
                        kept_member[kept_start[kept] + i - begin] = order[members[i]]
                    kept_cost[kept], kept_rows[kept], kept_turn[kept] = cost, rows, walk.turn[2]
                    kept += 1
                    kept_start[kept] = filled
        a = next_node(lattice, walk, want, want, k, a, True)
    return total, kept, fits


@door
def cheapest_nodes(lattice: CoverLattice, walk: NodeWalk, k: int, whole: Longs, least: Longs) -> None:
    """Find cheapest nodes; see `bound.cheapest`. ``least``, at first the ``whole`` of each tuple, is what they cost."""
    last = len(walk.level) - 1
    go_under(lattice, walk, 0)
    a = next_node(lattice, walk, whole, least, k, 0, False)
    while a >= 0 and not walk.halt[0]:
        if not is_mine(walk, a):
            pass
        elif a < last:
            a += 1
            go_under(lattice, walk, a)
        else:
            for i in range(walk.start[a, walk.at[a]], walk.start[a, walk.at[a] + 1]):
                t = walk.members[a + 1, i]
                least[t] = min(least[t], walk.cost[a + 1])
        a = next_node(lattice, walk, whole, least, k, a, False)
