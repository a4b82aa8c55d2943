"""Full-domain levels, and ways through the lattice of their combinations."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from coded_tables import QUASI, coded
from kveil.algorithms.full_domain.levels import by_height, lattice_way, levels_of, node_at
from kveil.table.tree import Tree

UNEVEN = {"tree": {"*": {"N": {"NN": ["a", "b"]}, "S": ["c"], "d": []}}}


def tree(boundary: object = None) -> Tree:
    attribute = {"role": QUASI, "hierarchy": UNEVEN, **({} if boundary is None else {"boundary": boundary})}
    own = coded({"t": ["a", "b", "c", "d"]}, {"t": attribute}).trees[0]
    assert isinstance(own, Tree)
    return own


def shown(own: Tree, node_map: np.ndarray) -> list[str]:
    return [own.labels[node] for node in node_map[own.leaf_nodes]]


def test_every_level_shows_nodes_no_deeper_than_it_says() -> None:
    own = tree()
    levels = levels_of(own, own.leaf_nodes)
    assert levels.numbers == [0, 1, 2, 3]
    assert [shown(own, node_map) for node_map in levels.maps] == [
        ["a", "b", "c", "d"], ["NN", "NN", "c", "d"], ["N", "N", "S", "d"], ["*", "*", "*", "*"]
    ]  # fmt: skip


def test_no_node_climbs_beyond_its_limit_and_levels_that_show_the_same_are_left_out() -> None:
    own = tree(["NN", "S"])
    levels = levels_of(own, own.leaf_nodes)
    assert shown(own, levels.maps[-1]) == ["NN", "NN", "S", "*"]
    assert len(levels.maps) == len(levels.numbers)
    for before, after in pairwise(levels.maps):
        assert not np.array_equal(before[own.leaf_nodes], after[own.leaf_nodes])
    few = levels_of(own, own.leaf_nodes[2:3])  # only c is present: a level that moves a alone shows the same
    assert [own.labels[node_map[own.leaf_nodes[2]]] for node_map in few.maps] == ["c", "S"]


@pytest.mark.parametrize("seed", range(5))
def test_open_nodes_come_lowest_first(seed: int) -> None:
    open_to = np.random.default_rng(seed).random((2, 3, 4)) < 0.5
    nodes = [node_at(place, open_to) for place in by_height(open_to).tolist()]
    expected = [node for node in product(range(2), range(3), range(4)) if open_to[node]]
    assert nodes == sorted(expected, key=lambda node: (sum(node), node))


@pytest.mark.parametrize("seed", range(5))
def test_a_way_up_makes_one_step_at_a_time_through_undecided_nodes(seed: int) -> None:
    undecided = np.random.default_rng(seed).random((3, 3, 3)) < 0.7
    way = lattice_way((0, 0, 0), undecided)
    for before, after in pairwise(way):
        assert undecided[after]
        assert sorted(high - low for low, high in zip(before, after, strict=True)) == [0, 0, 1]
    top = way[-1]
    above = [(*top[:a], top[a] + 1, *top[a + 1 :]) for a in range(3) if top[a] < 2]
    assert not any(undecided[node] for node in above)
