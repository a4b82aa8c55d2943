"""The compiled loops behind `bound`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np
from numba import njit

from kveil.arrays import Ints, Longs, Words
from kveil.kernels.bound.bound import Lattice

inner = njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


@inner
def extend(lattice: Lattice, a: int, row: int, most: int, tuples: Ints, count: Longs, cost: Longs, words: Words) -> int:
    """Go one attribute deeper: keep the tuples that have a node there and cost less than ``most``; return how many."""
    number = 0
    below = a + 1
    for i in range(count[a]):
        t = tuples[a, i]
        node = lattice.above[row, t]
        if node < 0:
            continue
        more = cost[a, t] + lattice.cost[row, t]
        if more >= most:
            continue
        cost[below, t] = more
        h = words[a, t] ^ (np.uint64(node) + np.uint64(1))
        h *= np.uint64(0xFF51AFD7ED558CCD)
        words[below, t] = h ^ (h >> np.uint64(32))
        tuples[below, number] = t
        number += 1
    count[below] = number
    return number


@inner
def same_node(lattice: Lattice, rows: Longs, one: int, other: int) -> bool:
    """Tell whether two tuples have the same node."""
    same = True
    for a in range(len(rows)):
        same &= lattice.above[rows[a], one] == lattice.above[rows[a], other]
    return same


@inner
def group(lattice: Lattice, rows: Longs, tuples: Ints, number: int, words: Words, slots: Ints, first: Ints,
          of: Ints, want: Longs, least: Longs) -> int:  # fmt: skip
    """Group tuples by their node; return how many groups. Only groups with a tuple whose ``want`` is above the cost.

    ``of`` is every tuple's group, -1 for those of other groups.
    """
    used = 16
    while used < 2 * number:
        used *= 2
    mask = np.uint64(used - 1)
    slots[:used] = -1
    groups = 0
    for turn in range(2):
        for i in range(number):
            t = tuples[i]
            hot = want[t] > least[t]
            if (turn == 0) != hot:
                continue
            slot = words[t] & mask
            of[t] = -1
            while True:
                g = slots[slot]
                if g < 0:
                    if hot:
                        slots[slot] = groups
                        first[groups] = t
                        of[t] = groups
                        groups += 1
                    break
                if words[first[g]] == words[t] and same_node(lattice, rows, first[g], t):
                    of[t] = g
                    break
                slot = (slot + np.uint64(1)) & mask
    return groups


@inner
def is_closed(lattice: Lattice, rows: Longs, members: Ints, begin: int, end: int) -> bool:
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


@njit(cache=True, nogil=True)
def next_levels(
    lattice: Lattice, rows: Longs, most: int, tuples: Ints, count: Longs, cost: Longs, words: Words, begin: bool
) -> int:
    """Go on to the next vector of levels, the last attribute first; return how many tuples it has, 0 at the end.

    Levels at which no tuple is left below the cost ``most`` are passed over with all that would follow.
    """
    last = len(rows) - 1
    a = np.int64(0 if begin else last)
    if begin:
        rows[0] = lattice.at[1] - 1
    else:
        rows[a] -= 1
    while a >= 0:
        if rows[a] < lattice.at[a]:  # all levels of this attribute are done
            a -= 1
            if a >= 0:
                rows[a] -= 1
            continue
        left = extend(lattice, a, rows[a], most, tuples, count, cost, words)
        if left == 0:
            rows[a] -= 1
        elif a == last:
            return left
        else:
            a += 1
            rows[a] = lattice.at[a + 1] - 1
    return 0


@njit(cache=True, nogil=True)
def walk(
    lattice: Lattice, price: Longs, more: int, k: int, used: Longs, kept_start: Longs, kept_member: Ints,
    kept_cost: Longs,
) -> tuple[int, int]:  # fmt: skip
    """Sum over all closed nodes; see `bound.excess` and `bound.collect`."""
    width, number = len(lattice.at) - 1, lattice.above.shape[1]
    tuples = np.zeros((width + 1, number), dtype=np.int32)
    count = np.zeros(width + 1, dtype=np.int64)
    cost = np.zeros((width + 1, number), dtype=np.int64)
    words = np.full((width + 1, number), np.uint64(0x9E3779B97F4A7C15))
    rows = np.zeros(width, dtype=np.int64)
    size = 16
    while size < 2 * number:
        size *= 2
    slots, first = np.zeros(size, dtype=np.int32), np.zeros(number, dtype=np.int32)
    of, members = np.zeros(number, dtype=np.int32), np.zeros(number, dtype=np.int32)
    start = np.zeros(number + 1, dtype=np.int64)
    want = price + more
    most = np.int64(0)
    for t in range(number):
        tuples[0, t] = t
        used[t] = 0
        most = max(most, want[t])
    count[0] = number
    total = np.int64(0)
    kept = 0
    left = next_levels(lattice, rows, most, tuples, count, cost, words, True)
    while left > 0:
        groups = group(lattice, rows, tuples[width], left, words[width], slots, first, of, want, cost[width])
        if groups > 0:
            sort_members(tuples[width], left, of, groups, start, members)
            for g in range(groups):
                begin, end = start[g], start[g + 1]
                price_of = cost[width, members[begin]]
                if best_set(members, begin, end, price_of, lattice.weight, price, more, k, used, False) == 0:
                    continue
                if not is_closed(lattice, rows, members, begin, end):
                    continue
                total += best_set(members, begin, end, price_of, lattice.weight, price, 0, k, used, True)
                fits = kept < len(kept_cost) and kept_start[kept] + end - begin <= len(kept_member)
                if len(kept_cost) > 0 and fits:
                    for i in range(begin, end):
                        kept_member[kept_start[kept] + i - begin] = members[i]
                    kept_cost[kept] = price_of
                    kept += 1
                    kept_start[kept] = kept_start[kept - 1] + end - begin
        left = next_levels(lattice, rows, most, tuples, count, cost, words, False)
    return total, kept


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def cheapest_nodes(lattice: Lattice, k: int, whole: int) -> Longs:
    """Find cheapest nodes; see `bound.cheapest`."""
    width, number = len(lattice.at) - 1, lattice.above.shape[1]
    tuples = np.zeros((width + 1, number), dtype=np.int32)
    count = np.zeros(width + 1, dtype=np.int64)
    cost = np.zeros((width + 1, number), dtype=np.int64)
    words = np.full((width + 1, number), np.uint64(0x9E3779B97F4A7C15))
    rows = np.zeros(width, dtype=np.int64)
    size = 16
    while size < 2 * number:
        size *= 2
    slots, first = np.zeros(size, dtype=np.int32), np.zeros(number, dtype=np.int32)
    of, weight = np.zeros(number, dtype=np.int32), np.zeros(number, dtype=np.int64)
    least = np.full(number, np.int64(whole))
    for t in range(number):
        tuples[0, t] = t
    count[0] = number
    left = next_levels(lattice, rows, whole, tuples, count, cost, words, True)
    while left > 0:
        groups = group(lattice, rows, tuples[width], left, words[width], slots, first, of, least, cost[width])
        if groups > 0:
            weight[:groups] = 0
            for i in range(left):
                t = tuples[width, i]
                if of[t] >= 0:
                    weight[of[t]] += lattice.weight[t]
            for i in range(left):
                t = tuples[width, i]
                if of[t] >= 0 and weight[of[t]] >= k:
                    least[t] = min(least[t], cost[width, t])
        left = next_levels(lattice, rows, whole, tuples, count, cost, words, False)
    return least
