"""The compiled loops behind `bound`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.bound.layout import NARROWED, SHARED, CoverLattice, NodeWalk
from kveil.kernels.jit import door, inner


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
def next_node(lattice: CoverLattice, walk: NodeWalk, shared_want: Longs, want: Longs, k: int, a: int) -> int:
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
def may_pay(lattice: CoverLattice, walk: NodeWalk, a: int, want: Longs, k: int) -> bool:
    """Tell whether k rows or more of the node where the walk stands may pay more than its cost together.

    Those who pay more, and what is missing to k from the next best tuples; beyond so many of these, as the last of
    them. Where they do not, they do not at a higher cost, nor with fewer rows to choose from.
    """
    cost, total, number, full = walk.cost[a + 1], np.int64(0), np.int64(0), 0
    best, rows = walk.best, walk.best_rows
    for i in range(walk.start[a, walk.at[a]], walk.start[a, walk.at[a] + 1]):
        t = walk.members[a + 1, i]
        p = want[t]
        if p > cost:
            total += lattice.weight[t] * (p - cost)
            number += lattice.weight[t]
        elif full < len(best) or p > best[full - 1]:
            place = min(full, len(best) - 1)
            while place > 0 and best[place - 1] < p:
                best[place], rows[place] = best[place - 1], rows[place - 1]
                place -= 1
            best[place], rows[place] = p, lattice.weight[t]
            full = min(full + 1, len(best))
    for i in range(full):
        taken = min(max(k - number, 0), rows[i])
        total -= taken * (cost - best[i])
        number += taken
    if number < k and full == len(best):
        total -= (k - number) * (cost - best[full - 1])
        number = k
    return number >= k and total > 0


@inner
def best_set(members: Ints, begin: int, end: int, cost: int, toll: int, weight: Longs, price: Longs, k: int,
             used: Longs, note: bool) -> int:  # fmt: skip
    """Return what the best set of k rows or more pays above a node's cost and toll, if that is more than nothing.

    All rows that pay more than the cost, and where these are fewer than k, the next best. ``note`` adds the set to
    ``used``. Else return 0 or less: no set pays more than that.
    """
    total, number = np.int64(0), np.int64(0)
    bar, rows = np.int64(-1), np.int64(0)  # the highest price that is not above the cost, and how many rows pay it
    for i in range(begin, end):
        t = members[i]
        p = price[t]
        if p > cost:
            total += weight[t] * (p - cost)
            number += weight[t]
        elif p > bar:
            bar, rows = p, weight[t]
        elif p == bar:
            rows += weight[t]
    ties = np.int64(0)  # how many rows at the lowest price that is in the set are in it
    if number >= k:
        bar = cost
    while number < k:
        if bar < 0:
            return 0
        if total - (k - number) * (cost - bar) <= toll:
            return total - (k - number) * (cost - bar) - toll
        ties = min(rows, k - number)
        total -= ties * (cost - bar)
        number += ties
        if number < k:  # the next lower price
            last = bar
            bar = np.int64(-1)
            for i in range(begin, end):
                p = price[members[i]]
                if p < last and p > bar:
                    bar, rows = p, weight[members[i]]
                elif p == bar:
                    rows += weight[members[i]]
    total -= toll
    if note and total > 0:
        for i in range(begin, end):
            t = members[i]
            p = price[t]
            if p > cost or (p > bar and bar < cost):
                used[t] += weight[t]
            elif p == bar and ties > 0:
                taken = min(ties, weight[t])
                used[t] += taken
                ties -= taken
    return total


@inner
def sure_price(members: Ints, begin: int, end: int, cost: int, weight: Longs, low: Longs, k: int,
               large: int) -> tuple[int, int]:  # fmt: skip
    """Return a node's rows, and a price up to its cost that k of them pay even at the prices ``low``.

    Nearly the highest such price, to so many bits of the cost; 0 for nodes of fewer than ``large`` rows.
    """
    rows = np.int64(0)
    for i in range(begin, end):
        rows += weight[members[i]]
    bar = np.int64(0)
    top = cost if rows >= large else bar
    while top - bar > cost >> NARROWED:
        middle = (bar + top + 1) // 2
        number = np.int64(0)
        for i in range(begin, end):
            if low[members[i]] >= middle:
                number += weight[members[i]]
        if number >= k:
            bar = middle
        else:
            top = middle - 1
    return rows, bar


@door
def sum_all(
    lattice: CoverLattice, walk: NodeWalk, price: Longs, want: Longs, k: int, used: Longs, kept_start: Longs,
    kept_member: Ints, kept_cost: Longs, kept_turn: Longs, kept_rows: Longs, low: Longs, large: int,
) -> tuple[int, int, bool]:  # fmt: skip
    """Sum over all closed nodes; see `bound.excess` and `bound.collect`. ``want`` is no lower than the price."""
    last = len(walk.level) - 1
    for t in range(len(used)):
        used[t] = 0
    total = np.int64(0)
    kept, fits = 0, len(kept_cost) > 0
    go_under(lattice, walk, 0)
    a = next_node(lattice, walk, want, want, k, 0)
    while a >= 0 and not walk.halt[0]:
        begin, end, cost = walk.start[a, walk.at[a]], walk.start[a, walk.at[a] + 1], walk.cost[a + 1]
        members = walk.members[a + 1]
        if (
            is_mine(walk, a)
            and may_pay(lattice, walk, a, want, k)
            and is_closed(lattice, walk.level, a + 1, members, begin, end)
        ):
            if a < last:
                a += 1
                go_under(lattice, walk, a)
            elif best_set(members, begin, end, cost, 0, lattice.weight, want, k, used, False) > 0:
                total += max(best_set(members, begin, end, cost, 0, lattice.weight, price, k, used, True), 0)
                fits = fits and kept < len(kept_cost)
                if fits:
                    rows, bar = sure_price(members, begin, end, cost, lattice.weight, low, k, large)
                    filled = kept_start[kept]
                    for i in range(begin, end):
                        if want[members[i]] >= bar:
                            if filled < len(kept_member):
                                kept_member[filled] = members[i]
                            filled += 1
                    fits = filled <= len(kept_member)
                if fits:
                    kept_cost[kept], kept_rows[kept], kept_turn[kept] = cost, rows, walk.turn[2]
                    kept += 1
                    kept_start[kept] = filled
        a = next_node(lattice, walk, want, want, k, a)
    return total, kept, fits


@door
def sum_kept(
    first: int, last: int, start: Longs, member: Ints, cost: Longs, weight: Longs, price: Longs, k: int, used: Longs,
    inside_start: Longs, inside: Ints, toll: Longs, opened: Longs, due: Longs, often: Longs, risen: int,
) -> int:  # fmt: skip
    """Sum over kept nodes, from the first to before the last; see `bound.kept_excess`."""
    total = np.int64(0)
    for t in range(len(used)):
        used[t] = 0
    for c in range(len(opened)):
        opened[c] = 0
    for i in range(first, last):
        if risen <= due[i]:
            continue
        tolls = np.int64(0)
        for at in range(inside_start[i], inside_start[i + 1]):
            tolls += toll[inside[at]]
        own = best_set(member, start[i], start[i + 1], cost[i], tolls, weight, price, k, used, True)
        if own > 0:
            total += own
            often[i] += 1
            for at in range(inside_start[i], inside_start[i + 1]):
                opened[inside[at]] += 1
        elif own + tolls < 0:  # k rows lack so much, and none has risen by more than all have together
            due[i] = risen + (-own - tolls) // k
    return total


@door
def find_insides(
    small: Ints, first: Longs, start: Longs, member: Ints, cut_start: Longs, cut_member: Ints, mark: Ints,
    found_node: Ints, found_cut: Ints,
) -> int:  # fmt: skip
    """Find the nodes inside of cuts; see `bound.insides_of`. Those of ``small`` with first tuple t are at first[t]."""
    number = 0
    for c in range(len(cut_start) - 1):
        begin, end = cut_start[c], cut_start[c + 1]
        for i in range(begin, end):
            mark[cut_member[i]] = c
        for i in range(begin, end):
            t = cut_member[i]
            for at in range(first[t], first[t + 1]):
                g = small[at]
                j = start[g]
                while j < start[g + 1] and mark[member[j]] == c:
                    j += 1
                if j == start[g + 1] and number < len(found_node):
                    found_node[number], found_cut[number] = g, c
                    number += 1
    return number


@door
def cheapest_nodes(lattice: CoverLattice, walk: NodeWalk, k: int, whole: Longs, least: Longs) -> None:
    """Find cheapest nodes; see `bound.cheapest`. ``least``, at first the ``whole`` of each tuple, is what they cost."""
    last = len(walk.level) - 1
    go_under(lattice, walk, 0)
    a = next_node(lattice, walk, whole, least, k, 0)
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
        a = next_node(lattice, walk, whole, least, k, a)
