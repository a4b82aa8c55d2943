"""Sets of items joined as by hand, so that everyone can show the result."""

from __future__ import annotations

from random import Random
from typing import Any

import numba
import numpy as np
import pytest

from kveil.kernels.items.search_layout import NodeSets
from kveil.kernels.items.set_join_loops import join_sets
from laid_forests import laid_tree, some_items
from naive.joined_sets import Weighted, can_show, joined
from naive.trees import random_tree


@numba.njit
def call_join(tree: Any, sets: Any, one: int, other: int, into: int, stack: Any) -> int:
    return join_sets(tree, sets, one, other, into, 0, stack)  # type: ignore[no-any-return]


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
