"""The compiled loops behind `mondrian`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Floats, Ints, Longs
from kveil.kernels.jit import door, inner
from kveil.kernels.models.layout import Models
from kveil.kernels.models.models_loops import clear, count_values, holds
from kveil.kernels.splitting.bins_loops import cell_loss, fill_bins, width_of
from kveil.kernels.splitting.layout import MOST_CLOSE, MOST_NEAR, NO_LEAF, SplitRoom, SplitTuples, Trees

CACHED = 128  # tuples that are measured in some attributes, then in the next ones


@inner
def add_rows(rows: SplitTuples, models: Models, order: Ints, begin: int, end: int) -> int:
    """Add a run of tuples to the histograms; return their weight."""
    total = np.int64(0)
    for at in range(begin, end):
        row = order[at]
        total += rows.weight[row]
        count_values(models, rows.tuple[row])
    return total


@inner
def count_weight(rows: SplitTuples, order: Ints, begin: int, end: int) -> int:
    """Return how many rows a run of tuples has."""
    total = np.int64(0)
    for at in range(begin, end):
        total += rows.weight[order[at]]
    return total


@inner
def are_single_rows(rows: SplitTuples, models: Models, order: Ints, begin: int, end: int) -> bool:
    """Tell whether every tuple of a run is one row, and no model counts what it has: then counting tuples is enough."""
    if models.values.start.shape[0] > 0:
        return False
    others = 0
    for at in range(begin, end):
        others += rows.weight[order[at]] != 1
    return others == 0


@inner
def bring_near(rows: SplitTuples, near: SplitTuples, order: Ints, begin: int, end: int, spans: bool) -> None:
    """Copy the tuples of a part side by side, in its order, which then counts them from the first of these copies."""
    for at in range(begin, end):
        row, place = order[at], at - begin
        for a in range(rows.low.shape[1]):
            near.low[place, a] = rows.low[row, a]
        if spans:
            for a in range(rows.low.shape[1]):
                near.high[place, a] = rows.high[row, a]
        near.weight[place] = rows.weight[row]
        near.tuple[place] = rows.tuple[row]
        order[at] = place


@inner
def measure_part(rows: SplitTuples, trees: Trees, order: Ints, begin: int, end: int, room: SplitRoom) -> None:
    """Find the span of a part in every attribute; ``top`` is its largest leaf that is not missing.

    A few rows at a time, which stay in the cache, and of these four attributes at a time, whose ends stay in registers.
    """
    low, high, top = room.low, room.high, room.top
    attributes = len(low)
    for a in range(attributes):
        low[a], high[a] = np.int32(NO_LEAF), np.int32(-1)
    for start in range(begin, end, CACHED):
        stop = min(start + CACHED, end)
        for a in range(0, attributes - 3, 4):
            l0, l1, l2, l3 = low[a], low[a + 1], low[a + 2], low[a + 3]
            h0, h1, h2, h3 = high[a], high[a + 1], high[a + 2], high[a + 3]
            for at in range(start, stop):
                row = order[at]
                l0, h0 = min(l0, rows.low[row, a]), max(h0, rows.high[row, a])
                l1, h1 = min(l1, rows.low[row, a + 1]), max(h1, rows.high[row, a + 1])
                l2, h2 = min(l2, rows.low[row, a + 2]), max(h2, rows.high[row, a + 2])
                l3, h3 = min(l3, rows.low[row, a + 3]), max(h3, rows.high[row, a + 3])
            low[a], low[a + 1], low[a + 2], low[a + 3] = l0, l1, l2, l3
            high[a], high[a + 1], high[a + 2], high[a + 3] = h0, h1, h2, h3
        for a in range(attributes - attributes % 4, attributes):
            least, most = low[a], high[a]
            for at in range(start, stop):
                row = order[at]
                least, most = min(least, rows.low[row, a]), max(most, rows.high[row, a])
            low[a], high[a] = least, most
    for a in range(attributes):
        top[a] = largest_known(rows, trees, order, begin, end, a, high[a])


@inner
def largest_known(rows: SplitTuples, trees: Trees, order: Ints, begin: int, end: int, a: int, high: int) -> int:
    """Return the largest leaf of a part in an attribute that is not missing, given the largest of all."""
    if high != trees.missing[a]:
        return high
    top = np.int32(-1)
    for at in range(begin, end):
        leaf = rows.high[order[at], a]
        if leaf != trees.missing[a]:
            top = max(top, leaf)
    return top


@inner
def measure_attribute(
    rows: SplitTuples, trees: Trees, order: Ints, begin: int, end: int, a: int, room: SplitRoom
) -> None:
    """Find the span of a part in one attribute."""
    low, high = np.int32(NO_LEAF), np.int32(-1)
    for at in range(begin, end):
        row = order[at]
        low, high = min(low, rows.low[row, a]), max(high, rows.high[row, a])
    room.low[a], room.high[a] = low, high
    room.top[a] = largest_known(rows, trees, order, begin, end, a, high)


@inner
def weighted_width(trees: Trees, a: int, room: SplitRoom) -> float:
    """Return how wide a measured part is in an attribute, as attributes are compared."""
    return width_of(trees, a, room.low[a], room.high[a], room.top[a]) * trees.importance[a]


@door
def measure_spans(trees: Trees, attribute: Ints, low: Ints, high: Ints, top: Ints, width: Floats, cost: Floats) -> None:
    """Write how wide each span of leaves is, as `split_parts` compares attributes, and what a cell of it loses.

    ``attribute`` is the one that a span is of, ``top`` its largest leaf that is not missing.
    """
    for at in range(len(low)):
        a = attribute[at]
        width[at] = width_of(trees, a, low[at], high[at], top[at]) * trees.importance[a]
        cost[at] = cell_loss(trees, a, low[at], high[at])


@door
def split_parts(
    far: SplitTuples,
    near: SplitTuples,
    close: SplitTuples,
    spans: bool,
    trees: Trees,
    models: Models,
    order: Ints,
    starts: Longs,
    by_gain: bool,
    small: int,
    few: int,
    room: SplitRoom,
) -> int:
    """Split parts top-down until no split is allowed; return how many there are then. See `mondrian.split`.

    Parts of at most ``small`` tuples, or of at most ``few`` rows, are left as they are, the former without a look at
    their spans. -1 where the flag was raised.

    No part is wider than the one it comes of. So what is copied is measured in one attribute after another, until none
    that is left could be wider.
    """
    attributes = far.low.shape[1]
    near_begin = near_end = close_begin = close_end = np.int64(0)
    low, high, width = room.low, room.high, room.width
    sorted_rows, best_rows, ends, best_ends = room.sorted_rows, room.best_rows, room.ends, room.best_ends
    stack, final, measured, most = room.stack, room.final, room.measured, room.most_width
    least = np.int64(0)
    for m in range(len(models.needs.kind)):
        least = max(least, models.needs.k[m])
    height = 0
    for part in range(len(starts) - 2, -1, -1):
        stack[height, 0], stack[height, 1] = starts[part], starts[part + 1]
        stack[height, 2] = count_weight(far, order, starts[part], starts[part + 1])
        for a in range(attributes):
            room.most_waiting[height, a] = np.inf
        height += 1
    room.alike[0] = are_single_rows(far, models, order, starts[0], starts[len(starts) - 1])
    finals = 0
    while height > 0:
        if room.halt[0]:
            return -1
        height -= 1
        begin, end, total = stack[height, 0], stack[height, 1], stack[height, 2]
        size = end - begin
        is_near = near_begin <= begin and end <= near_end
        is_close = close_begin <= begin and end <= close_end
        if size > small:
            # The stack is worked off depth first, so all that comes of a part that is copied follows at once.
            if not is_near and size <= MOST_NEAR:
                bring_near(far, near, order, begin, end, spans)
                near_begin, near_end, is_near = begin, end, True
            if not is_close and size <= MOST_CLOSE:
                bring_near(near, close, order, begin, end, spans)
                close_begin, close_end, is_close = begin, end, True
        rows = close if is_close else near if is_near else far
        if size <= small:
            final[finals] = begin
            finals += 1
            for at in range(begin, end):
                order[at] = rows.tuple[order[at]]
            continue
        best_parts = 0
        may_split = total > few and total >= 2 * least and size > 1
        one_by_one = may_split and is_near and not by_gain and room.most_waiting[height, 0] < np.inf
        if not one_by_one:
            measure_part(rows, trees, order, begin, end, room)
        for a in range(attributes):
            measured[a] = not one_by_one
            most[a] = room.most_waiting[height, a] if one_by_one else weighted_width(trees, a, room)
            width[a] = most[a]
        if may_split:
            best_gain = -1.0
            for _ in range(2 * attributes):  # each is measured, then tried
                a = np.int64(0)
                for other in range(1, attributes):
                    if width[other] > width[a]:
                        a = other
                if width[a] <= 0:
                    break
                if not measured[a]:
                    measure_attribute(rows, trees, order, begin, end, a, room)
                    measured[a] = True
                    most[a] = width[a] = weighted_width(trees, a, room)
                    continue
                width[a] = -1.0
                bins = fill_bins(rows, trees, room, a, order, begin, end, low[a], high[a], spans)
                if bins == 0:
                    continue
                parts = choose_bins(rows, models, room, bins, begin, end)
                if parts < 2:
                    continue
                gain = 0.0
                if by_gain:
                    gain = split_gain(rows, trees, a, sorted_rows, begin, ends, parts, low[a], high[a], total)
                if gain > best_gain:
                    best_gain = gain
                    best_parts = parts
                    if not by_gain:
                        break
                    # Loops, since an assignment to a slice compiles the text of the error it never raises.
                    for at in range(begin, end):
                        best_rows[at] = sorted_rows[at]
                    for part in range(parts):
                        best_ends[part], room.best_weights[part] = ends[part], room.part_weights[part]
        if best_parts == 0:
            for a in range(attributes):  # a loop: asking the array itself makes loading import all that arrays can do
                if not measured[a]:
                    measure_part(rows, trees, order, begin, end, room)
                    break
            final[finals] = begin
            for a in range(attributes):
                room.final_low[finals, a], room.final_high[finals, a] = low[a], high[a]
            finals += 1
            for at in range(begin, end):
                order[at] = rows.tuple[order[at]]
            continue
        taken, cuts = (best_rows, best_ends) if by_gain else (sorted_rows, ends)
        weights = room.best_weights if by_gain else room.part_weights
        for at in range(begin, end):
            order[at] = taken[at]
        for part in range(best_parts - 1, -1, -1):
            stack[height, 0] = begin if part == 0 else cuts[part - 1]
            stack[height, 1], stack[height, 2] = cuts[part], weights[part]
            for a in range(attributes):
                room.most_waiting[height, a] = most[a]
            height += 1
    final[finals] = starts[len(starts) - 1]
    return finals


@inner
def choose_bins(rows: SplitTuples, models: Models, room: SplitRoom, bins: int, begin: int, end: int) -> int:
    """Decide which bins stand alone; the others are one rest, which takes in the smallest good ones until it holds.

    Rearranges ``sorted_rows`` so that parts are runs, the rest last, writes where each ends and how many rows it has,
    and returns how many parts there are. Fewer than two: no split.
    """
    sorted_rows, moved = room.sorted_rows, room.moved
    place, weight, good, ends = room.place, room.weight, room.good, room.ends
    needs = len(models.needs.kind)
    alone = 0
    rest = 0
    for b in range(bins):
        weight[b] = 0
        good[b] = False
        if place[b] == place[b + 1]:
            continue
        if room.alike[0]:
            weight[b] = place[b + 1] - place[b]
        else:
            weight[b] = add_rows(rows, models, sorted_rows, place[b], place[b + 1])
        good[b] = b > 0 and holds(models, 0, needs, weight[b])
        clear(models)
        if good[b]:
            alone += 1
        else:
            rest += weight[b]
    if alone == 0:
        return 0
    total = np.int64(0)  # of the rest
    if rest > 0:
        for b in range(bins):
            if not good[b] and place[b] < place[b + 1]:
                total += add_rows(rows, models, sorted_rows, place[b], place[b + 1])
        while alone > 0 and not holds(models, 0, needs, total):
            smallest = -1
            for b in range(bins):
                if good[b] and (smallest < 0 or weight[b] < weight[smallest]):
                    smallest = b
            good[smallest] = False
            alone -= 1
            total += add_rows(rows, models, sorted_rows, place[smallest], place[smallest + 1])
        clear(models)
        if alone == 0:
            return 0
    if alone + (1 if rest > 0 else 0) < 2:
        return 0
    parts = 0
    if rest == 0:  # all of them stand alone, in the order that they have
        for b in range(bins):
            if good[b]:
                ends[parts], room.part_weights[parts] = place[b + 1], weight[b]
                parts += 1
        return parts
    at = 0
    for b in range(bins):
        if good[b]:
            for i in range(place[b], place[b + 1]):
                moved[at] = sorted_rows[i]
                at += 1
            ends[parts], room.part_weights[parts] = begin + at, weight[b]
            parts += 1
    for b in range(bins):
        if not good[b]:
            for i in range(place[b], place[b + 1]):
                moved[at] = sorted_rows[i]
                at += 1
    ends[parts], room.part_weights[parts] = begin + at, total
    parts += 1
    for i in range(end - begin):
        sorted_rows[begin + i] = moved[i]
    return parts


@inner
def split_gain(
    rows: SplitTuples,
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
    gain = cell_loss(trees, a, low, high) * total
    start = begin
    for part in range(parts):
        lo, hi, weight = np.int32(NO_LEAF), np.int32(-1), np.int64(0)
        for at in range(start, ends[part]):
            row = sorted_rows[at]
            lo = min(lo, rows.low[row, a])
            hi = max(hi, rows.high[row, a])
            weight += rows.weight[row]
        gain -= cell_loss(trees, a, lo, hi) * weight
        start = ends[part]
    return gain * trees.importance[a]
