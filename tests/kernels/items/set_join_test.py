"""Sets of items joined as by hand, so that everyone can show the result."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from called_loops import from_python
from kveil.kernels.items import set_join_loops as loops
from kveil.kernels.items.search_layout import NodeSets
from laid_forests import laid_tree, some_items
from naive.joined_sets import Weighted, can_show, joined
from naive.trees import random_tree

join_sets = from_python(loops.join_sets)
copy_set = from_python(loops.copy_set)
run_cost = from_python(loops.run_cost)


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
        cost = join_sets(laid_tree(tree, costs), sets, 0, 1, 2, 0, np.zeros((width + 8, 5), dtype=np.int64))
        whole = joined(tree, costs, whole, dict.fromkeys(person, 1))
        end = 2 * width + int(sets.length[2])
        assert sets.node[2 * width : end].tolist() == sorted(whole)
        assert sets.weight[2 * width : end].tolist() == [whole[node] for node in sorted(whole)]
        assert cost == sum(weight * costs[node] for node, weight in whole.items())
    assert all(can_show(tree, person, set(whole)) for person in people)


@pytest.mark.parametrize("seed", range(20))
def test_a_set_is_copied_and_a_run_of_it_costs_what_its_items_cost(seed: int) -> None:
    chance = Random(seed)
    tree = random_tree(chance)
    costs, prices = ([chance.randrange(1000) for _ in range(tree.nodes)] for _ in range(2))
    number = chance.randint(1, tree.nodes)
    nodes = sorted(chance.sample(range(tree.nodes), number))
    weights = [chance.randint(1, 9) for _ in nodes]
    sets = NodeSets(
        np.array([2, 2 + number], dtype=np.int64), np.array([number, 0], dtype=np.int64),
        np.array([-1, -1, *nodes, *nodes], dtype=np.int32), np.array([0, 0, *weights, *weights], dtype=np.int64),
    )  # fmt: skip
    sets.node[2 + number :] = -1
    copy_set(sets, 0, 1)
    assert sets.length.tolist() == [number, number]
    assert sets.node.tolist() == [-1, -1, *nodes, *nodes]
    assert sets.weight.tolist() == [0, 0, *weights, *weights]
    begin = chance.randrange(number)
    end = chance.randint(begin, number)
    for price, own in enumerate((costs, prices)):
        found = run_cost(laid_tree(tree, costs, prices), sets, 2 + begin, 2 + end, price)
        assert found == sum(w * own[node] for node, w in zip(nodes[begin:end], weights[begin:end], strict=True))
