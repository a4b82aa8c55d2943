"""The compiled loops over nodes that are kept; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.bound.layout import IN_A_ROW
from kveil.kernels.jit import door, inner


@inner
def fill_up(members: Ints, begin: int, end: int, cost: int, need: int, weight: Longs, price: Longs,
            room: Longs) -> int:  # fmt: skip
    """List the tuples with the highest prices up to a cost that have as many rows as are needed; return how many.

    Their prices and rows go to ``room``, the highest first. Tuples mostly come in nearly that order, so that few move.
    """
    filled, rows = 0, np.int64(0)
    for i in range(begin, end):
        t = members[i]
        p = price[t]
        if p > cost or (rows >= need and p <= room[0, filled - 1]):
            continue
        at = filled
        for last in range(filled, 0, -1):
            if room[0, last - 1] >= p:
                break
            room[0, last], room[1, last] = room[0, last - 1], room[1, last - 1]
            at = last - 1
        room[0, at], room[1, at] = p, weight[t]
        filled += 1
        rows += weight[t]
        for _ in range(filled):
            if rows - room[1, filled - 1] < need:
                break
            filled -= 1
            rows -= room[1, filled]
    return filled if rows >= need else 0


@inner
def best_set(members: Ints, begin: int, end: int, cost: int, toll: int, weight: Longs, price: Longs, k: int,
             used: Longs, room: Longs) -> int:  # fmt: skip
    """Return what the best set of k rows or more pays above a node's cost and toll, if that is more than nothing.

    All rows that pay more than the cost, and where these are fewer than k, the next best. The set is added to ``used``.
    Else return 0 or less: no set pays more than that. ``room`` has place for more than k tuples.
    """
    total, number = np.int64(0), np.int64(0)
    bar = np.int64(-1)  # the highest price that is not above the cost
    for i in range(begin, end):
        t = members[i]
        p = price[t]
        if p > cost:
            total += weight[t] * (p - cost)
            number += weight[t]
        else:
            bar = max(bar, p)
    ties = np.int64(0)  # how many rows at the lowest price that is in the set are in it
    if number >= k:
        bar = cost
    elif bar < 0:
        return 0
    else:
        need = k - number
        if total - need * (cost - bar) <= toll:
            return total - need * (cost - bar) - toll
        filled = fill_up(members, begin, end, cost, need, weight, price, room)
        if filled == 0:
            return 0
        bar = room[0, filled - 1]
        for at in range(filled):
            taken = min(room[1, at], need)
            total -= taken * (cost - room[0, at])
            need -= taken
            ties = ties + taken if room[0, at] == bar else np.int64(0)
    total -= toll
    if total > 0:
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
    inside_start: Longs, inside: Ints, toll: Longs, opened: Longs, due: Longs, often: Longs, risen: int, room: Longs,
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
        own = best_set(member, start[i], start[i + 1], cost[i], tolls, weight, price, k, used, room)
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
