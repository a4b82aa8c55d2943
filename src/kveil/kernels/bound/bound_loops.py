"""The compiled loops behind `bound`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.bound.layout import CoverLattice, LatticeWalk
from kveil.kernels.jit import door, inner


@inner
def extend(lattice: CoverLattice, walk: LatticeWalk, a: int, most: int) -> int:
    """Go one attribute deeper: keep the tuples that have a node there and cost less than ``most``; return how many."""
    number = 0
    row, below = walk.level[a], a + 1
    for i in range(walk.number[a]):
        t = walk.tuples[a, i]
        node = lattice.above[row, t]
        if node < 0:
            continue
        more = walk.cost[a, t] + lattice.cost[row, t]
        if more >= most:
            continue
        walk.cost[below, t] = more
        h = walk.words[a, t] ^ (np.uint64(node) + np.uint64(1))
        h *= np.uint64(0xFF51AFD7ED558CCD)
        walk.words[below, t] = h ^ (h >> np.uint64(32))
        walk.tuples[below, number] = t
        number += 1
    walk.number[below] = number
    return number


@inner
def same_node(lattice: CoverLattice, rows: Longs, one: int, other: int) -> bool:
    """Tell whether two tuples have the same node."""
    same = True
    for a in range(len(rows)):
        same &= lattice.above[rows[a], one] == lattice.above[rows[a], other]
    return same


@inner
def group(lattice: CoverLattice, walk: LatticeWalk, number: int, want: Longs) -> int:
    """Group the last tuples by their node; return how many groups.

    Only groups with a tuple whose ``want`` is above its cost; others have -1 for a group.
    """
    last = len(walk.level)
    words = walk.words[last]
    used = 16
    while used < 2 * number:
        used *= 2
    mask = np.uint64(used - 1)
    for i in range(used):
        walk.slots[i] = -1
    groups = 0
    for turn in range(2):
        for i in range(number):
            t = walk.tuples[last, i]
            hot = want[t] > walk.cost[last, t]
            if (turn == 0) != hot:
                continue
            slot = words[t] & mask
            walk.of[t] = -1
            while True:
                g = walk.slots[slot]
                if g < 0:
                    if hot:
                        walk.slots[slot] = groups
                        walk.first[groups] = t
                        walk.of[t] = groups
                        groups += 1
                    break
                if words[walk.first[g]] == words[t] and same_node(lattice, walk.level, walk.first[g], t):
                    walk.of[t] = g
                    break
                slot = (slot + np.uint64(1)) & mask
    return groups


@inner
def is_closed(lattice: CoverLattice, rows: Longs, members: Ints, begin: int, end: int) -> bool:
    """Tell whether a node is the lowest over its tuples: in no attribute do all of them lie under one below it.

    A tree's node has its children one level on, a window the others of its class and of the next within ``ahead``.
    """
    for a in range(len(rows)):
        for level in range(rows[a] + 1, min(rows[a] + 1 + lattice.ahead, lattice.at[a + 1])):
            below = lattice.above[level, members[begin]]
            i = begin if below >= 0 else end + 1
            while i < end and lattice.above[level, members[i]] == below:
                i += 1
            if i == end:
                return False
    return True


@inner
def best_set(members: Ints, begin: int, end: int, cost: int, weight: Longs, price: Longs, more: int, k: int,
             used: Longs, note: bool) -> int:  # fmt: skip
    """Return what the best set of k rows or more pays above a node's cost, or 0; ``note`` adds the set to ``used``.

    All rows that pay more than the cost, and where these are fewer than k, the next best.
    """
    total = np.int64(0)
    number = np.int64(0)
    for i in range(begin, end):
        t = members[i]
        if price[t] + more > cost:
            total += weight[t] * (price[t] + more - cost)
            number += weight[t]
    bar, ties = cost, np.int64(0)  # the lowest price that is in the set, and how many rows at it are
    last = cost + 1
    while number < k:  # the next lower price
        bar = np.int64(-1)
        rows = np.int64(0)
        for i in range(begin, end):
            p = price[members[i]] + more
            if p < last and p > bar:
                bar, rows = p, weight[members[i]]
            elif p == bar:
                rows += weight[members[i]]
        if bar < 0:
            return 0
        ties = min(rows, k - number)
        total -= ties * (cost - bar)
        number += ties
        last = bar
        if total <= 0:
            return 0
    if total <= 0:
        return 0
    if note:
        for i in range(begin, end):
            t = members[i]
            p = price[t] + more
            if p > cost or (p > bar and bar < cost):
                used[t] += weight[t]
            elif p == bar and ties > 0:
                taken = min(ties, weight[t])
                used[t] += taken
                ties -= taken
    return total


@inner
def sort_members(tuples: Ints, number: int, of: Ints, groups: int, start: Longs, members: Ints) -> None:
    """Lay the tuples of every group together."""
    for g in range(groups + 1):
        start[g] = 0
    for i in range(number):
        if of[tuples[i]] >= 0:
            start[of[tuples[i]] + 1] += 1
    for g in range(groups):
        start[g + 1] += start[g]
    for i in range(number - 1, -1, -1):
        t = tuples[i]
        if of[t] >= 0:
            start[of[t] + 1] -= 1
            members[start[of[t] + 1]] = t
    # Filling from the end has moved every end to the group's begin: shift back.
    total = 0
    for i in range(number):
        if of[tuples[i]] >= 0:
            total += 1
    for g in range(groups):
        start[g] = start[g + 1]
    start[groups] = total


@inner
def next_levels(lattice: CoverLattice, walk: LatticeWalk, most: int, begin: bool) -> int:
    """Go on to the next vector of levels, the last attribute first; return how many tuples it has, 0 at the end.

    Levels at which no tuple is left below the cost ``most`` are passed over with all that would follow.
    """
    level = walk.level
    last = len(level) - 1
    a = np.int64(0 if begin else last)
    if begin:
        level[0] = lattice.at[1] - 1
    else:
        level[a] -= 1
    while a >= 0:
        if level[a] < lattice.at[a]:  # all levels of this attribute are done
            a -= 1
            if a >= 0:
                level[a] -= 1
            continue
        left = extend(lattice, walk, a, most)
        if left == 0:
            level[a] -= 1
        elif a == last:
            return left
        else:
            a += 1
            level[a] = lattice.at[a + 1] - 1
    return 0


@door
def sum_all(
    lattice: CoverLattice, walk: LatticeWalk, price: Longs, more: int, k: int, used: Longs, kept_start: Longs,
    kept_member: Ints, kept_cost: Longs, want: Longs,
) -> tuple[int, int]:  # fmt: skip
    """Sum over all closed nodes; see `bound.excess` and `bound.collect`. ``want`` is the price and ``more``."""
    last, number = len(walk.level), lattice.above.shape[1]
    members, start = walk.members, walk.start
    most = np.int64(0)
    for t in range(number):
        used[t] = 0
        most = max(most, want[t])
    total = np.int64(0)
    kept = 0
    left = next_levels(lattice, walk, most, True)
    while left > 0:
        groups = group(lattice, walk, left, want)
        if groups > 0:
            sort_members(walk.tuples[last], left, walk.of, groups, start, members)
            for g in range(groups):
                begin, end = start[g], start[g + 1]
                price_of = walk.cost[last, members[begin]]
                if best_set(members, begin, end, price_of, lattice.weight, price, more, k, used, False) == 0:
                    continue
                if not is_closed(lattice, walk.level, members, begin, end):
                    continue
                total += best_set(members, begin, end, price_of, lattice.weight, price, 0, k, used, True)
                fits = kept < len(kept_cost) and kept_start[kept] + end - begin <= len(kept_member)
                if len(kept_cost) > 0 and fits:
                    for i in range(begin, end):
                        kept_member[kept_start[kept] + i - begin] = members[i]
                    kept_cost[kept] = price_of
                    kept += 1
                    kept_start[kept] = kept_start[kept - 1] + end - begin
        left = next_levels(lattice, walk, most, False)
    return total, kept


@door
def sum_kept(
    nodes: int, start: Longs, member: Ints, cost: Longs, weight: Longs, price: Longs, k: int, used: Longs
) -> int:
    """Sum over kept nodes; see `bound.kept_excess`."""
    total = np.int64(0)
    for t in range(len(used)):
        used[t] = 0
    for i in range(nodes):
        total += best_set(member, start[i], start[i + 1], cost[i], weight, price, 0, k, used, True)
    return total


@door
def cheapest_nodes(lattice: CoverLattice, walk: LatticeWalk, k: int, whole: int, least: Longs, weight: Longs) -> None:
    """Find cheapest nodes; see `bound.cheapest`."""
    last = len(walk.level)
    left = next_levels(lattice, walk, whole, True)
    while left > 0:
        groups = group(lattice, walk, left, least)
        if groups > 0:
            for g in range(groups):
                weight[g] = 0
            for i in range(left):
                t = walk.tuples[last, i]
                if walk.of[t] >= 0:
                    weight[walk.of[t]] += lattice.weight[t]
            for i in range(left):
                t = walk.tuples[last, i]
                if walk.of[t] >= 0 and weight[walk.of[t]] >= k:
                    least[t] = min(least[t], walk.cost[last, t])
        left = next_levels(lattice, walk, whole, False)
