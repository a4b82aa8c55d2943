"""Generalizing combinations of items and merging clusters, beside the slow way: costs are added up anew every time."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from kveil.kernels.items.combinations import climb, merge_nearest
from kveil.kernels.items.layout import ClusterItems
from laid_clusters import laid_out
from laid_forests import forest_of
from naive.clusters import random_clusters
from naive.trees import ListTree, random_tree
from strategies import seeds

Shown = list[dict[int, int]]  # for every cluster: what each of its leaves is shown as


def climbed_by_hand(
    tree: ListTree, costs: list[int], members: list[dict[int, int]], shown: Shown, asked: list[tuple[int, list[int]]]
) -> int:
    """Generalize one node of every combination that is still shown; change ``shown``, return how many were."""
    changed = 0
    for cluster, combination in asked:
        own = shown[cluster]
        if not set(combination) <= set(own.values()):
            continue
        prices = []
        for node in combination:
            way = tree.way(node)  # to the root
            if len(way) > 1:
                below = [leaf for leaf in own if way[1] in tree.way(tree.leaf_nodes[leaf])]
                price = sum(members[cluster][leaf] * (costs[way[1]] - costs[own[leaf]]) for leaf in below)
                prices.append((price, len(prices), way[1], below))
        if prices:
            _, _, parent, below = min(prices)
            own.update(dict.fromkeys(below, parent))
            changed += 1
    return changed


@pytest.mark.parametrize("seed", seeds(0, 150))
def test_the_node_goes_up_whose_parent_costs_its_cluster_least(seed: int) -> None:
    chance = Random(seed)
    tree = random_tree(chance, most_children=4, most_depth=3)
    costs = [round(1000 * tree.share(node)) for node in range(tree.nodes)]
    clusters = [
        {leaf: chance.randint(1, 5) for leaf in chance.sample(range(tree.leaves), chance.randint(1, tree.leaves))}
        for _ in range(3)
    ]
    shown: Shown = [{leaf: tree.leaf_nodes[leaf] for leaf in sorted(own)} for own in clusters]
    items = ClusterItems(
        np.cumsum([0, *map(len, clusters)]).astype(np.int64),
        np.array([leaf for own in shown for leaf in own], dtype=np.int32),
        np.array([own[leaf] for own, laid in zip(clusters, shown, strict=True) for leaf in laid], dtype=np.int64),
        np.array([len(tree.way(node)) - 1 for own in shown for node in own.values()], dtype=np.int32),
    )
    for _ in range(4):  # what one round leaves is where the next begins
        asked = []
        for cluster in chance.choices(range(3), k=4):
            nodes = sorted(set(shown[cluster].values()))
            asked.append((cluster, [chance.choice(nodes), chance.choice(nodes)]))
        expected = climbed_by_hand(tree, costs, clusters, shown, asked)
        numbers, combinations = zip(*asked, strict=True)
        changed = climb(
            forest_of(tree, costs), items, np.array(numbers, dtype=np.int32), np.array(combinations, dtype=np.int32)
        )
        assert changed == expected
        at = [tree.way(tree.leaf_nodes[leaf])[::-1][level] for leaf, level in zip(items.leaf, items.level, strict=True)]
        assert at == [node for own in shown for node in own.values()]


@pytest.mark.parametrize("spans", [False, True])
@pytest.mark.parametrize("seed", seeds(0, 60))
def test_the_cheapest_cluster_merges_with_its_nearest_while_the_total_allows_it(seed: int, spans: bool) -> None:
    chance = Random(seed)
    case = random_clusters(chance, 1, spans=spans)
    costs, distinct = laid_out(case)
    low, high = distinct.low.copy(), distinct.high.copy()
    group = np.repeat(np.arange(len(case.groups) - 1, dtype=np.int32), np.diff(case.groups))
    whole = sum(case.rows) * sum(own.full for own in case.attributes)
    most = chance.choice([0, whole // 4, whole // 2, whole])
    into = merge_nearest(costs, low, high, np.array(case.rows, dtype=np.int64), group, most).tolist()
    expected = case.merged(most)
    assert {c: [t for t, own in enumerate(into) if own == c] for c in sorted(set(into))} == {
        c: sorted(own) for c, own in sorted(expected.items())
    }
    for c, own in expected.items():
        assert low[c].tolist() == distinct.low[own].min(axis=0).tolist()
        assert high[c].tolist() == distinct.high[own].max(axis=0).tolist()
