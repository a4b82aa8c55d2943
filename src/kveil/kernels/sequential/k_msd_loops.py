"""The compiled loops behind `k_msd`; importing this module imports Numba."""

from __future__ import annotations

from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.jit import door, inner
from kveil.kernels.sorting.sorting_loops import sort_pairs

FAR = 1 << 30


@inner
def find_ancestor(
    parent: Ints,
    depth: Ints,
    end: Ints,
    limit: Bools,
    node: Ints,
    before: Ints,
    after: Ints,
    entry: Ints,
    i: int,
) -> tuple[int, int]:
    """Return the ancestor that a value shares at the smallest distance with others of its group, and that distance.

    The distance is the largest number of steps that the value or its nearest partner climbs; of several ancestors
    the nearest. -1 where no ancestor inside the limit has a partner.
    """
    value = node[i]
    left, right = before[i], after[i]
    shallowest = FAR
    best, least = -1, FAR
    at = value
    while depth[value] - depth[at] < least:
        own = depth[value] - depth[at]
        if entry[at] >= 0 and entry[at] != i:
            shallowest = depth[at]
        else:
            while left >= 0 and node[left] >= at:
                shallowest = min(shallowest, depth[node[left]])
                left = before[left]
            while right >= 0 and node[right] <= end[at]:
                shallowest = min(shallowest, depth[node[right]])
                right = after[right]
        if shallowest < FAR and max(own, shallowest - depth[at]) < least:
            best, least = at, max(own, shallowest - depth[at])
        if limit[at] or parent[at] == at:  # no further than the root
            break
        at = parent[at]
    return best, least


@inner
def unlink(i: int, before: Ints, after: Ints) -> None:
    """Take a value out of its group's list; it keeps its way to the right."""
    if before[i] >= 0:
        after[before[i]] = after[i]
    if after[i] >= 0:
        before[after[i]] = before[i]


@inner
def partners(
    depth: Ints, end: Ints, node: Ints, count: Longs, before: Ints, after: Ints, i: int, to: int, most: int,
    pairs: Longs,
) -> int:  # fmt: skip
    """List the values that can climb to an ancestor in so many steps, rarest first, as count and node; return how many.

    Of equal counts the first node comes first.
    """
    used = 0
    at = before[i]
    while at >= 0 and node[at] >= to:
        if node[at] != to and depth[node[at]] - depth[to] <= most:
            pairs[0, used], pairs[1, used] = count[at], node[at]
            used += 1
        at = before[at]
    at = after[i]
    while at >= 0 and node[at] <= end[to]:
        if depth[node[at]] - depth[to] <= most:
            pairs[0, used], pairs[1, used] = count[at], node[at]
            used += 1
        at = after[at]
    sort_pairs(pairs[0], pairs[1], used)
    return used


@door
def repair_groups(
    parent: Ints, depth: Ints, end: Ints, limit: Bools, starts: Longs, node: Ints, count: Longs, k: int, before: Ints,
    after: Ints, into: Longs, entry: Ints, pairs: Longs,
) -> bool:  # fmt: skip
    """Generalize values until each occurs k times in its group; ``node`` becomes what is shown. See `k_msd.repair`."""
    values = len(node)
    for g in range(len(starts) - 1):
        begin, stop = starts[g], starts[g + 1]
        for i in range(begin, stop):
            before[i] = i - 1 if i > begin else -1
            after[i] = i + 1 if i + 1 < stop else -1
            entry[node[i]] = i
        i = begin if begin < stop else -1
        while i >= 0:
            if count[i] >= k:
                i = after[i]
                continue
            to, most = find_ancestor(parent, depth, end, limit, node, before, after, entry, i)
            if to < 0:
                return False
            following = after[i]
            target = entry[to]
            if target < 0 or target == i:
                target = i
                if count[i] < k:
                    for n in range(partners(depth, end, node, count, before, after, i, to, most, pairs)):
                        absorb(entry[pairs[1, n]], i, node, count, before, after, entry, into)
                        if count[i] >= k:
                            break
                entry[node[i]] = -1
                left = before[i]
                while left >= 0 and node[left] >= to:
                    left = before[left]
                move_after(i, left, before, after)
                node[i] = to
                entry[to] = i
            else:
                if count[i] + count[target] < k:
                    for n in range(partners(depth, end, node, count, before, after, i, to, most, pairs)):
                        absorb(entry[pairs[1, n]], target, node, count, before, after, entry, into)
                        if count[i] + count[target] >= k:
                            break
                absorb(i, target, node, count, before, after, entry, into)
            if count[target] < k:
                i = target
            else:
                while following >= 0 and into[following] != following:
                    following = after[following]
                i = following
        for i in range(begin, stop):
            if into[i] == i:
                entry[node[i]] = -1
    for i in range(values):
        root = i
        while into[root] != root:
            root = into[root]
        at = i
        while into[at] != root:
            into[at], at = root, into[at]
        node[i] = node[root]
    return True


@inner
def absorb(i: int, target: int, node: Ints, count: Longs, before: Ints, after: Ints, entry: Ints, into: Longs) -> None:
    """Let a value become another one of its group."""
    count[target] += count[i]
    into[i] = target
    entry[node[i]] = -1
    unlink(i, before, after)


@inner
def move_after(i: int, left: int, before: Ints, after: Ints) -> None:
    """Move a value to the place after another one, or to the front of its group where that is -1."""
    if before[i] == left:
        return
    unlink(i, before, after)
    if left >= 0:
        right = after[left]
        after[left] = i
    else:
        right = before[i]
        while before[right] >= 0:
            right = before[right]
    before[i] = left
    after[i] = right
    before[right] = i
