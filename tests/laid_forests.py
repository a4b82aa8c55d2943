"""Trees of lists laid out as the loops over items read them."""

from __future__ import annotations

from random import Random

import numpy as np

from kveil.kernels.items.layout import Forest
from kveil.kernels.items.search_layout import ItemTree
from naive.trees import ListTree


def forest_of(tree: ListTree, costs: list[int]) -> Forest:
    ways = [tree.way(node)[::-1] for node in tree.leaf_nodes]
    siblings = {c: place for node in range(tree.nodes) for place, c in enumerate(tree.children(node))}
    return Forest(
        np.array(tree.first, dtype=np.int32),
        np.array(tree.last, dtype=np.int32),
        np.array(costs, dtype=np.int64),
        np.cumsum([0, *map(len, ways)]).astype(np.int64),
        np.array([node for way in ways for node in way], dtype=np.int32),
        np.array([len(tree.children(node)) for node in range(tree.nodes)], dtype=np.int32),
        np.array([siblings.get(node, 0) for node in range(tree.nodes)], dtype=np.int32),
    )


def laid_tree(tree: ListTree, costs: list[int], prices: list[int] | None = None) -> ItemTree:
    ways = [tree.way(node)[::-1] for node in tree.leaf_nodes]
    return ItemTree(
        np.array(tree.first, dtype=np.int32),
        np.array(tree.depth, dtype=np.int32),
        np.array([-1, *tree.parent[1:]], dtype=np.int32),
        np.cumsum([0, *map(len, ways)]).astype(np.int64),
        np.array([node for way in ways for node in way], dtype=np.int32),
        np.array([costs, costs if prices is None else prices], dtype=np.int64),
    )


def some_items(chance: Random, tree: ListTree) -> list[int]:
    number = chance.randint(1, min(4, tree.leaves))
    return sorted(tree.leaf_nodes[leaf] for leaf in chance.sample(range(tree.leaves), number))
