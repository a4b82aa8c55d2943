"""The compiled loops that measure a part in an attribute and put its tuples into the bins of a split."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints
from kveil.kernels.jit import inner
from kveil.kernels.sorting.sorting_loops import sort_pairs
from kveil.kernels.splitting.layout import SplitRoom, SplitTuples, Trees

DENSE, FEW_LEAVES = 4, 64  # spans of up to so many leaves per row, and as many more, are counted leaf by leaf
NUMBER_BINS = 4  # of a cut between numbers: those that span it, those up to it, those above it, missing


@inner
def lowest_ancestor(trees: Trees, a: int, low: int, high: int) -> int:
    """Return the lowest node of an attribute over two leaves, as a position in the laid-out arrays."""
    base = trees.node_offset[a]
    node = base + trees.leaf_node[trees.leaf_offset[a] + low]
    while trees.last[node] < high and node != base:  # no further than the root
        node = base + trees.parent[node]
    return node


@inner
def width_of(trees: Trees, a: int, low: int, high: int, high_number: int) -> float:
    """Return how wide a part is in an attribute; ``high_number`` is its largest leaf that is not missing."""
    if low == high:
        return 0.0
    if not trees.numeric[a]:
        return trees.cost[lowest_ancestor(trees, a, low, high)]
    if high == trees.missing[a]:
        return 1.0
    at = trees.leaf_offset[a]
    return (trees.number[at + high_number] - trees.number[at + low]) / trees.extent[a]


@inner
def cell_loss(trees: Trees, a: int, low: int, high: int) -> float:
    """Return the loss of a cell that shows the span low..high."""
    if low == high:
        return 0.0
    if trees.node_offset[a + 1] > trees.node_offset[a]:
        return trees.cost[lowest_ancestor(trees, a, low, high)]
    if high == trees.missing[a]:
        return 1.0
    at = trees.leaf_offset[a]
    return (trees.number[at + high] - trees.number[at + low]) / trees.extent[a]


@inner
def find_cut(
    rows: SplitTuples, trees: Trees, room: SplitRoom, a: int, order: Ints, begin: int, end: int, low: int, high: int
) -> int:
    """Return the leaf after which to cut: between distinct values, nearest to halves, the lower of equals.

    -1 where all numbers of the part are one.
    """
    size = end - begin
    missing = trees.missing[a]
    total = np.int64(0)
    span = high - low + 1
    if span <= DENSE * size + FEW_LEAVES:
        counts = room.counts
        for i in range(span):
            counts[i] = 0
        if room.alike[0]:
            for at in range(begin, end):
                leaf = rows.low[order[at], a]
                if leaf != missing:
                    counts[leaf - low] += 1
                    total += 1
        else:
            for at in range(begin, end):
                leaf = rows.low[order[at], a]
                if leaf != missing:
                    counts[leaf - low] += rows.weight[order[at]]
                    total += rows.weight[order[at]]
        best, best_gap, left, before = -1, np.int64(-1), np.int64(0), -1
        for i in range(span):
            if counts[i] == 0:
                continue
            if before >= 0:
                gap = abs(2 * left - total)
                if best_gap < 0 or gap < best_gap:
                    best, best_gap = before, gap
            left += counts[i]
            before = low + i
        return best
    leaves, weights = room.leaves[0], room.leaves[1]
    n = 0
    for at in range(begin, end):
        leaf = rows.low[order[at], a]
        if leaf != missing:
            leaves[n] = leaf
            weights[n] = rows.weight[order[at]]
            total += weights[n]
            n += 1
    sort_pairs(leaves, weights, n)
    best, best_gap, left = -1, np.int64(-1), np.int64(0)
    for i in range(n - 1):
        left += weights[i]
        if leaves[i] != leaves[i + 1]:
            gap = abs(2 * left - total)
            if best_gap < 0 or gap < best_gap:
                best, best_gap = leaves[i], gap
    return best


@inner
def assign_children_by_leaf(
    rows: SplitTuples,
    trees: Trees,
    room: SplitRoom,
    a: int,
    order: Ints,
    begin: int,
    end: int,
    low: int,
    high: int,
    node: int,
) -> None:
    """Give every tuple of a part the bin of the child of a node that it lies under, 0 where it lies under several.

    The child over each leaf is written down first, so that no tuple has to look for its own.
    """
    child_of, base, span = room.counts, trees.node_offset[a], high - low + 1
    for child in range(trees.child_start[node], trees.child_start[node + 1]):
        below = base + trees.child[child]
        for i in range(max(trees.first[below] - low, 0), min(trees.last[below] - low + 1, span)):
            child_of[i] = child - trees.child_start[node] + 1
    for at in range(begin, end):
        row = order[at]
        child = child_of[rows.low[row, a] - low]
        room.bin_of[at] = child * np.int64(child == child_of[rows.high[row, a] - low])


@inner
def assign_bins(
    rows: SplitTuples,
    trees: Trees,
    room: SplitRoom,
    a: int,
    order: Ints,
    begin: int,
    end: int,
    low: int,
    high: int,
) -> int:
    """Give every tuple of a part its bin under a split of an attribute; return how many bins, 0 for no split.

    Bin 0 is for tuples that span what the split would separate: they stay in the rest.
    """
    bin_of = room.bin_of
    if trees.numeric[a]:
        cut = find_cut(rows, trees, room, a, order, begin, end, low, high)
        missing = trees.missing[a]
        if cut < 0 and high != missing:
            return 0
        if high != missing:  # without a branch, since which way it goes cannot be foreseen
            for at in range(begin, end):
                row = order[at]
                bin_of[at] = np.int32(rows.high[row, a] <= cut) + np.int32(2) * np.int32(rows.low[row, a] > cut)
            return NUMBER_BINS
        for at in range(begin, end):
            row = order[at]
            if rows.low[row, a] == missing:
                bin_of[at] = 3
            elif rows.high[row, a] == missing:
                bin_of[at] = 0
            elif cut < 0 or rows.high[row, a] <= cut:
                bin_of[at] = 1
            elif rows.low[row, a] > cut:
                bin_of[at] = 2
            else:
                bin_of[at] = 0
        return NUMBER_BINS
    base = trees.node_offset[a]
    node = lowest_ancestor(trees, a, low, high)
    begin_child, end_child = trees.child_start[node], trees.child_start[node + 1]
    if high - low < DENSE * (end - begin) + FEW_LEAVES:
        assign_children_by_leaf(rows, trees, room, a, order, begin, end, low, high, node)
        return end_child - begin_child + 1
    for at in range(begin, end):
        row = order[at]
        leaf = rows.low[row, a]
        left, right = begin_child, end_child - 1
        while left < right:
            middle = (left + right + 1) // 2
            if trees.first[base + trees.child[middle]] <= leaf:
                left = middle
            else:
                right = middle - 1
        if rows.high[row, a] <= trees.last[base + trees.child[left]]:
            bin_of[at] = left - begin_child + 1
        else:
            bin_of[at] = 0
    return end_child - begin_child + 1


@inner
def sort_bins(order: Ints, begin: int, end: int, bins: int, room: SplitRoom) -> None:
    """Sort a part's tuples by bin; ``place[b]`` is where bin b starts."""
    bin_of, into, place, fill = room.bin_of, room.sorted_rows, room.place, room.fill
    for b in range(bins + 1):
        place[b] = 0
    for at in range(begin, end):
        place[bin_of[at] + 1] += 1
    place[0] = begin
    for b in range(bins):
        place[b + 1] += place[b]
    for b in range(bins):
        fill[b] = place[b]
    for at in range(begin, end):
        into[fill[bin_of[at]]] = order[at]
        fill[bin_of[at]] += 1


@inner
def sort_by_cut(rows: SplitTuples, room: SplitRoom, a: int, order: Ints, begin: int, end: int, cut: int) -> None:
    """Sort a part's tuples into bin 1, those up to a cut, and bin 2, those above it; none of them spans it."""
    into, moved, place = room.sorted_rows, room.moved, room.place
    left, right = begin, 0
    for at in range(begin, end):  # both are written, and one is kept: which way it goes cannot be foreseen
        row = order[at]
        above = np.int64(rows.low[row, a] > cut)
        into[left], moved[right] = row, row
        left += 1 - above
        right += above
    for i in range(right):
        into[left + i] = moved[i]
    place[0], place[1], place[2], place[3], place[4] = begin, begin, left, end, end


@inner
def fill_bins(
    rows: SplitTuples,
    trees: Trees,
    room: SplitRoom,
    a: int,
    order: Ints,
    begin: int,
    end: int,
    low: int,
    high: int,
    spans: bool,
) -> int:
    """Sort a part's tuples by their bins under a split of an attribute; return how many bins, 0 for no split."""
    if trees.numeric[a] and high != trees.missing[a] and not spans:
        cut = find_cut(rows, trees, room, a, order, begin, end, low, high)
        if cut < 0:
            return 0
        sort_by_cut(rows, room, a, order, begin, end, cut)
        return NUMBER_BINS
    bins = assign_bins(rows, trees, room, a, order, begin, end, low, high)
    if bins > 0:
        sort_bins(order, begin, end, bins, room)
    return bins
