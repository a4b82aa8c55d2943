"""The compiled loops behind `greedy`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.clustering.boxes_loops import cover, span_cost
from kveil.kernels.clustering.layout import BUCKET, ClusterArrays, ClusterBox, ClusterRoom, Costs, DistinctTuples
from kveil.kernels.clustering.search_tree_loops import drop_first, next_tuple, plant, push, take
from kveil.kernels.jit import door, inner


@inner
def copy_box(into: ClusterBox, box: ClusterBox) -> None:
    """Let a box be like another."""
    for a in range(len(box.node)):
        into.node[a], into.first[a], into.last[a] = box.node[a], box.first[a], box.last[a]
    for leaf in range(len(box.reach)):
        into.reach[leaf] = box.reach[leaf]


@inner
def enter_cluster(clusters: ClusterArrays, number: int, box: ClusterBox, size: int, group: int) -> None:
    """Note what a cluster covers, how many rows it has, and its group."""
    for a in range(len(box.node)):
        clusters.low[number, a], clusters.high[number, a] = box.first[a], box.last[a]
    clusters.size[number], clusters.group[number] = size, group


@inner
def place_rest(
    costs: Costs, distinct: DistinctTuples, room: ClusterRoom, begin: int, end: int, clusters: ClusterArrays,
    first: int, last: int,
) -> None:  # fmt: skip
    """Let every row that is left over join the cluster whose total loss grows least; of equals the first."""
    label, low, high, sizes = clusters.label, clusters.low, clusters.high, clusters.size
    left, halt = room.left, room.halt
    width = distinct.low.shape[1]
    for t in range(begin, end):
        while left[t] > 0 and not halt[0]:
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
    costs: Costs, distinct: DistinctTuples, groups: Longs, k: int, clusters: ClusterArrays, room: ClusterRoom
) -> None:
    """Cluster every group greedily (Byun et al. 2006); see `kveil.kernels.clustering.greedy.cluster`."""
    left, forest, heap, origin, box = room.left, room.forest, room.heap, room.origin, room.box
    made = 0
    for g in range(len(groups) - 1):
        begin, end = groups[g], groups[g + 1]
        waiting = distinct.start[end] - distinct.start[begin]
        plant(costs, distinct, room, begin, end, BUCKET)
        cover(costs, origin, distinct, begin, True)  # the first canonical record
        first = made
        while waiting >= k and not room.halt[0]:
            need, version = k, -1  # first the farthest from the last seed, then those that add least loss
            size = push(heap, 0, 0, 0, -1, version)
            for _ in range(k):  # each turn takes a row or more
                if need == 0:
                    break
                size = next_tuple(costs, distinct, forest, heap, origin if version < 0 else box, size, version)
                t = np.int64(heap.ref[0])
                rows = min(need, left[t]) if version >= 0 else 1
                take(distinct, forest, left, clusters.label, t, rows, made)
                need -= rows
                wider = cover(costs, origin if version < 0 else box, distinct, t, version < 0)
                if version < 0:
                    copy_box(box, origin)
                    version = 0
                    size = push(heap, 0, 0, 0, -1, version)
                else:
                    size = drop_first(heap, size)
                    version += wider
            enter_cluster(clusters, made, box, k, g)
            made += 1
            waiting -= k
        place_rest(costs, distinct, room, begin, end, clusters, first, made)


@door
def split_blocks(
    costs: Costs, distinct: DistinctTuples, groups: Longs, largest: int, room: ClusterRoom, order: Ints, is_start: Bools
) -> None:
    """Split groups into blocks of neighbouring tuples; see `kveil.kernels.clustering.greedy.blocks`."""
    forest = room.forest
    for g in range(len(groups) - 1):
        begin, end = groups[g], groups[g + 1]
        nodes = plant(costs, distinct, room, begin, end, largest)
        for at in range(begin, end):
            order[at] = forest.order[at - begin]
        for node in range(nodes):
            is_start[begin + forest.link.begin[node]] = True
