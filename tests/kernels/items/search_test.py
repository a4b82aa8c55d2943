"""Groups of people with common sets of items: joined as by hand, and never worse after a search."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from kveil.kernels.items.layout import LaidSets
from kveil.kernels.items.search import FoundGroups, search_sets
from laid_forests import laid_tree, some_items
from naive.joined_sets import can_show, cost_of
from naive.trees import ListTree, random_tree


def searched(tree: ListTree, costs: list[int], people: list[list[int]], k: int, tries: int) -> FoundGroups:
    """Search from one group of all people, who show the root."""
    start = np.cumsum([0, *map(len, people)]).astype(np.int64)
    laid = LaidSets(start, np.array([item for own in people for item in own], dtype=np.int32))
    half = np.arange(len(people), dtype=np.int32) * 2 // len(people)
    shown = np.zeros(int(start[-1]), dtype=np.int32)
    return search_sets(laid_tree(tree, costs), laid, half, shown, k, tries, 7, np.zeros(1, dtype=np.bool_))


@pytest.mark.parametrize("seed", range(20))
def test_a_search_keeps_groups_of_k_whose_members_show_one_set_and_loses_no_more(seed: int) -> None:
    chance = Random(seed)
    tree = random_tree(chance)
    costs = [round(1000 * tree.share(node)) for node in range(tree.nodes)]
    k = chance.randint(2, 4)
    people = [some_items(chance, tree) for _ in range(chance.randint(2 * k, 40))]
    before = sum(costs[0] * len(own) for own in people)
    after = [before]
    for tries in (0, 5, 60):
        found = searched(tree, costs, people, k, tries)
        sets = [set(found.node[a:b].tolist()) for a, b in zip(found.start, found.start[1:], strict=False)]
        assert min(np.bincount(found.label)[np.unique(found.label)]) >= k
        assert all(can_show(tree, own, sets[g]) for own, g in zip(people, found.label.tolist(), strict=True))
        total = sum(cost_of(tree, costs, own, sets[g]) for own, g in zip(people, found.label.tolist(), strict=True))
        assert total <= after[-1]
        after.append(total)
    again = searched(tree, costs, people, k, 60)
    assert again.label.tolist() == found.label.tolist()


def test_a_search_finds_the_people_who_are_alike() -> None:
    tree = ListTree(
        [0, 0, 1, 1, 0, 4, 4], [0, 0, 0, 1, 2, 2, 3], [3, 1, 0, 1, 3, 2, 3], [0, 1, 2, 2, 1, 2, 2], [2, 3, 5, 6]
    )
    costs = [100, 50, 0, 0, 50, 0, 0]
    people = [[2, 5], [3, 6], [2, 5], [3, 6], [2, 5], [3, 6]]
    found = searched(tree, costs, people, 3, 40)
    assert found.kept > 0
    assert len(set(found.label[::2].tolist())) == len(set(found.label[1::2].tolist())) == 1
    sets = {tuple(found.node[a:b].tolist()) for a, b in zip(found.start, found.start[1:], strict=False) if b > a}
    assert sets == {(2, 5), (3, 6)}
