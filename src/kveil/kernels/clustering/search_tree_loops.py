"""The compiled loops over the tree in which a clustering looks for the nearest tuple.

Tuples stand in a binary tree whose nodes keep, for every attribute, the smallest and largest leaf below them. A
search keeps a heap of tree nodes and tuples by (bound, lowest tuple): the first tuple that comes out with its exact
cost is the best one, and of equals the first in canonical order. A cluster's cost for a tuple only grows with the
cluster, so what is in the heap stays a lower bound and one heap serves until the cluster is full.

Few arrays of several columns instead of many arrays: what a function takes is most of what compiling it costs.
"""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.clustering import layout as field
from kveil.kernels.clustering.boxes_loops import cost_at_least, span_cost, widened_cost
from kveil.kernels.clustering.layout import ClusterBox, ClusterRoom, Costs, DistinctTuples, Heap, SearchTree
from kveil.kernels.jit import inner


@inner
def push(heap: Heap, size: int, key: int, index: int, ref: int, version: int) -> int:
    """Add an entry; return the new size."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if heap.key[above] < key or (heap.key[above] == key and heap.entry[above, field.INDEX] <= index):
            break
        heap.key[at] = heap.key[above]
        for column in range(3):
            heap.entry[at, column] = heap.entry[above, column]
        at = above
    heap.key[at] = key
    heap.entry[at, field.INDEX] = index
    heap.entry[at, field.REF] = ref
    heap.entry[at, field.VERSION] = version
    return size + 1


@inner
def drop_first(heap: Heap, size: int) -> int:
    """Take the first entry out; return the new size."""
    size -= 1
    key, index = heap.key[size], heap.entry[size, field.INDEX]
    at, child = 0, 1
    while child < size:
        other = child + 1
        if other < size and (
            heap.key[other] < heap.key[child]
            or (heap.key[other] == heap.key[child] and heap.entry[other, field.INDEX] < heap.entry[child, field.INDEX])
        ):
            child = other
        if key < heap.key[child] or (key == heap.key[child] and index <= heap.entry[child, field.INDEX]):
            break
        heap.key[at] = heap.key[child]
        for column in range(3):
            heap.entry[at, column] = heap.entry[child, column]
        at, child = child, 2 * child + 1
    heap.key[at] = key
    for column in range(3):
        heap.entry[at, column] = heap.entry[size, column]
    return size


@inner
def merge(forest: SearchTree, node: int, low: Ints, high: Ints, at: int, first: bool) -> None:
    """Let a tree node cover the spans low..high at a place, too or alone."""
    for a in range(low.shape[1]):
        forest.low[node, a] = low[at, a] if first else min(forest.low[node, a], low[at, a])
        forest.high[node, a] = high[at, a] if first else max(forest.high[node, a], high[at, a])


@inner
def fit(forest: SearchTree, node: int) -> None:
    """Recompute a bucket, or a node that has no children yet, from its live tuples."""
    lowest = field.DEAD
    for at in range(forest.link[node, field.BEGIN], forest.link[node, field.END]):
        if forest.live[at]:
            merge(forest, node, forest.lowest, forest.highest, at, lowest == field.DEAD)
            lowest = min(lowest, forest.order[at])
    forest.link[node, field.LOWEST] = lowest


@inner
def forget(distinct: DistinctTuples, forest: SearchTree, t: int) -> None:
    """Take a tuple without rows out of the tree."""
    node = np.int64(forest.bucket[t])
    for at in range(forest.link[node, field.BEGIN], forest.link[node, field.END]):
        forest.live[at] = forest.live[at] and forest.order[at] != t
    fit(forest, node)
    node = np.int64(forest.link[node, field.UP])
    while node >= 0:
        child = forest.link[node, field.LEFT]
        lowest = min(forest.link[child, field.LOWEST], forest.link[child + 1, field.LOWEST])
        changed = lowest != forest.link[node, field.LOWEST]
        forest.link[node, field.LOWEST] = lowest
        for a in range(distinct.low.shape[1]):
            low, high = forest.low[node, a], forest.high[node, a]
            if forest.link[child, field.LOWEST] == field.DEAD:
                forest.low[node, a], forest.high[node, a] = forest.low[child + 1, a], forest.high[child + 1, a]
            elif forest.link[child + 1, field.LOWEST] == field.DEAD:
                forest.low[node, a], forest.high[node, a] = forest.low[child, a], forest.high[child, a]
            else:
                forest.low[node, a] = min(forest.low[child, a], forest.low[child + 1, a])
                forest.high[node, a] = max(forest.high[child, a], forest.high[child + 1, a])
            changed = changed or low != forest.low[node, a] or high != forest.high[node, a]
        if not changed:
            break
        node = np.int64(forest.link[node, field.UP])


@inner
def cut_of(costs: Costs, forest: SearchTree, node: int) -> tuple[int, int]:
    """Return the attribute that costs most below a node, and the leaf before which to cut it: near to halves.

    A child of the attribute's tree stays whole.
    """
    best, a = np.int64(-1), 0
    for other in range(forest.low.shape[1]):
        if forest.low[node, other] < forest.high[node, other]:
            cost = span_cost(costs, other, forest.low[node, other], forest.high[node, other])
            if cost > best:
                best, a = cost, other
    begin, end = forest.link[node, field.BEGIN], forest.link[node, field.END]
    low, high = np.int64(forest.low[node, a]), np.int64(forest.high[node, a])
    least, most = low, high
    while least < most:  # the middle leaf, by halving
        middle = (least + most) >> 1
        upto = 0
        for at in range(begin, end):
            upto += forest.lowest[at, a] <= middle
        if 2 * upto >= end - begin:
            most = middle
        else:
            least = middle + 1
    first, last = least, least
    if costs.attributes[a, field.IS_TREE]:
        own = costs.leaves[costs.attributes[a, field.BASE] + least, field.NODE]
        top = own
        while costs.nodes[top, field.FIRST] > low or costs.nodes[top, field.LAST] < high:
            own = top
            top = costs.nodes[top, field.PARENT]
            if top == own:  # the root
                break
        first, last = costs.nodes[own, field.FIRST], costs.nodes[own, field.LAST]
    before, after = 0, 0
    for at in range(begin, end):
        before += forest.lowest[at, a] < first
        after += forest.lowest[at, a] > last
    return a, first if before >= after else last + 1


@inner
def lay_in_place(distinct: DistinctTuples, room: ClusterRoom, begin: int, end: int) -> None:
    """Lay the tuples begin..end side by side where a tree is to stand over them."""
    forest = room.forest
    for t in range(begin, end):
        at = t - begin
        forest.order[at] = t
        forest.live[at] = room.left[t] > 0
        for a in range(distinct.low.shape[1]):
            forest.lowest[at, a] = distinct.low[t, a]
            if forest.is_span:
                forest.highest[at, a] = distinct.high[t, a]


@inner
def swap(forest: SearchTree, one: int, other: int) -> None:
    """Let two tuples change their places; of a tree that is not there yet."""
    order, live, lowest, highest = forest.order, forest.live, forest.lowest, forest.highest
    order[one], order[other] = order[other], order[one]
    live[one], live[other] = live[other], live[one]
    for a in range(lowest.shape[1]):
        lowest[one, a], lowest[other, a] = lowest[other, a], lowest[one, a]
        if forest.is_span:
            highest[one, a], highest[other, a] = highest[other, a], highest[one, a]


@inner
def node_after(link: Ints, node: int) -> int:
    """Return the node that comes after one and all that lies below it, -1 behind the last: left before right."""
    while node > 0 and node != link[link[node, field.UP], field.LEFT]:
        node = np.int64(link[node, field.UP])
    return node + 1 if node > 0 else np.int64(-1)


@inner
def plant(costs: Costs, distinct: DistinctTuples, room: ClusterRoom, begin: int, end: int, bucket: int) -> int:
    """Build the tree over tuples begin..end, what lies below a node before what lies beside it; return its size."""
    forest = room.forest
    link = forest.link
    lay_in_place(distinct, room, begin, end)
    link[0, field.BEGIN], link[0, field.END], link[0, field.UP] = 0, end - begin, -1
    nodes, node = 1, np.int64(0)
    while node >= 0 and not room.halt[0]:
        fit(forest, node)
        first, last = link[node, field.BEGIN], link[node, field.END]
        link[node, field.LEFT] = -1
        if last - first <= bucket:
            for at in range(first, last):
                forest.bucket[forest.order[at]] = node
            node = node_after(link, node)
            continue
        a, cut = cut_of(costs, forest, node)
        middle = first
        for at in range(first, last):
            if forest.lowest[at, a] < cut:
                swap(forest, at, middle)
                middle += 1
        if not first < middle < last:
            middle = (first + last) // 2  # spans that start alike
        link[node, field.LEFT] = nodes
        link[nodes, field.BEGIN], link[nodes, field.END], link[nodes, field.UP] = first, middle, node
        link[nodes + 1, field.BEGIN], link[nodes + 1, field.END], link[nodes + 1, field.UP] = middle, last, node
        node = np.int64(nodes)
        nodes += 2
    return nodes


@inner
def expand(costs: Costs, forest: SearchTree, heap: Heap, box: ClusterBox, size: int, node: int, version: int) -> int:
    """Put what lies below a tree node into the heap; return the heap's size.

    By least cost; at version -1 by largest cost downward.
    """
    child = np.int64(forest.link[node, field.LEFT])
    if child < 0:
        for at in range(forest.link[node, field.BEGIN], forest.link[node, field.END]):
            if forest.live[at]:
                t = np.int64(forest.order[at])
                key = widened_cost(costs, box, forest.lowest, forest.highest, at)
                size = push(heap, size, -key if version < 0 else key, t, t, version)
        return size
    for below in range(child, child + 2):
        if forest.link[below, field.LOWEST] != field.DEAD:
            if version < 0:
                key = -widened_cost(costs, box, forest.low, forest.high, below)
            else:
                key = cost_at_least(costs, box, forest.low, forest.high, below)
            size = push(heap, size, key, np.int64(forest.link[below, field.LOWEST]), -1 - below, version)
    return size


@inner
def next_tuple(
    costs: Costs, distinct: DistinctTuples, forest: SearchTree, heap: Heap, box: ClusterBox, size: int, version: int
) -> int:
    """Bring the best live tuple to the top of the heap, with its exact cost; return the heap's size, 0 if none is."""
    while size > 0:
        ref = np.int64(heap.entry[0, field.REF])
        if heap.entry[0, field.VERSION] != version:
            # The cluster has grown since: what was a cost is a lower bound now.
            index = np.int64(heap.entry[0, field.INDEX])
            if ref >= 0:
                key = widened_cost(costs, box, distinct.low, distinct.high, ref)
            else:
                key = cost_at_least(costs, box, forest.low, forest.high, -1 - ref)
            size = drop_first(heap, size)
            size = push(heap, size, key, index, ref, version)
        elif ref >= 0:
            return size
        else:
            size = drop_first(heap, size)
            size = expand(costs, forest, heap, box, size, -1 - ref, version)
    return size


@inner
def take(
    distinct: DistinctTuples, forest: SearchTree, left: Longs, label: Ints, t: int, number: int, cluster: int
) -> None:
    """Give rows of a tuple to a cluster, the first in canonical order."""
    at = distinct.start[t + 1] - left[t]
    for row in range(at, at + number):
        label[row] = cluster
    left[t] -= number
    if left[t] == 0:
        forget(distinct, forest, t)
