"""Sets of items are opened until none can be, whatever the number of threads."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest

from kveil.arrays import Ints
from kveil.kernels.items import partition
from kveil.kernels.items.layout import LaidSets
from kveil.kernels.items.partition import _items_of, _shares, generalize_sets
from laid_forests import forest_of
from naive.trees import ListTree, random_tree


def made(seed: int, records: int) -> tuple[ListTree, list[int], LaidSets, list[list[int]]]:
    chance = Random(seed)
    tree = random_tree(chance)
    costs = [round(1000 * tree.share(node)) for node in range(tree.nodes)]
    sets = [sorted(chance.choices(range(tree.leaves), k=chance.randint(1, 3))) for _ in range(records)]
    start = np.cumsum([0, *map(len, sets)]).astype(np.int64)
    return tree, costs, LaidSets(start, np.array([leaf for own in sets for leaf in own], dtype=np.int32)), sets


def shown_sets(shown: Ints, sets: LaidSets) -> list[frozenset[int]]:
    return [frozenset(shown[a:b].tolist()) for a, b in zip(sets.start, sets.start[1:], strict=False)]


@pytest.mark.parametrize("patient", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_k_records_share_every_shown_set_and_items_show_what_is_above_them(seed: int, patient: bool) -> None:
    tree, costs, sets, _ = made(seed, 20)
    k = 1 + seed % 5
    order = np.array(Random(seed).sample(range(20), 17), dtype=np.int32)
    shown = generalize_sets(forest_of(tree, costs), sets, order, k, patient)
    found = shown_sets(shown, sets)
    assert min(Counter(found[record] for record in order.tolist()).values()) >= k
    for node, leaf in zip(shown.tolist(), sets.leaf.tolist(), strict=True):
        assert node in tree.way(tree.leaf_nodes[leaf])
    others = set(range(20)) - set(order.tolist())
    assert all(found[record] == {0} for record in others)  # they stay at the root
    if k == 1:  # nobody has to share anything
        items = [i for record in order.tolist() for i in range(sets.start[record], sets.start[record + 1])]
        assert [int(shown[i]) for i in items] == [tree.leaf_nodes[sets.leaf[i]] for i in items]


def test_fewer_than_k_records_show_the_root() -> None:
    tree, costs, sets, _ = made(1, 4)
    shown = generalize_sets(forest_of(tree, costs), sets, np.arange(4, dtype=np.int32), 5)
    assert not shown.any()


@pytest.mark.parametrize("seed", range(4))
def test_threads_change_nothing_but_the_time(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, costs, sets, _ = made(seed, 200)
    order = np.arange(200, dtype=np.int32)
    alone = generalize_sets(forest_of(tree, costs), sets, order, 3)
    monkeypatch.setattr(partition, "MANY", 10)
    monkeypatch.setattr(partition, "threads", lambda: 3)
    assert generalize_sets(forest_of(tree, costs), sets, order, 3).tolist() == alone.tolist()


def test_parts_are_dealt_out_largest_first_and_none_is_lost() -> None:
    parts = np.array([[0, 5], [5, 6], [6, 100], [100, 104]])
    shares = _shares(parts)
    assert shares[0][0].tolist() == [6, 100]
    assert sorted(map(tuple, np.concatenate(shares).tolist())) == sorted(map(tuple, parts.tolist()))
    assert _items_of(np.array([0, 2, 2, 5]), np.array([2, 0])).tolist() == [2, 3, 4, 0, 1]
