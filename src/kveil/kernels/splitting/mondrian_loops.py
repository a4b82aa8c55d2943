"""The compiled loops behind `mondrian`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np
from numba import njit

from kveil.arrays import Bools, Floats, Ints, Longs
from kveil.kernels.models.models_loops import add_rows, clear, holds
from kveil.kernels.splitting.mondrian import Needs, Rows, Trees, Values

NEAR = 1 << 15  # tuples of a part whose cells are copied side by side, so that they stay in the cache


@njit(cache=True, nogil=True)
def lowest_ancestor(trees: Trees, a: int, low: int, high: int) -> int:
    """Return the lowest node of an attribute over two leaves, as a position in the laid-out arrays."""
    base = trees.node_offset[a]
    node = base + trees.leaf_node[trees.leaf_offset[a] + low]
    while trees.last[node] < high:
        node = base + trees.parent[node]
    return node


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def cost_of(trees: Trees, a: int, low: int, high: int) -> float:
    """Return the loss of a cell that shows the span low..high."""
    if low == high:
        return 0.0
    if trees.node_offset[a + 1] > trees.node_offset[a]:
        return trees.cost[lowest_ancestor(trees, a, low, high)]
    if high == trees.missing[a]:
        return 1.0
    at = trees.leaf_offset[a]
    return (trees.number[at + high] - trees.number[at + low]) / trees.extent[a]


@njit(cache=True, nogil=True)
def find_cut(rows: Rows, trees: Trees, a: int, order: Ints, begin: int, end: int, low: int, high: int) -> int:
    """Return the leaf after which to cut: between distinct values, nearest to halves, the lower of equals.

    -1 where all numbers of the part are one.
    """
    size = end - begin
    missing = trees.missing[a]
    total = np.int64(0)
    span = high - low + 1
    if span <= 4 * size + 64:
        counts = np.zeros(span, dtype=np.int64)
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
    keys = np.empty(size, dtype=np.int64)  # leaf and place in one word: sorting words compiles in a tenth of argsort
    weights = np.empty(size, dtype=np.int64)
    n = 0
    for at in range(begin, end):
        leaf = rows.low[order[at], a]
        if leaf != missing:
            keys[n] = (np.int64(leaf) << 32) | n
            weights[n] = rows.weight[order[at]]
            total += weights[n]
            n += 1
    keys = np.sort(keys[:n])
    best, best_gap, left = -1, np.int64(-1), np.int64(0)
    for i in range(n - 1):
        left += weights[keys[i] & 0xFFFFFFFF]
        leaf = keys[i] >> 32
        if leaf != keys[i + 1] >> 32:
            gap = abs(2 * left - total)
            if best_gap < 0 or gap < best_gap:
                best, best_gap = leaf, gap
    return best


@njit(cache=True, nogil=True)
def assign_bins(
    rows: Rows,
    trees: Trees,
    a: int,
    order: Ints,
    begin: int,
    end: int,
    low: int,
    high: int,
    bin_of: Ints,
) -> int:
    """Give every tuple of a part its bin under a split of an attribute; return how many bins, 0 for no split.

    Bin 0 is for tuples that span what the split would separate: they stay in the rest.
    """
    if trees.numeric[a]:
        cut = find_cut(rows, trees, a, order, begin, end, low, high)
        missing = trees.missing[a]
        if cut < 0 and high != missing:
            return 0
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
        return 4
    base = trees.node_offset[a]
    node = lowest_ancestor(trees, a, low, high)
    begin_child, end_child = trees.child_start[node], trees.child_start[node + 1]
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


@njit(cache=True, nogil=True)
def sort_bins(order: Ints, begin: int, end: int, bin_of: Ints, bins: int, into: Ints, place: Longs) -> None:
    """Sort a part's tuples by bin into ``into``; ``place[b]`` is where bin b starts."""
    for b in range(bins + 1):
        place[b] = 0
    for at in range(begin, end):
        place[bin_of[at] + 1] += 1
    place[0] = begin
    for b in range(bins):
        place[b + 1] += place[b]
    fill = place[:bins].copy()
    for at in range(begin, end):
        into[fill[bin_of[at]]] = order[at]
        fill[bin_of[at]] += 1


@njit(cache=True, nogil=True)
def bring_near(rows: Rows, near: Rows, order: Ints, begin: int, end: int, spans: bool) -> None:
    """Copy the tuples of a part to where the part stands in the order, which becomes that order itself."""
    for at in range(begin, end):
        row = order[at]
        for a in range(rows.low.shape[1]):
            near.low[at, a] = rows.low[row, a]
        if spans:
            for a in range(rows.low.shape[1]):
                near.high[at, a] = rows.high[row, a]
        near.weight[at] = rows.weight[row]
        near.tuple[at] = rows.tuple[row]
        order[at] = at


@njit(cache=True, nogil=True)
def measure_part(rows: Rows, trees: Trees, order: Ints, begin: int, end: int, low: Ints, high: Ints, top: Ints) -> None:
    """Find the span of a part in every attribute; ``top`` is its largest leaf that is not missing."""
    for a in range(len(low)):
        low[a], high[a], top[a] = np.int32(2147483647), np.int32(-1), np.int32(-1)
    for at in range(begin, end):
        row = order[at]
        for a in range(len(low)):
            low[a] = min(low[a], rows.low[row, a])
            leaf = rows.high[row, a]
            high[a] = max(high[a], leaf)
            if leaf != trees.missing[a]:
                top[a] = max(top[a], leaf)


@njit(cache=True, nogil=True)
def spans_of(rows: Rows, order: Ints, ends: Longs, low: Ints, high: Ints) -> None:
    """Write the span of every part in every attribute, attribute × part."""
    for part in range(len(ends) - 1):
        for a in range(low.shape[0]):
            low[a, part], high[a, part] = np.int32(2147483647), np.int32(-1)
        for at in range(ends[part], ends[part + 1]):
            row = order[at]
            for a in range(low.shape[0]):
                low[a, part] = min(low[a, part], rows.low[row, a])
                high[a, part] = max(high[a, part], rows.high[row, a])


@njit(cache=True, nogil=True)
def split_parts(
    far: Rows,
    near: Rows,
    spans: bool,
    trees: Trees,
    needs: Needs,
    values: Values,
    order: Ints,
    starts: Longs,
    by_gain: bool,
) -> tuple[Ints, Longs]:
    """Split parts top-down until no split is allowed; see `mondrian.split`."""
    attributes = far.low.shape[1]
    tuples = len(order)
    near_begin = near_end = np.int64(0)
    order = order.copy()
    sensitives = values.start.shape[0]
    codes = values.whole.shape[1]
    tally = np.zeros((sensitives, codes), dtype=np.int64)
    touched = np.empty((sensitives, codes), dtype=np.int32)
    used = np.zeros(sensitives, dtype=np.int32)
    below = np.zeros(values.edge.shape[1])
    nodes = np.empty(values.edge.shape[1], dtype=np.int32)
    widest_fan = 4
    for node in range(len(trees.child_start) - 1):
        widest_fan = max(widest_fan, trees.child_start[node + 1] - trees.child_start[node] + 1)
    place = np.empty(widest_fan + 2, dtype=np.int64)
    weight = np.empty(widest_fan + 2, dtype=np.int64)
    good = np.empty(widest_fan + 2, dtype=np.bool_)
    bin_of = np.empty(tuples, dtype=np.int32)
    sorted_rows = np.empty(tuples, dtype=np.int32)
    best_rows = np.empty(tuples, dtype=np.int32)
    best_ends = np.empty(widest_fan + 2, dtype=np.int64)
    ends = np.empty(widest_fan + 2, dtype=np.int64)
    low = np.empty(attributes, dtype=np.int32)
    high = np.empty(attributes, dtype=np.int32)
    high_number = np.empty(attributes, dtype=np.int32)
    width = np.empty(attributes)
    least = np.int64(0)
    for m in range(len(needs.kind)):
        least = max(least, needs.k[m])

    stack_begin = np.empty(tuples + len(starts), dtype=np.int64)
    stack_end = np.empty(tuples + len(starts), dtype=np.int64)
    height = 0
    for part in range(len(starts) - 2, -1, -1):
        stack_begin[height], stack_end[height] = starts[part], starts[part + 1]
        height += 1
    final = np.empty(tuples + 1, dtype=np.int64)
    finals = 0
    while height > 0:
        height -= 1
        begin, end = stack_begin[height], stack_end[height]
        inside = near_begin <= begin and end <= near_end
        if not inside and end - begin <= NEAR:
            # The stack is worked off depth first, so all that comes of this part follows at once.
            bring_near(far, near, order, begin, end, spans)
            near_begin, near_end, inside = begin, end, True
        rows = near if inside else far
        total = np.int64(0)
        for at in range(begin, end):
            total += rows.weight[order[at]]
        chosen = False
        if total >= 2 * least and end - begin > 1:
            measure_part(rows, trees, order, begin, end, low, high, high_number)
            for a in range(attributes):
                width[a] = width_of(trees, a, low[a], high[a], high_number[a]) * trees.importance[a]
            best_gain = -1.0
            for _ in range(attributes):
                a = np.int64(0)
                for other in range(1, attributes):
                    if width[other] > width[a]:
                        a = other
                if width[a] <= 0:
                    break
                width[a] = -1.0
                bins = assign_bins(rows, trees, a, order, begin, end, low[a], high[a], bin_of)
                if bins == 0:
                    continue
                sort_bins(order, begin, end, bin_of, bins, sorted_rows, place)
                parts = settle(
                    rows, needs, values, sorted_rows, bins, place, weight, good, ends,
                    tally, touched, used, below, nodes, begin, end,
                )  # fmt: skip
                if parts < 2:
                    continue
                gain = 0.0
                if by_gain:
                    gain = gain_of(rows, trees, a, sorted_rows, begin, ends, parts, low[a], high[a], total)
                if gain > best_gain:
                    best_gain = gain
                    chosen = True
                    # Loops, since an assignment to a slice compiles the text of the error it never raises.
                    for at in range(begin, end):
                        best_rows[at] = sorted_rows[at]
                    for part in range(parts):
                        best_ends[part] = ends[part]
                    best_ends[parts] = -1
                    if not by_gain:
                        break
        if not chosen:
            final[finals] = begin
            finals += 1
            for at in range(begin, end):
                order[at] = rows.tuple[order[at]]
            continue
        for at in range(begin, end):
            order[at] = best_rows[at]
        parts = 0
        while best_ends[parts] >= 0:
            parts += 1
        for part in range(parts - 1, -1, -1):
            stack_begin[height] = begin if part == 0 else best_ends[part - 1]
            stack_end[height] = best_ends[part]
            height += 1
    final[finals] = tuples
    return order, final[: finals + 1].copy()


@njit(cache=True, nogil=True)
def settle(
    rows: Rows,
    needs: Needs,
    values: Values,
    sorted_rows: Ints,
    bins: int,
    place: Longs,
    weight: Longs,
    good: Bools,
    ends: Longs,
    tally: Longs,
    touched: Ints,
    used: Ints,
    below: Floats,
    nodes: Ints,
    begin: int,
    end: int,
) -> int:
    """Decide which bins stand alone; the others are one rest, which takes in the smallest good ones until it holds.

    Rearranges ``sorted_rows`` so that parts are runs, the rest last, writes where each ends, and returns how many.
    Fewer than two: no split.
    """
    alone = 0
    rest = 0
    for b in range(bins):
        weight[b] = 0
        good[b] = False
        if place[b] == place[b + 1]:
            continue
        weight[b] = add_rows(rows, values, sorted_rows, place[b], place[b + 1], tally, touched, used)
        good[b] = b > 0 and holds(needs, values, weight[b], tally, touched, used, below, nodes)
        clear(tally, touched, used)
        if good[b]:
            alone += 1
        else:
            rest += weight[b]
    if alone == 0:
        return 0
    if rest > 0:
        total = np.int64(0)
        for b in range(bins):
            if not good[b] and place[b] < place[b + 1]:
                total += add_rows(rows, values, sorted_rows, place[b], place[b + 1], tally, touched, used)
        while alone > 0 and not holds(needs, values, total, tally, touched, used, below, nodes):
            smallest = -1
            for b in range(bins):
                if good[b] and (smallest < 0 or weight[b] < weight[smallest]):
                    smallest = b
            good[smallest] = False
            alone -= 1
            total += add_rows(rows, values, sorted_rows, place[smallest], place[smallest + 1], tally, touched, used)
        clear(tally, touched, used)
        if alone == 0:
            return 0
    if alone + (1 if rest > 0 else 0) < 2:
        return 0
    moved = np.empty(end - begin, dtype=np.int32)
    at = 0
    parts = 0
    for b in range(bins):
        if good[b]:
            for i in range(place[b], place[b + 1]):
                moved[at] = sorted_rows[i]
                at += 1
            ends[parts] = begin + at
            parts += 1
    if rest > 0:
        for b in range(bins):
            if not good[b]:
                for i in range(place[b], place[b + 1]):
                    moved[at] = sorted_rows[i]
                    at += 1
        ends[parts] = begin + at
        parts += 1
    for i in range(end - begin):
        sorted_rows[begin + i] = moved[i]
    return parts


@njit(cache=True, nogil=True)
def gain_of(
    rows: Rows,
    trees: Trees,
    a: int,
    sorted_rows: Ints,
    begin: int,
    ends: Longs,
    parts: int,
    low: int,
    high: int,
    total: int,
) -> float:
    """Return how much the loss of the split attribute falls, over all rows of the part."""
    gain = cost_of(trees, a, low, high) * total
    start = begin
    for part in range(parts):
        lo, hi, weight = np.int32(2147483647), np.int32(-1), np.int64(0)
        for at in range(start, ends[part]):
            row = sorted_rows[at]
            lo = min(lo, rows.low[row, a])
            hi = max(hi, rows.high[row, a])
            weight += rows.weight[row]
        gain -= cost_of(trees, a, lo, hi) * weight
        start = ends[part]
    return gain * trees.importance[a]
