"""Full-domain levels of attributes, and ways through the lattice of all their combinations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kveil.arrays import Bools, Ints, Longs
from kveil.table.tree import Tree

Node = tuple[int, ...]  # a level per attribute


@dataclass(frozen=True)
class FullDomainLevels:
    """What an attribute shows at each level that differs from the one before: level × node, and the levels' numbers."""

    maps: Ints
    numbers: list[int]


def levels_of(tree: Tree, present: Ints) -> FullDomainLevels:
    """Return the full-domain levels of a tree of height H: level n shows nodes at depth at most H − n.

    No node climbs beyond its limit. A level that shows the same as the one before is left out.
    """
    height = int(tree.depth[tree.leaf_nodes].max(initial=0))
    maps: list[Ints] = [np.arange(len(tree.labels), dtype=np.int32)]
    numbers = [0]
    for level in range(1, height + 1):
        node = maps[-1].copy()
        while (moving := (tree.depth[node] > height - level) & ~tree.limit[node]).any():
            node[moving] = tree.parent[node[moving]]
        if not np.array_equal(node[present], maps[-1][present]):
            maps.append(node)
            numbers.append(level)
    return FullDomainLevels(np.array(maps), numbers)


def node_at(place: int, of: Bools) -> Node:
    """Return the node at a place of a flattened lattice."""
    return tuple(int(level) for level in np.unravel_index(place, of.shape))


def by_height(open_to: Bools) -> Longs:
    """Return the places of open nodes, the lowest first, then in the order of their levels."""
    height = np.zeros(open_to.shape, dtype=np.int32)
    for a, size in enumerate(open_to.shape):
        height += np.arange(size, dtype=np.int32).reshape([-1 if i == a else 1 for i in range(open_to.ndim)])
    places = np.flatnonzero(open_to)
    return places[np.argsort(height.reshape(-1)[places], kind="stable")]


def lattice_way(node: Node, undecided: Bools) -> list[Node]:
    """Return a way up through undecided nodes, one level of one attribute at a time, the first that can in turn."""
    way = [node]
    turn = 0
    while True:
        for step in range(len(node)):
            a = (turn + step) % len(node)
            higher = (*node[:a], node[a] + 1, *node[a + 1 :])
            if higher[a] < undecided.shape[a] and undecided[higher]:
                node, turn = higher, a + 1
                way.append(node)
                break
        else:
            return way
