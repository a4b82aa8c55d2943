"""The compiled loops that reckon what covers a box of leaves and a tuple, and what that costs.

A way up a tree ends at its root, which is above itself, whatever it was to cover.
"""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints
from kveil.kernels.clustering import layout as field
from kveil.kernels.clustering.layout import ClusterBox, Costs, DistinctTuples
from kveil.kernels.jit import inner


@inner
def span_cost(costs: Costs, a: int, low: int, high: int) -> int:
    """Return what a cell costs that shows a span of leaves."""
    base = costs.attributes[a, field.BASE]
    if costs.attributes[a, field.IS_TREE]:
        node = costs.leaves[base + low, field.NODE]
        while costs.nodes[node, field.LAST] < high and costs.nodes[node, field.PARENT] != node:
            node = costs.nodes[node, field.PARENT]
        return costs.nodes[node, field.COST]
    if low == high:
        return 0
    if high == costs.attributes[a, field.MISSING]:
        return costs.attributes[a, field.FULL]
    return min(
        costs.leaves[base + high, field.TOP] - costs.leaves[base + low, field.BOTTOM], costs.attributes[a, field.FULL]
    )


@inner
def widened_cost(costs: Costs, box: ClusterBox, low: Ints, high: Ints, at: int) -> int:
    """Return what a row of a cluster costs once it covers the spans low..high at a place too."""
    total = np.int64(0)
    for a in range(low.shape[1]):
        from_, to = low[at, a], high[at, a]
        start = box.at[a]
        if start >= 0:  # of the nodes that cover the box and one end each, one is above the other, and costs no less
            total += max(box.reach[start + from_], box.reach[start + to])
        elif costs.attributes[a, field.IS_TREE]:
            node = np.int64(box.span[0, a])
            while from_ < costs.nodes[node, field.FIRST] or to > costs.nodes[node, field.LAST]:
                if costs.nodes[node, field.PARENT] == node:
                    break
                node = costs.nodes[node, field.PARENT]
            total += costs.nodes[node, field.COST]
        else:
            total += span_cost(costs, a, min(from_, box.span[1, a]), max(to, box.span[2, a]))
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
            total += box.reach[start + min(max(from_, box.span[1, a]), to)]
        elif costs.attributes[a, field.IS_TREE]:
            node = np.int64(box.span[0, a])
            if from_ > costs.nodes[node, field.LAST]:
                while from_ > costs.nodes[node, field.LAST] and costs.nodes[node, field.PARENT] != node:
                    node = costs.nodes[node, field.PARENT]
            else:
                while to < costs.nodes[node, field.FIRST] and costs.nodes[node, field.PARENT] != node:
                    node = costs.nodes[node, field.PARENT]
            total += costs.nodes[node, field.COST]
        else:
            total += span_cost(costs, a, min(to, box.span[1, a]), max(from_, box.span[2, a]))
    return total


@inner
def fill_reach(costs: Costs, box: ClusterBox, a: int, above: bool) -> None:
    """Note what the leaves below a box's node cost now, in an attribute with a small tree; or also all others."""
    node, start = np.int64(box.span[0, a]), box.at[a]
    first, last = costs.nodes[node, field.FIRST], costs.nodes[node, field.LAST]
    for leaf in range(first, last + 1):
        box.reach[start + leaf] = costs.nodes[node, field.COST]
    while above and costs.nodes[node, field.PARENT] != node:
        node = costs.nodes[node, field.PARENT]
        cost = costs.nodes[node, field.COST]
        for leaf in range(costs.nodes[node, field.FIRST], first):
            box.reach[start + leaf] = cost
        for leaf in range(last + 1, costs.nodes[node, field.LAST] + 1):
            box.reach[start + leaf] = cost
        first, last = costs.nodes[node, field.FIRST], costs.nodes[node, field.LAST]


@inner
def cover(costs: Costs, box: ClusterBox, distinct: DistinctTuples, t: int, fresh: bool) -> bool:
    """Let a cluster cover one tuple more, or it alone; tell whether that changes what it costs to join it."""
    changed = False
    span = box.span
    for a in range(distinct.low.shape[1]):
        low, high = distinct.low[t, a], distinct.high[t, a]
        if costs.attributes[a, field.IS_TREE]:
            node = np.int64(span[0, a])
            if fresh:
                node = costs.leaves[costs.attributes[a, field.BASE] + low, field.NODE]
            while low < costs.nodes[node, field.FIRST] or high > costs.nodes[node, field.LAST]:
                if costs.nodes[node, field.PARENT] == node:
                    break
                node = costs.nodes[node, field.PARENT]
            wider = node != span[0, a]
            changed = changed or wider
            span[0, a] = node
            if box.at[a] >= 0 and (wider or fresh):
                fill_reach(costs, box, a, fresh)
        else:
            changed = changed or low < span[1, a] or high > span[2, a]
        span[1, a] = low if fresh else min(low, span[1, a])
        span[2, a] = high if fresh else max(high, span[2, a])
    return changed
