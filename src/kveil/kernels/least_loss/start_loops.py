"""The compiled loops behind `neighbours.top_down`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.jit import door, inner
from kveil.kernels.least_loss.groups_layout import ChildTable, Codes, TopDownRoom
from kveil.kernels.least_loss.join_loops import cost_of, join


@inner
def bins_of(children: ChildTable, base: Ints, order: Ints, begin: int, end: int, a: int, node: int, into: Ints) -> None:
    """Give every row of a part the child of a node it lies under, -1 where it shows the node itself."""
    at = children.at[a]
    for i in range(begin, end):
        v = base[order[i], a]
        above = -1
        while v != node and v != 0:  # no further than the root
            above = v
            v = children.parent[at + v]
        into[i] = -1 if above < 0 else children.rank[at + above]


@inner
def plan(counts: Longs, kept: Longs, bins: int, rest: int, k: int) -> int:
    """Choose which children become parts of their own, and how many rows each keeps; return the size of the rest.

    A child of k rows or more is a part. A rest below k takes what it lacks from the largest children's surplus, else
    the smallest part is closed and goes to the rest.
    """
    for b in range(bins):
        kept[b] = counts[b] if counts[b] >= k else 0
        rest += counts[b] - kept[b]
    while 0 < rest < k:
        surplus = 0
        for b in range(bins):
            if kept[b] > 0:
                surplus += kept[b] - k
        if surplus >= k - rest:
            for _ in range(bins):  # each turn fills the rest, or uses up what a child can spare
                if rest == k:
                    break
                largest = 0
                for b in range(bins):
                    if kept[b] > kept[largest]:
                        largest = b
                give = min(k - rest, kept[largest] - k)
                kept[largest] -= give
                rest += give
        else:
            smallest = -1
            for b in range(bins):
                if kept[b] > 0 and (smallest < 0 or kept[b] < kept[smallest]):
                    smallest = b
            if smallest < 0:
                break
            rest += kept[smallest]
            kept[smallest] = 0
    return rest


@inner
def gain_of(codes: Codes, children: ChildTable, a: int, node: int, kept: Longs, bins: int) -> int:
    """Return how much the cost falls when the kept rows of every child show the child."""
    at = children.at[a]
    first = children.start[at + node]
    cost = cost_of(codes, a, node)
    gain = np.int64(0)
    for b in range(bins):
        if kept[b] > 0:
            gain += kept[b] * (cost - cost_of(codes, a, children.child[first + b]))
    return gain


@inner
def count_bins(into: Ints, begin: int, end: int, counts: Longs, bins: int) -> int:
    """Count a part's rows by child; return how many lie under none."""
    rest = 0
    for b in range(bins):
        counts[b] = 0
    for i in range(begin, end):
        if into[i] < 0:
            rest += 1
        else:
            counts[into[i]] += 1
    return rest


@door
def split_down(
    base: Ints, starts: Longs, codes: Codes, children: ChildTable, k: int, room: TopDownRoom, part: Ints
) -> None:
    """Split parts; see `neighbours.top_down`."""
    width = base.shape[1]
    order, stack = room.order, room.stack
    counts, kept, best_kept, place = room.children[0], room.children[1], room.children[2], room.children[3]
    into, best_into, moved = room.rows[0], room.rows[1], room.rows[2]
    parts, height = 0, 0
    for z in range(len(starts) - 2, -1, -1):
        stack[height, 0], stack[height, 1] = starts[z], starts[z + 1]
        height += 1
    while height > 0 and not room.halt[0]:
        height -= 1
        begin, end = stack[height, 0], stack[height, 1]
        best, best_gain, best_bins = -1, np.int64(0), 0
        if end - begin >= 2 * k:
            for a in range(width):
                node = base[order[begin], a]
                for i in range(begin, end):
                    node = join(codes, a, node, base[order[i], a])
                bins = children.start[children.at[a] + node + 1] - children.start[children.at[a] + node]
                if bins == 0:
                    continue
                bins_of(children, base, order, begin, end, a, node, into)
                rest = count_bins(into, begin, end, counts, bins)
                plan(counts, kept, bins, rest, k)
                gain = gain_of(codes, children, a, node, kept, bins)
                if gain > best_gain:
                    best, best_gain, best_bins = a, gain, bins
                    for b in range(bins):
                        best_kept[b] = kept[b]
                    for i in range(begin, end):
                        best_into[i] = into[i]
        if best < 0:
            for i in range(begin, end):
                part[order[i]] = parts
            parts += 1
            continue
        at = begin  # rows of every child first, in their order, then the rest
        for b in range(best_bins):
            place[b] = at
            at += best_kept[b]
        rest_at = at
        for b in range(best_bins):
            counts[b] = 0
        for i in range(begin, end):
            b = best_into[i]
            if b >= 0 and counts[b] < best_kept[b]:
                moved[place[b] + counts[b]] = order[i]
                counts[b] += 1
            else:
                moved[at] = order[i]
                at += 1
        for i in range(begin, end):
            order[i] = moved[i]
        if rest_at < end:
            stack[height, 0], stack[height, 1] = rest_at, end
            height += 1
        for b in range(best_bins - 1, -1, -1):
            if best_kept[b] > 0:
                stack[height, 0], stack[height, 1] = place[b], place[b] + best_kept[b]
                height += 1
