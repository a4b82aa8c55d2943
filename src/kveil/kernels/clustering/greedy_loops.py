"""The compiled loops behind `clusters`; importing this module imports Numba.

Tuples stand in a binary tree whose nodes keep, for every attribute, the smallest and largest leaf below them. A
search keeps a heap of tree nodes and tuples by (bound, lowest tuple): the first tuple that comes out with its exact
cost is the best one, and of equals the first in canonical order. A cluster's cost for a tuple only grows with the
cluster, so what is in the heap stays a lower bound and one heap serves until the cluster is full.

Few arrays of several columns instead of many arrays: what a function takes is most of what compiling it costs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from kveil.arrays import Ints, Longs
from kveil.kernels.clustering.greedy import Costs, Items

BUCKET = 8  # tuples a tree node holds before it is split
DEAD = 2**31 - 1
PARENT, FIRST, LAST, COST = range(4)  # of Costs.nodes
NODE, BOTTOM, TOP = range(3)  # of Costs.leaves
IS_TREE, BASE, FULL, MISSING = range(4)  # of Costs.attributes
LOWEST, LEFT, UP, BEGIN, END = range(5)  # of Forest.link
INDEX, REF, VERSION = range(3)  # of Heap.entry


class Forest(NamedTuple):
    """A tree over the tuples of one group at a time; node 0 is its root.

    ``link``: the first live tuple below a node, DEAD where none is; the left child (the right one is the next node),
    -1 for a bucket; the node above; where its tuples begin and end in ``order``. ``bucket`` is every tuple's.
    """

    low: Ints
    high: Ints
    link: Ints
    order: Ints
    bucket: Ints


class Heap(NamedTuple):
    """A binary heap by key, then tuple; an entry refers to a tuple, or as -1 - n to tree node n."""

    key: Longs
    entry: Ints


@njit(cache=True, nogil=True)
def push(heap: Heap, size: int, key: int, index: int, ref: int, version: int) -> int:
    """Add an entry; return the new size."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if heap.key[above] < key or (heap.key[above] == key and heap.entry[above, INDEX] <= index):
            break
        heap.key[at] = heap.key[above]
        for field in range(3):
            heap.entry[at, field] = heap.entry[above, field]
        at = above
    heap.key[at] = key
    heap.entry[at, INDEX] = index
    heap.entry[at, REF] = ref
    heap.entry[at, VERSION] = version
    return size + 1


@njit(cache=True, nogil=True)
def drop_first(heap: Heap, size: int) -> int:
    """Take the first entry out; return the new size."""
    size -= 1
    key, index = heap.key[size], heap.entry[size, INDEX]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        other = child + 1
        if other < size and (
            heap.key[other] < heap.key[child]
            or (heap.key[other] == heap.key[child] and heap.entry[other, INDEX] < heap.entry[child, INDEX])
        ):
            child = other
        if key < heap.key[child] or (key == heap.key[child] and index <= heap.entry[child, INDEX]):
            break
        heap.key[at] = heap.key[child]
        for field in range(3):
            heap.entry[at, field] = heap.entry[child, field]
        at = child
    heap.key[at] = key
    for field in range(3):
        heap.entry[at, field] = heap.entry[size, field]
    return size


@njit(cache=True, nogil=True)
def span_cost(costs: Costs, a: int, low: int, high: int) -> int:
    """Return what a cell costs that shows a span of leaves."""
    base = costs.attributes[a, BASE]
    if costs.attributes[a, IS_TREE]:
        node = costs.leaves[base + low, NODE]
        while costs.nodes[node, LAST] < high:
            node = costs.nodes[node, PARENT]
        return costs.nodes[node, COST]
    if low == high:
        return 0
    if high == costs.attributes[a, MISSING]:
        return costs.attributes[a, FULL]
    return min(costs.leaves[base + high, TOP] - costs.leaves[base + low, BOTTOM], costs.attributes[a, FULL])


@njit(cache=True, nogil=True)
def joined_cost(costs: Costs, box: Ints, low: Ints, high: Ints, at: int) -> int:
    """Return what a row of a cluster costs once it covers the spans low..high at a place too.

    ``box`` is what the cluster covers: for every attribute its node in the tree, its first and its last leaf.
    """
    total = np.int64(0)
    for a in range(low.shape[1]):
        from_, to = low[at, a], high[at, a]
        if costs.attributes[a, IS_TREE]:
            node = np.int64(box[0, a])
            while from_ < costs.nodes[node, FIRST] or to > costs.nodes[node, LAST]:
                node = costs.nodes[node, PARENT]
            total += costs.nodes[node, COST]
        else:
            total += span_cost(costs, a, min(from_, box[1, a]), max(to, box[2, a]))
    return total


@njit(cache=True, nogil=True)
def least_cost(costs: Costs, box: Ints, low: Ints, high: Ints, at: int) -> int:
    """Return a lower bound of what a row of a cluster costs once any tuple inside low..high has joined it.

    Of an attribute's leaves there, the one nearest to the cluster's counts.
    """
    total = np.int64(0)
    for a in range(low.shape[1]):
        from_, to = low[at, a], high[at, a]
        if costs.attributes[a, IS_TREE]:
            node = np.int64(box[0, a])
            if from_ > costs.nodes[node, LAST]:
                while from_ > costs.nodes[node, LAST]:
                    node = costs.nodes[node, PARENT]
            else:
                while to < costs.nodes[node, FIRST]:
                    node = costs.nodes[node, PARENT]
            total += costs.nodes[node, COST]
        else:
            total += span_cost(costs, a, min(to, box[1, a]), max(from_, box[2, a]))
    return total


@njit(cache=True, nogil=True)
def cover(costs: Costs, box: Ints, items: Items, item: int, fresh: bool) -> bool:
    """Let a cluster cover one tuple more, or it alone; tell whether that changes what it costs to join it."""
    changed = False
    for a in range(items.low.shape[1]):
        low, high = items.low[item, a], items.high[item, a]
        if costs.attributes[a, IS_TREE]:
            node = np.int64(box[0, a])
            if fresh:
                node = costs.leaves[costs.attributes[a, BASE] + low, NODE]
            while low < costs.nodes[node, FIRST] or high > costs.nodes[node, LAST]:
                node = costs.nodes[node, PARENT]
            changed = changed or node != box[0, a]
            box[0, a] = node
        else:
            changed = changed or low < box[1, a] or high > box[2, a]
        box[1, a] = low if fresh else min(low, box[1, a])
        box[2, a] = high if fresh else max(high, box[2, a])
    return changed


@njit(cache=True, nogil=True)
def merge(forest: Forest, node: int, low: Ints, high: Ints, at: int, first: bool) -> None:
    """Let a tree node cover the spans low..high at a place, too or alone."""
    for a in range(low.shape[1]):
        forest.low[node, a] = low[at, a] if first else min(forest.low[node, a], low[at, a])
        forest.high[node, a] = high[at, a] if first else max(forest.high[node, a], high[at, a])


@njit(cache=True, nogil=True)
def fit(items: Items, forest: Forest, left: Longs, node: int) -> None:
    """Recompute a bucket, or a node that has no children yet, from its live tuples."""
    lowest = DEAD
    for at in range(forest.link[node, BEGIN], forest.link[node, END]):
        item = np.int64(forest.order[at])
        if left[item] > 0:
            merge(forest, node, items.low, items.high, item, lowest == DEAD)
            lowest = min(lowest, item)
    forest.link[node, LOWEST] = lowest


@njit(cache=True, nogil=True)
def forget(items: Items, forest: Forest, left: Longs, item: int) -> None:
    """Take a tuple without rows out of the tree."""
    node = np.int64(forest.bucket[item])
    fit(items, forest, left, node)
    node = np.int64(forest.link[node, UP])
    while node >= 0:
        child = forest.link[node, LEFT]
        lowest = min(forest.link[child, LOWEST], forest.link[child + 1, LOWEST])
        changed = lowest != forest.link[node, LOWEST]
        forest.link[node, LOWEST] = lowest
        for a in range(items.low.shape[1]):
            low, high = forest.low[node, a], forest.high[node, a]
            if forest.link[child, LOWEST] == DEAD:
                forest.low[node, a], forest.high[node, a] = forest.low[child + 1, a], forest.high[child + 1, a]
            elif forest.link[child + 1, LOWEST] == DEAD:
                forest.low[node, a], forest.high[node, a] = forest.low[child, a], forest.high[child, a]
            else:
                forest.low[node, a] = min(forest.low[child, a], forest.low[child + 1, a])
                forest.high[node, a] = max(forest.high[child, a], forest.high[child + 1, a])
            changed = changed or low != forest.low[node, a] or high != forest.high[node, a]
        if not changed:
            break
        node = np.int64(forest.link[node, UP])


@njit(cache=True, nogil=True)
def cut_of(costs: Costs, items: Items, forest: Forest, node: int) -> tuple[int, int]:
    """Return the attribute that costs most below a node, and the leaf before which to cut it: near to halves.

    A child of the attribute's tree stays whole.
    """
    best, a = np.int64(-1), 0
    for other in range(items.low.shape[1]):
        if forest.low[node, other] < forest.high[node, other]:
            cost = span_cost(costs, other, forest.low[node, other], forest.high[node, other])
            if cost > best:
                best, a = cost, other
    begin, end = forest.link[node, BEGIN], forest.link[node, END]
    low, high = np.int64(forest.low[node, a]), np.int64(forest.high[node, a])
    least, most = low, high
    while least < most:  # the middle leaf, by halving
        middle = (least + most) >> 1
        upto = 0
        for at in range(begin, end):
            upto += items.low[forest.order[at], a] <= middle
        if 2 * upto >= end - begin:
            most = middle
        else:
            least = middle + 1
    first, last = least, least
    if costs.attributes[a, IS_TREE]:
        own = costs.leaves[costs.attributes[a, BASE] + least, NODE]
        top = own
        while costs.nodes[top, FIRST] > low or costs.nodes[top, LAST] < high:
            own = top
            top = costs.nodes[top, PARENT]
        first, last = costs.nodes[own, FIRST], costs.nodes[own, LAST]
    before, after = 0, 0
    for at in range(begin, end):
        before += items.low[forest.order[at], a] < first
        after += items.low[forest.order[at], a] > last
    return a, first if before >= after else last + 1


@njit(cache=True, nogil=True)
def plant(costs: Costs, items: Items, forest: Forest, left: Longs, begin: int, end: int, bucket: int) -> int:
    """Build the tree over tuples begin..end, parents before children; return the number of its nodes."""
    link, order = forest.link, forest.order
    for item in range(begin, end):
        order[item - begin] = item
    link[0, BEGIN], link[0, END], link[0, UP] = 0, end - begin, -1
    nodes, node = 1, 0
    while node < nodes:
        fit(items, forest, left, node)
        first, last = link[node, BEGIN], link[node, END]
        link[node, LEFT] = -1
        if last - first > bucket:
            a, cut = cut_of(costs, items, forest, node)
            middle = first
            for at in range(first, last):
                item = order[at]
                if items.low[item, a] < cut:
                    order[at] = order[middle]
                    order[middle] = item
                    middle += 1
            if not first < middle < last:
                middle = (first + last) // 2  # spans that start alike
            link[node, LEFT] = nodes
            link[nodes, BEGIN], link[nodes, END], link[nodes, UP] = first, middle, node
            link[nodes + 1, BEGIN], link[nodes + 1, END], link[nodes + 1, UP] = middle, last, node
            nodes += 2
        else:
            for at in range(first, last):
                forest.bucket[order[at]] = node
        node += 1
    return nodes


@njit(cache=True, nogil=True)
def new_forest(items: Items, groups: Longs) -> Forest:
    """Return room for the tree of the largest group."""
    largest = 1
    for g in range(len(groups) - 1):
        largest = max(largest, groups[g + 1] - groups[g])
    width = items.low.shape[1]
    return Forest(  # cuts need not be even: a bucket may hold one tuple
        np.empty((2 * largest, width), dtype=np.int32),
        np.empty((2 * largest, width), dtype=np.int32),
        np.empty((2 * largest, 5), dtype=np.int32),
        np.empty(largest, dtype=np.int32),
        np.empty(len(items.low), dtype=np.int32),
    )


@njit(cache=True, nogil=True)
def expand(
    costs: Costs, items: Items, forest: Forest, heap: Heap, left: Longs, box: Ints, size: int, node: int, version: int
) -> int:
    """Put what lies below a tree node into the heap; return the heap's size.

    By least cost; at version -1 by largest cost downward.
    """
    child = np.int64(forest.link[node, LEFT])
    if child < 0:
        for at in range(forest.link[node, BEGIN], forest.link[node, END]):
            item = np.int64(forest.order[at])
            if left[item] > 0:
                key = joined_cost(costs, box, items.low, items.high, item)
                size = push(heap, size, -key if version < 0 else key, item, item, version)
        return size
    for below in range(child, child + 2):
        if forest.link[below, LOWEST] != DEAD:
            if version < 0:
                key = -joined_cost(costs, box, forest.low, forest.high, below)
            else:
                key = least_cost(costs, box, forest.low, forest.high, below)
            size = push(heap, size, key, np.int64(forest.link[below, LOWEST]), -1 - below, version)
    return size


@njit(cache=True, nogil=True)
def next_item(
    costs: Costs, items: Items, forest: Forest, heap: Heap, left: Longs, box: Ints, size: int, version: int
) -> int:
    """Bring the best live tuple to the top of the heap, with its exact cost; return the heap's size, 0 if none is."""
    while size > 0:
        ref = np.int64(heap.entry[0, REF])
        if heap.entry[0, VERSION] != version:
            # The cluster has grown since: what was a cost is a lower bound now.
            index = np.int64(heap.entry[0, INDEX])
            if ref >= 0:
                key = joined_cost(costs, box, items.low, items.high, ref)
            else:
                key = least_cost(costs, box, forest.low, forest.high, -1 - ref)
            size = drop_first(heap, size)
            size = push(heap, size, key, index, ref, version)
        elif ref >= 0:
            return size
        else:
            size = drop_first(heap, size)
            size = expand(costs, items, forest, heap, left, box, size, -1 - ref, version)
    return size


@njit(cache=True, nogil=True)
def take(items: Items, forest: Forest, left: Longs, label: Ints, item: int, number: int, cluster: int) -> None:
    """Give rows of a tuple to a cluster, the first in canonical order."""
    at = items.start[item + 1] - left[item]
    for row in range(at, at + number):
        label[row] = cluster
    left[item] -= number
    if left[item] == 0:
        forget(items, forest, left, item)


@njit(cache=True, nogil=True)
def place_rest(
    costs: Costs, items: Items, left: Longs, begin: int, end: int, label: Ints, low: Ints, high: Ints, sizes: Longs,
    first: int, last: int,
) -> None:  # fmt: skip
    """Let every row that is left over join the cluster whose total loss grows least; of equals the first."""
    width = items.low.shape[1]
    for item in range(begin, end):
        while left[item] > 0:
            best, chosen = np.int64(0), -1
            for c in range(first, last):
                growth = np.int64(0)
                for a in range(width):
                    growth -= span_cost(costs, a, low[c, a], high[c, a]) * sizes[c]
                    from_, to = min(low[c, a], items.low[item, a]), max(high[c, a], items.high[item, a])
                    growth += span_cost(costs, a, from_, to) * (sizes[c] + 1)
                if chosen < 0 or growth < best:
                    best, chosen = growth, c
            label[items.start[item + 1] - left[item]] = chosen
            left[item] -= 1
            sizes[chosen] += 1
            for a in range(width):
                low[chosen, a] = min(low[chosen, a], items.low[item, a])
                high[chosen, a] = max(high[chosen, a], items.high[item, a])


@njit(cache=True, nogil=True)
def cluster_groups(costs: Costs, items: Items, groups: Longs, k: int) -> tuple[Ints, Ints, Ints, Longs, Ints]:
    """Cluster every group greedily (Byun et al. 2006); see `kveil.kernels.clustering.greedy.cluster`."""
    width = items.low.shape[1]
    left = np.empty(len(items.low), dtype=np.int64)
    for item in range(len(items.low)):
        left[item] = items.start[item + 1] - items.start[item]
    number = 0
    for g in range(len(groups) - 1):
        number += (items.start[groups[g + 1]] - items.start[groups[g]]) // k
    label = np.empty(items.start[-1], dtype=np.int32)
    low, high = np.empty((number, width), dtype=np.int32), np.empty((number, width), dtype=np.int32)
    sizes = np.empty(number, dtype=np.int64)
    group = np.empty(number, dtype=np.int32)
    forest = new_forest(items, groups)
    room = 3 * len(forest.order) + 4
    heap = Heap(np.empty(room, dtype=np.int64), np.empty((room, 3), dtype=np.int32))
    box, origin = np.zeros((3, width), dtype=np.int32), np.zeros((3, width), dtype=np.int32)
    made = 0
    for g in range(len(groups) - 1):
        begin, end = groups[g], groups[g + 1]
        waiting = items.start[end] - items.start[begin]
        plant(costs, items, forest, left, begin, end, BUCKET)
        cover(costs, origin, items, begin, True)  # the first canonical record
        first = made
        while waiting >= k:
            need, version = k, -1  # first the farthest from the last seed, then those that add least loss
            size = push(heap, 0, 0, 0, -1, version)
            while need > 0:
                size = next_item(costs, items, forest, heap, left, origin if version < 0 else box, size, version)
                item = np.int64(heap.entry[0, REF])
                rows = min(need, left[item]) if version >= 0 else 1
                take(items, forest, left, label, item, rows, made)
                need -= rows
                wider = cover(costs, origin if version < 0 else box, items, item, version < 0)
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
        place_rest(costs, items, left, begin, end, label, low, high, sizes, first, made)
    return label, low, high, sizes, group


@njit(cache=True, nogil=True)
def split_blocks(costs: Costs, items: Items, groups: Longs, largest: int) -> tuple[Ints, Longs]:
    """Split groups into blocks of neighbouring tuples; see `kveil.kernels.clustering.greedy.blocks`."""
    left = np.ones(len(items.low), dtype=np.int64)
    forest = new_forest(items, groups)
    order = np.empty(len(items.low), dtype=np.int32)
    is_start = np.zeros(len(items.low) + 1, dtype=np.bool_)
    for g in range(len(groups) - 1):
        begin, end = groups[g], groups[g + 1]
        nodes = plant(costs, items, forest, left, begin, end, largest)
        order[begin:end] = forest.order[: end - begin]
        for node in range(nodes):
            is_start[begin + forest.link[node, BEGIN]] = True
    is_start[len(items.low)] = True
    return order, np.flatnonzero(is_start)
