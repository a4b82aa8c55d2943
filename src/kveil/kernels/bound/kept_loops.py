"""The compiled loops over nodes that are kept; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.bound.layout import IN_A_ROW
from kveil.kernels.jit import door, inner


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


@door
def sum_kept(
    turn: int, several: int, start: Longs, member: Ints, cost: Longs, weight: Longs, price: Longs, k: int, used: Longs,
    inside_start: Longs, inside: Ints, toll: Longs, opened: Longs, due: Longs, often: Longs, risen: int,
) -> int:  # fmt: skip
    """Sum over kept nodes, those whose turn it is of several threads'; see `bound.kept_excess`."""
    total = np.int64(0)
    for t in range(len(used)):
        used[t] = 0
    for c in range(len(opened)):
        opened[c] = 0
    for i in range(len(due)):
        if risen <= due[i] or i // IN_A_ROW % several != turn:
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
