"""The compiled loops that reckon what covers a box of leaves and a tuple, and what that costs.

A way up a tree ends at its root, which is above itself, whatever it was to cover.
"""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints
from kveil.kernels.clustering.layout import ClusterBox, Costs, DistinctTuples
from kveil.kernels.jit import inner


@inner
def span_cost(costs: Costs, a: int, low: int, high: int) -> int:
    """Return what a cell costs that shows a span of leaves."""
    base = costs.attributes.base[a]
    if costs.attributes.is_tree[a]:
        node = costs.leaves.node[base + low]
        while costs.nodes.last[node] < high and costs.nodes.parent[node] != node:
            node = costs.nodes.parent[node]
        return costs.nodes.cost[node]
    if low == high:
        return 0
    if high == costs.attributes.missing[a]:
        return costs.attributes.full[a]
    return min(costs.leaves.top[base + high] - costs.leaves.bottom[base + low], costs.attributes.full[a])


@inner
def widened_cost(costs: Costs, box: ClusterBox, low: Ints, high: Ints, at: int) -> int:
    """Return what a row of a cluster costs once it covers the spans low..high at a place too."""
    total = np.int64(0)
    for a in range(low.shape[1]):
        from_, to = low[at, a], high[at, a]
        start = box.at[a]
        if start >= 0:  # of the nodes that cover the box and one end each, one is above the other, and costs no less
            total += max(box.reach[start + from_], box.reach[start + to])
        elif costs.attributes.is_tree[a]:
            node = np.int64(box.node[a])
            while from_ < costs.nodes.first[node] or to > costs.nodes.last[node]:
                if costs.nodes.parent[node] == node:
                    break
                node = costs.nodes.parent[node]
            total += costs.nodes.cost[node]
        else:
            total += span_cost(costs, a, min(from_, box.first[a]), max(to, box.last[a]))
    return total


@inner
def cost_at_least(costs: Costs, box: ClusterBox, low: Ints, high: Ints, at: int) -> int:
    """Return a lower bound of what a row of a cluster costs once any tuple inside low..high has joined it.

    Of an attribute's leaves there, the one nearest to the cluster's counts.
    """
    total = np.int64(0)
    for a in range(low.shape[1]):
        from_, to = low[at, a], high[at, a]
        start = box.at[a]
        if start >= 0:
            total += box.reach[start + min(max(from_, box.first[a]), to)]
        elif costs.attributes.is_tree[a]:
            node = np.int64(box.node[a])
            if from_ > costs.nodes.last[node]:
                while from_ > costs.nodes.last[node] and costs.nodes.parent[node] != node:
                    node = costs.nodes.parent[node]
            else:
                while to < costs.nodes.first[node] and costs.nodes.parent[node] != node:
                    node = costs.nodes.parent[node]
            total += costs.nodes.cost[node]
        else:
            total += span_cost(costs, a, min(to, box.first[a]), max(from_, box.last[a]))
    return total


@inner
def fill_reach(costs: Costs, box: ClusterBox, a: int, above: bool) -> None:
    """Note what the leaves below a box's node cost now, in an attribute with a small tree; or also all others."""
    node, start = np.int64(box.node[a]), box.at[a]
    first, last = costs.nodes.first[node], costs.nodes.last[node]
    for leaf in range(first, last + 1):
        box.reach[start + leaf] = costs.nodes.cost[node]
    while above and costs.nodes.parent[node] != node:
        node = costs.nodes.parent[node]
        cost = costs.nodes.cost[node]
        for leaf in range(costs.nodes.first[node], first):
            box.reach[start + leaf] = cost
        for leaf in range(last + 1, costs.nodes.last[node] + 1):
            box.reach[start + leaf] = cost
        first, last = costs.nodes.first[node], costs.nodes.last[node]


@inner
def cover(costs: Costs, box: ClusterBox, distinct: DistinctTuples, t: int, fresh: bool) -> bool:
    """Let a cluster cover one tuple more, or it alone; tell whether that changes what it costs to join it."""
    changed = False
    for a in range(distinct.low.shape[1]):
        low, high = distinct.low[t, a], distinct.high[t, a]
        if costs.attributes.is_tree[a]:
            node = np.int64(box.node[a])
            if fresh:
                node = costs.leaves.node[costs.attributes.base[a] + low]
            while low < costs.nodes.first[node] or high > costs.nodes.last[node]:
                if costs.nodes.parent[node] == node:
                    break
                node = costs.nodes.parent[node]
            wider = node != box.node[a]
            changed = changed or wider
            box.node[a] = node
            if box.at[a] >= 0 and (wider or fresh):
                fill_reach(costs, box, a, fresh)
        else:
            changed = changed or low < box.first[a] or high > box.last[a]
        box.first[a] = low if fresh else min(low, box.first[a])
        box.last[a] = high if fresh else max(high, box.last[a])
    return changed
