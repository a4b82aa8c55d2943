"""The compiled loops behind `combinations`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.clustering.boxes_loops import span_cost
from kveil.kernels.clustering.layout import Costs
from kveil.kernels.items.by_children_loops import first_below
from kveil.kernels.items.layout import ClusterItems, Forest
from kveil.kernels.jit import door, inner


@inner
def shown_node(forest: Forest, items: ClusterItems, place: int) -> int:
    """Return the node that a cluster's item is shown as."""
    return forest.way[forest.way_start[items.leaf[place]] + items.level[place]]


@inner
def price_of_parent(forest: Forest, items: ClusterItems, cluster: int, parent: int) -> int:
    """Return what it costs to show everything of a cluster below a node as that node."""
    price = np.int64(0)
    for i in range(first_below(forest, items.start, items.leaf, cluster, parent), items.start[cluster + 1]):
        if items.leaf[i] > forest.last[parent]:
            break
        price += items.members[i] * (forest.cost[parent] - forest.cost[shown_node(forest, items, i)])
    return price


@door
def climb_all(forest: Forest, items: ClusterItems, cluster: Ints, nodes: Ints) -> int:
    """Generalize one item of each combination; see `combinations.climb`."""
    climbed = 0
    for v in range(nodes.shape[0]):
        c = cluster[v]
        best = np.int64(-1)
        level = np.int32(0)
        best_price = np.int64(0)
        for j in range(nodes.shape[1]):
            node = np.int64(nodes[v, j])
            i = first_below(forest, items.start, items.leaf, c, node)
            if i == items.start[c + 1] or shown_node(forest, items, i) != node:
                best = -2  # an earlier combination has changed this one
                break
            if items.level[i] == 0:
                continue
            parent = np.int64(forest.way[forest.way_start[items.leaf[i]] + items.level[i] - 1])
            price = price_of_parent(forest, items, c, parent)
            if best < 0 or price < best_price:
                best, best_price, level = parent, price, items.level[i] - 1
        if best < 0:
            continue
        climbed += 1
        for i in range(first_below(forest, items.start, items.leaf, c, best), items.start[c + 1]):
            if items.leaf[i] > forest.last[best]:
                break
            items.level[i] = level
    return climbed


@inner
def row_cost(costs: Costs, low: Ints, high: Ints, one: int, other: int, most: int) -> int:
    """Return what a row costs that shows what covers two clusters; ``most`` and more are all the same."""
    total = np.int64(0)
    for a in range(len(costs.attributes.full)):
        bottom = min(low[one, a], low[other, a])
        top = max(high[one, a], high[other, a])
        if bottom < top:
            total += span_cost(costs, a, bottom, top)
        if total >= most:
            return most
    return total


@door
def merge_clusters(
    costs: Costs, low: Ints, high: Ints, size: Longs, group: Ints, most: int, into: Ints, cost: Longs, alone: Bools,
    halt: Bools,
) -> None:  # fmt: skip
    """Merge nearest clusters while the total cost allows it; see `combinations.merge_nearest`.

    ``alone`` are those that have nothing left in their group to merge with. It ends where the flag ``halt`` is raised.
    """
    clusters = len(size)
    far = np.int64(1) << 62
    total = np.int64(0)
    everything = np.int64(0)  # what a row costs that shows nothing: no merging goes that far
    for a in range(len(costs.attributes.full)):
        everything += costs.attributes.full[a]
    for c in range(clusters):
        cost[c] = row_cost(costs, low, high, c, c, far)
        total += cost[c] * size[c]
    while not halt[0]:
        seed = -1
        for c in range(clusters):
            if into[c] == c and not alone[c] and (seed < 0 or cost[c] < cost[seed]):
                seed = c
        if seed < 0:
            break
        nearest, least = -1, everything
        for c in range(clusters):
            if c != seed and into[c] == c and group[c] == group[seed]:
                price = row_cost(costs, low, high, seed, c, least)
                if price < least:
                    nearest, least = c, price
        if nearest < 0:
            alone[seed] = True
            continue
        after = total - cost[seed] * size[seed] - cost[nearest] * size[nearest] + least * (size[seed] + size[nearest])
        if after > most:
            break
        total = after
        keep, gone = min(seed, nearest), max(seed, nearest)
        for a in range(len(costs.attributes.full)):
            low[keep, a] = min(low[keep, a], low[gone, a])
            high[keep, a] = max(high[keep, a], high[gone, a])
        size[keep] += size[gone]
        cost[keep] = least
        into[gone] = keep
    for c in range(clusters):
        while into[into[c]] != into[c]:
            into[c] = into[into[c]]
