"""The compiled loops over the tree in which a clustering looks for the nearest tuple.

Tuples stand in a binary tree whose nodes keep, for every attribute, the smallest and largest leaf below them. A
search keeps a heap of tree nodes and tuples by (bound, lowest tuple): the first tuple that comes out with its exact
cost is the best one, and of equals the first in canonical order. A cluster's cost for a tuple only grows with the
cluster, so what is in the heap stays a lower bound and one heap serves until the cluster is full.
"""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.clustering.boxes_loops import cost_at_least, span_cost, widened_cost
from kveil.kernels.clustering.layout import (
    DEAD,
    ClusterBox,
    ClusterRoom,
    Costs,
    DistinctTuples,
    Heap,
    SearchTree,
    TreeLinks,
)
from kveil.kernels.jit import inner


@inner
def move_entry(heap: Heap, source: int, target: int) -> None:
    """Let an entry of the heap stand elsewhere, too."""
    heap.key[target], heap.lowest[target] = heap.key[source], heap.lowest[source]
    heap.ref[target], heap.version[target] = heap.ref[source], heap.version[source]


@inner
def push(heap: Heap, size: int, key: int, index: int, ref: int, version: int) -> int:
    """Add an entry; return the new size."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if heap.key[above] < key or (heap.key[above] == key and heap.lowest[above] <= index):
            break
        move_entry(heap, above, at)
        at = above
    heap.key[at] = key
    heap.lowest[at] = index
    heap.ref[at] = ref
    heap.version[at] = version
    return size + 1


@inner
def drop_first(heap: Heap, size: int) -> int:
    """Take the first entry out; return the new size."""
    size -= 1
    key, index = heap.key[size], heap.lowest[size]
    at, child = 0, 1
    while child < size:
        other = child + 1
        if other < size and (
            heap.key[other] < heap.key[child]
            or (heap.key[other] == heap.key[child] and heap.lowest[other] < heap.lowest[child])
        ):
            child = other
        if key < heap.key[child] or (key == heap.key[child] and index <= heap.lowest[child]):
            break
        move_entry(heap, child, at)
        at, child = child, 2 * child + 1
    move_entry(heap, size, at)
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
    lowest = DEAD
    for at in range(forest.link.begin[node], forest.link.end[node]):
        if forest.live[at]:
            merge(forest, node, forest.lowest, forest.highest, at, lowest == DEAD)
            lowest = min(lowest, forest.order[at])
    forest.link.first_live[node] = lowest


@inner
def forget(distinct: DistinctTuples, forest: SearchTree, t: int) -> None:
    """Take a tuple without rows out of the tree."""
    node = np.int64(forest.bucket[t])
    for at in range(forest.link.begin[node], forest.link.end[node]):
        forest.live[at] = forest.live[at] and forest.order[at] != t
    fit(forest, node)
    node = np.int64(forest.link.up[node])
    while node >= 0:
        child = forest.link.left[node]
        lowest = min(forest.link.first_live[child], forest.link.first_live[child + 1])
        changed = lowest != forest.link.first_live[node]
        forest.link.first_live[node] = lowest
        for a in range(distinct.low.shape[1]):
            low, high = forest.low[node, a], forest.high[node, a]
            if forest.link.first_live[child] == DEAD:
                forest.low[node, a], forest.high[node, a] = forest.low[child + 1, a], forest.high[child + 1, a]
            elif forest.link.first_live[child + 1] == DEAD:
                forest.low[node, a], forest.high[node, a] = forest.low[child, a], forest.high[child, a]
            else:
                forest.low[node, a] = min(forest.low[child, a], forest.low[child + 1, a])
                forest.high[node, a] = max(forest.high[child, a], forest.high[child + 1, a])
            changed = changed or low != forest.low[node, a] or high != forest.high[node, a]
        if not changed:
            break
        node = np.int64(forest.link.up[node])


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
    begin, end = forest.link.begin[node], forest.link.end[node]
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
    if costs.attributes.is_tree[a]:
        own = costs.leaves.node[costs.attributes.base[a] + least]
        top = own
        while costs.nodes.first[top] > low or costs.nodes.last[top] < high:
            own = top
            top = costs.nodes.parent[top]
            if top == own:  # the root
                break
        first, last = costs.nodes.first[own], costs.nodes.last[own]
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
def node_after(link: TreeLinks, node: int) -> int:
    """Return the node that comes after one and all that lies below it, -1 behind the last: left before right."""
    while node > 0 and node != link.left[link.up[node]]:
        node = np.int64(link.up[node])
    return node + 1 if node > 0 else np.int64(-1)


@inner
def plant(costs: Costs, distinct: DistinctTuples, room: ClusterRoom, begin: int, end: int, bucket: int) -> int:
    """Build the tree over tuples begin..end, what lies below a node before what lies beside it; return its size."""
    forest = room.forest
    link = forest.link
    lay_in_place(distinct, room, begin, end)
    link.begin[0], link.end[0], link.up[0] = 0, end - begin, -1
    nodes, node = 1, np.int64(0)
    while node >= 0 and not room.halt[0]:
        fit(forest, node)
        first, last = link.begin[node], link.end[node]
        link.left[node] = -1
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
        link.left[node] = nodes
        link.begin[nodes], link.end[nodes], link.up[nodes] = first, middle, node
        link.begin[nodes + 1], link.end[nodes + 1], link.up[nodes + 1] = middle, last, node
        node = np.int64(nodes)
        nodes += 2
    return nodes


@inner
def expand(costs: Costs, forest: SearchTree, heap: Heap, box: ClusterBox, size: int, node: int, version: int) -> int:
    """Put what lies below a tree node into the heap; return the heap's size.

    By least cost; at version -1 by largest cost downward.
    """
    child = np.int64(forest.link.left[node])
    if child < 0:
        for at in range(forest.link.begin[node], forest.link.end[node]):
            if forest.live[at]:
                t = np.int64(forest.order[at])
                key = widened_cost(costs, box, forest.lowest, forest.highest, at)
                size = push(heap, size, -key if version < 0 else key, t, t, version)
        return size
    for below in range(child, child + 2):
        if forest.link.first_live[below] != DEAD:
            if version < 0:
                key = -widened_cost(costs, box, forest.low, forest.high, below)
            else:
                key = cost_at_least(costs, box, forest.low, forest.high, below)
            size = push(heap, size, key, np.int64(forest.link.first_live[below]), -1 - below, version)
    return size


@inner
def next_tuple(
    costs: Costs, distinct: DistinctTuples, forest: SearchTree, heap: Heap, box: ClusterBox, size: int, version: int
) -> int:
    """Bring the best live tuple to the top of the heap, with its exact cost; return the heap's size, 0 if none is."""
    while size > 0:
        ref = np.int64(heap.ref[0])
        if heap.version[0] != version:
            # The cluster has grown since: what was a cost is a lower bound now.
            index = np.int64(heap.lowest[0])
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
