"""Groups of people with common sets of items: joined as by hand, and never worse after a search."""

from __future__ import annotations

from random import Random
from typing import Any

import numba
import numpy as np
import pytest

from kveil.kernels.items.join_loops import join_sets
from kveil.kernels.items.layout import LaidSets
from kveil.kernels.items.search import FoundGroups, search_sets
from kveil.kernels.items.search_layout import ItemTree, NodeSets
from naive.joined_sets import Weighted, can_show, cost_of, joined
from naive.trees import ListTree, random_tree


@numba.njit
def call_join(tree: Any, sets: Any, one: int, other: int, into: int, stack: Any) -> int:
    return join_sets(tree, sets, one, other, into, 0, stack)  # type: ignore[no-any-return]


def laid_tree(tree: ListTree, costs: list[int]) -> ItemTree:
    ways = [tree.way(node)[::-1] for node in tree.leaf_nodes]
    return ItemTree(
        np.array(tree.first, dtype=np.int32),
        np.array(tree.depth, dtype=np.int32),
        np.array([-1, *tree.parent[1:]], dtype=np.int32),
        np.cumsum([0, *map(len, ways)]).astype(np.int64),
        np.array([node for way in ways for node in way], dtype=np.int32),
        np.array([costs, costs], dtype=np.int64),
    )


def some_items(chance: Random, tree: ListTree) -> list[int]:
    number = chance.randint(1, min(4, tree.leaves))
    return sorted(tree.leaf_nodes[leaf] for leaf in chance.sample(range(tree.leaves), number))


@pytest.mark.parametrize("seed", range(150))
def test_sets_are_joined_as_by_hand_and_everyone_can_show_the_result(seed: int) -> None:
    chance = Random(seed)
    tree = random_tree(chance)
    costs = [round(1000 * tree.share(node)) for node in range(tree.nodes)]
    people = [some_items(chance, tree) for _ in range(chance.randint(2, 5))]
    width = max(map(len, people))
    sets = NodeSets(
        np.arange(3, dtype=np.int64) * width,
        np.zeros(3, dtype=np.int64),
        np.zeros(3 * width, dtype=np.int32),
        np.ones(3 * width, dtype=np.int64),
    )
    whole: Weighted = dict.fromkeys(people[0], 1)
    for person in people[1:]:
        for row, own in enumerate((whole, dict.fromkeys(person, 1))):
            begin = row * width
            sets.length[row] = len(own)
            sets.node[begin : begin + len(own)] = sorted(own)
            sets.weight[begin : begin + len(own)] = [own[node] for node in sorted(own)]
        cost = call_join(laid_tree(tree, costs), sets, 0, 1, 2, np.zeros((width + 8, 5), dtype=np.int64))
        whole = joined(tree, costs, whole, dict.fromkeys(person, 1))
        end = 2 * width + int(sets.length[2])
        assert sets.node[2 * width : end].tolist() == sorted(whole)
        assert sets.weight[2 * width : end].tolist() == [whole[node] for node in sorted(whole)]
        assert cost == sum(weight * costs[node] for node, weight in whole.items())
    assert all(can_show(tree, person, set(whole)) for person in people)


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
