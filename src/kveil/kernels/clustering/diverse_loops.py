"""The compiled loops behind `diverse`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Floats, Ints, Longs
from kveil.kernels.clustering import layout as field
from kveil.kernels.clustering.boxes_loops import cover
from kveil.kernels.clustering.greedy_loops import place_rest
from kveil.kernels.clustering.layout import Costs, DistinctTuples
from kveil.kernels.clustering.search_tree_loops import (
    Heap,
    SearchTree,
    drop_first,
    new_forest,
    next_tuple,
    plant,
    push,
    take,
)
from kveil.kernels.jit import door, inner
from kveil.kernels.models.layout import (
    ALPHA,
    AT_LEAST_K,
    DISTINCT,
    ENTROPY,
    FREQUENCY,
    RECURSIVE,
    Needs,
    SensitiveCodes,
)
from kveil.kernels.models.models_loops import clear, holds

PLANNED = 4096  # different values up to which it is planned which of them a cluster may take


@inner
def count_in(values: SensitiveCodes, t: int, sign: int, tally: Longs, touched: Ints, used: Ints) -> None:
    """Add a row of a tuple to the histograms."""
    for s in range(values.start.shape[0]):
        for p in range(values.start[s, t], values.start[s, t + 1]):
            code = values.code[p]
            if tally[s, code] == 0 and sign > 0:
                touched[s, used[s]] = code
                used[s] += 1
            tally[s, code] += sign


@inner
def first_failing(
    needs: Needs,
    values: SensitiveCodes,
    total: int,
    tally: Longs,
    touched: Ints,
    used: Ints,
    below: Floats,
    nodes: Ints,
) -> int:
    """Return the first need over sensitive values that the tallied rows fail, -1 where there is none."""
    for m in range(len(needs.kind)):
        if needs.kind[m] != AT_LEAST_K:
            one = Needs(
                needs.kind[m : m + 1],
                needs.sensitive[m : m + 1],
                needs.k[m : m + 1],
                needs.numerator[m : m + 1],
                needs.denominator[m : m + 1],
                needs.bound[m : m + 1],
            )
            if not holds(one, values, total, tally, touched, used, below, nodes):
                return m
    return -1


@inner
def helps(needs: Needs, values: SensitiveCodes, m: int, t: int, tally: Longs, touched: Ints, used: Ints) -> bool:
    """Tell whether a row of a tuple brings a cluster nearer to a need it fails."""
    s, kind = needs.sensitive[m], needs.kind[m]
    known = values.known[s]
    members, largest = np.int64(0), np.int64(0)
    for i in range(used[s]):
        count = tally[s, touched[s, i]]
        members += count
        if touched[s, i] < known or kind == ALPHA:
            largest = max(largest, count)
    for p in range(values.start[s, t], values.start[s, t + 1]):
        code = values.code[p]
        count = tally[s, code]
        if kind == DISTINCT:
            if code < known and count == 0:
                return True
        elif kind == ENTROPY or kind == RECURSIVE:  # noqa: SIM109
            if code < known and (count < largest or largest == 0):
                return True
        elif kind == FREQUENCY:
            if code == known or count < largest:
                return True
        elif kind == ALPHA:
            if count < largest:
                return True
        elif count < values.whole[s, code] * max(members, 1):
            return True
    return False


@inner
def fits(needs: Needs, values: SensitiveCodes, t: int, size: int, tally: Longs) -> bool:
    """Tell whether a row of a tuple leaves every value's share small enough in a cluster that gets so many rows."""
    for m in range(len(needs.kind)):
        kind, s = needs.kind[m], needs.sensitive[m]
        if kind == FREQUENCY or kind == ALPHA:  # noqa: SIM109
            up, down = needs.denominator[m], needs.numerator[m]
            if kind == ALPHA:
                up, down = down, up
            for p in range(values.start[s, t], values.start[s, t + 1]):
                code = values.code[p]
                counted = kind == ALPHA or code < values.known[s]
                if counted and (tally[s, code] + 1) * down > size * up:
                    return False
    return True


@inner
def plan(
    needs: Needs, values: SensitiveCodes, rest: Longs, waiting: int, k: int, later: Longs, spare: Longs, frequent: Longs
) -> None:
    """Plan, for every need of different values, how many clusters come later and how many rows they can spare.

    Clusters can be so many that Σ min(count, clusters) over the values is enough for each (Truta et al. 2007, their
    bound in another form). If a value has more rows than clusters come later, one of them can go anywhere; all other
    rows are needed, and counted. Where shares are limited, later clusters need rows of other values than the most
    frequent one.
    """
    for m in range(len(needs.kind)):
        later[m] = -1
        s, kind = needs.sensitive[m], needs.kind[m]
        if kind == FREQUENCY or kind == ALPHA:  # noqa: SIM109
            up, down = needs.denominator[m], needs.numerator[m]
            if kind == ALPHA:
                up, down = down, up
            size = max(k, -(-down // up))
            others = size - size * up // down  # as many of other values as a cluster of that size needs
            frequent[m] = np.argmax(rest[s, : values.known[s] + (kind == ALPHA)])
            if others > 0:
                stock = max(waiting - rest[s, frequent[m]], 0)
                later[m] = max(min(waiting // size - 1, stock // others - 1), 0)
                spare[m] = stock - later[m] * others
            continue
        if kind != DISTINCT or values.known[s] > PLANNED:
            continue
        low, high = 0, waiting // k
        while low < high:
            middle = (low + high + 1) >> 1
            enough = np.int64(0)
            for code in range(values.known[s]):
                enough += min(rest[s, code], middle)
            if enough >= needs.numerator[m] * middle:
                low = middle
            else:
                high = middle - 1
        later[m] = max(low - 1, 0)
        enough = np.int64(0)
        for code in range(values.known[s]):
            enough += min(rest[s, code], later[m])
        spare[m] = enough - needs.numerator[m] * later[m]


@inner
def spared(
    needs: Needs,
    values: SensitiveCodes,
    rest: Longs,
    later: Longs,
    spare: Longs,
    frequent: Longs,
    t: int,
    spend: bool,
) -> bool:
    """Tell whether later clusters can spare a row of a tuple; ``spend`` it."""
    for m in range(len(needs.kind)):
        if later[m] < 0:
            continue
        s = needs.sensitive[m]
        for p in range(values.start[s, t], values.start[s, t + 1]):
            code = values.code[p]
            if needs.kind[m] == DISTINCT:
                wanted = code < values.known[s] and rest[s, code] <= later[m]
            else:
                wanted = code != frequent[m]
            if wanted:
                if spend:
                    spare[m] -= 1
                elif spare[m] <= 0:
                    return False
    return True


@inner
def restore(heap: Heap, size: int, aside: Heap, parked: int) -> int:
    """Put everything that was set aside back into the heap; return the heap's size."""
    for at in range(parked):
        entry = aside.entry[at]
        size = push(
            heap,
            size,
            aside.key[at],
            np.int64(entry[field.INDEX]),
            np.int64(entry[field.REF]),
            np.int64(entry[field.VERSION]),
        )
    return size


@inner
def give_back(distinct: DistinctTuples, forest: SearchTree, left: Longs, label: Ints, taken: Ints, number: int) -> None:
    """Take the rows of an unfinished cluster out of it again; the last taken of a tuple first."""
    for i in range(number - 1, -1, -1):
        t = np.int64(taken[i])
        left[t] += 1
        label[distinct.start[t + 1] - left[t]] = -1


@door
def cluster_all(
    costs: Costs,
    distinct: DistinctTuples,
    needs: Needs,
    values: SensitiveCodes,
    groups: Longs,
    k: int,
    more_is_safe: bool,
) -> tuple[Ints, Ints, Ints, Longs, Ints]:
    """Cluster every group; see `kveil.kernels.clustering.diverse.cluster_diverse`."""
    width, rows = distinct.low.shape[1], distinct.start[-1]
    left = np.empty(len(distinct.low), dtype=np.int64)
    for t in range(len(distinct.low)):
        left[t] = distinct.start[t + 1] - distinct.start[t]
    label = np.full(rows, -1, dtype=np.int32)
    number = rows // k
    low, high = np.empty((number, width), dtype=np.int32), np.empty((number, width), dtype=np.int32)
    sizes, group = np.empty(number, dtype=np.int64), np.empty(number, dtype=np.int32)
    forest = new_forest(distinct, groups)
    room = 4 * len(forest.order) + 4
    heap = Heap(np.empty(room, dtype=np.int64), np.empty((room, 3), dtype=np.int32))
    aside = Heap(np.empty(room, dtype=np.int64), np.empty((room, 3), dtype=np.int32))
    box, origin = np.zeros((3, width), dtype=np.int32), np.zeros((3, width), dtype=np.int32)
    shape = values.whole.shape
    tally, rest = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    touched, ignored = np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32)
    used, none = np.zeros(shape[0], dtype=np.int32), np.zeros(shape[0], dtype=np.int32)
    below, nodes = np.zeros(values.edge.shape[1]), np.empty(values.edge.shape[1], dtype=np.int32)
    later, spare = np.empty(len(needs.kind), dtype=np.int64), np.zeros(len(needs.kind), dtype=np.int64)
    frequent = np.zeros(len(needs.kind), dtype=np.int64)
    taken = np.empty(rows, dtype=np.int32)
    made = 0
    for g in range(len(groups) - 1):
        begin, end, first = groups[g], groups[g + 1], made
        waiting = distinct.start[end] - distinct.start[begin]
        clear(rest, ignored, none)
        for t in range(begin, end):
            for _ in range(left[t]):
                count_in(values, t, 1, rest, ignored, none)
        plant(costs, distinct, forest, left, begin, end, field.BUCKET)
        cover(costs, origin, distinct, begin, True)
        while waiting >= k:
            plan(needs, values, rest, waiting, k, later, spare, frequent)
            clear(tally, touched, used)
            total, version, parked, failing, whole = 0, -1, 0, 0, False
            size = push(heap, 0, 0, 0, -1, version)
            while True:
                size = next_tuple(costs, distinct, forest, heap, left, origin if version < 0 else box, size, version)
                if size == 0:
                    if parked == 0 or later.max() < 0:
                        break
                    later[:] = -1  # the plan leaves nothing: without it
                    size = restore(heap, size, aside, parked)
                    parked = 0
                    continue
                t = np.int64(heap.entry[0, field.REF])
                if version >= 0:
                    key = heap.key[0]
                    size = drop_first(heap, size)
                    if failing >= 0:
                        good = helps(needs, values, failing, t, tally, touched, used)
                    else:
                        good = fits(needs, values, t, max(total + 1, k), tally)
                    if not (good and spared(needs, values, rest, later, spare, frequent, t, False)):
                        parked = push(aside, parked, key, t, t, version)
                        continue
                spared(needs, values, rest, later, spare, frequent, t, True)
                take(distinct, forest, left, label, t, 1, made)
                taken[total] = t
                total += 1
                count_in(values, t, 1, tally, touched, used)
                count_in(values, t, -1, rest, ignored, none)
                wider = cover(costs, origin if version < 0 else box, distinct, t, version < 0)
                if version < 0:
                    box[:] = origin
                    version = 0
                    size = push(heap, 0, 0, 0, -1, version)
                else:
                    version += wider
                    if left[t] > 0:
                        size = push(heap, size, key, t, t, version - 1)
                failing = first_failing(needs, values, total, tally, touched, used, below, nodes)
                if failing < 0 and total >= k:
                    whole = True
                    break
                size = restore(heap, size, aside, parked)
                parked = 0
            if not whole:
                give_back(distinct, forest, left, label, taken, total)
                break
            for a in range(width):
                low[made, a], high[made, a] = box[1, a], box[2, a]
            sizes[made], group[made] = total, g
            made += 1
            waiting -= total
        if more_is_safe and made > first:
            place_rest(costs, distinct, left, begin, end, label, low, high, sizes, first, made)
    return label, low[:made], high[:made], sizes[:made], group[:made]
