"""The compiled loops behind `greedy`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.clustering import layout as field
from kveil.kernels.clustering.boxes_loops import cover, span_cost
from kveil.kernels.clustering.layout import Costs, DistinctTuples
from kveil.kernels.clustering.search_tree_loops import Heap, drop_first, new_forest, next_tuple, plant, push, take
from kveil.kernels.jit import door, inner


@inner
def place_rest(
    costs: Costs, distinct: DistinctTuples, left: Longs, begin: int, end: int, label: Ints, low: Ints, high: Ints,
    sizes: Longs, first: int, last: int,
) -> None:  # fmt: skip
    """Let every row that is left over join the cluster whose total loss grows least; of equals the first."""
    width = distinct.low.shape[1]
    for t in range(begin, end):
        while left[t] > 0:
            best, chosen = np.int64(0), -1
            for c in range(first, last):
                growth = np.int64(0)
                for a in range(width):
                    growth -= span_cost(costs, a, low[c, a], high[c, a]) * sizes[c]
                    from_, to = min(low[c, a], distinct.low[t, a]), max(high[c, a], distinct.high[t, a])
                    growth += span_cost(costs, a, from_, to) * (sizes[c] + 1)
                if chosen < 0 or growth < best:
                    best, chosen = growth, c
            label[distinct.start[t + 1] - left[t]] = chosen
            left[t] -= 1
            sizes[chosen] += 1
            for a in range(width):
                low[chosen, a] = min(low[chosen, a], distinct.low[t, a])
                high[chosen, a] = max(high[chosen, a], distinct.high[t, a])


@door
def cluster_groups(
    costs: Costs, distinct: DistinctTuples, groups: Longs, k: int
) -> tuple[Ints, Ints, Ints, Longs, Ints]:
    """Cluster every group greedily (Byun et al. 2006); see `kveil.kernels.clustering.greedy.cluster`."""
    width = distinct.low.shape[1]
    left = np.empty(len(distinct.low), dtype=np.int64)
    for t in range(len(distinct.low)):
        left[t] = distinct.start[t + 1] - distinct.start[t]
    number = 0
    for g in range(len(groups) - 1):
        number += (distinct.start[groups[g + 1]] - distinct.start[groups[g]]) // k
    label = np.empty(distinct.start[-1], dtype=np.int32)
    low, high = np.empty((number, width), dtype=np.int32), np.empty((number, width), dtype=np.int32)
    sizes = np.empty(number, dtype=np.int64)
    group = np.empty(number, dtype=np.int32)
    forest = new_forest(distinct, groups)
    room = 3 * len(forest.order) + 4
    heap = Heap(np.empty(room, dtype=np.int64), np.empty((room, 3), dtype=np.int32))
    box, origin = np.zeros((3, width), dtype=np.int32), np.zeros((3, width), dtype=np.int32)
    made = 0
    for g in range(len(groups) - 1):
        begin, end = groups[g], groups[g + 1]
        waiting = distinct.start[end] - distinct.start[begin]
        plant(costs, distinct, forest, left, begin, end, field.BUCKET)
        cover(costs, origin, distinct, begin, True)  # the first canonical record
        first = made
        while waiting >= k:
            need, version = k, -1  # first the farthest from the last seed, then those that add least loss
            size = push(heap, 0, 0, 0, -1, version)
            while need > 0:
                size = next_tuple(costs, distinct, forest, heap, left, origin if version < 0 else box, size, version)
                t = np.int64(heap.entry[0, field.REF])
                rows = min(need, left[t]) if version >= 0 else 1
                take(distinct, forest, left, label, t, rows, made)
                need -= rows
                wider = cover(costs, origin if version < 0 else box, distinct, t, version < 0)
                if version < 0:
                    box[:] = origin
                    version = 0
                    size = push(heap, 0, 0, 0, -1, version)
                else:
                    size = drop_first(heap, size)
                    version += wider
            for a in range(width):
                low[made, a], high[made, a] = box[1, a], box[2, a]
            sizes[made], group[made] = k, g
            made += 1
            waiting -= k
        place_rest(costs, distinct, left, begin, end, label, low, high, sizes, first, made)
    return label, low, high, sizes, group


@door
def split_blocks(costs: Costs, distinct: DistinctTuples, groups: Longs, largest: int) -> tuple[Ints, Longs]:
    """Split groups into blocks of neighbouring tuples; see `kveil.kernels.clustering.greedy.blocks`."""
    left = np.ones(len(distinct.low), dtype=np.int64)
    forest = new_forest(distinct, groups)
    order = np.empty(len(distinct.low), dtype=np.int32)
    is_start = np.zeros(len(distinct.low) + 1, dtype=np.bool_)
    for g in range(len(groups) - 1):
        begin, end = groups[g], groups[g + 1]
        nodes = plant(costs, distinct, forest, left, begin, end, largest)
        order[begin:end] = forest.order[: end - begin]
        for node in range(nodes):
            is_start[begin + forest.link[node, field.BEGIN]] = True
    is_start[len(distinct.low)] = True
    return order, np.flatnonzero(is_start)
