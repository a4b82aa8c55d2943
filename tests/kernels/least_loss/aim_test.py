"""Where rows with a leaf begin, and what lies over two nodes, beside looking at all of them."""

from __future__ import annotations

from bisect import bisect_left
from random import Random
from typing import Any

import numba
import numpy as np
import pytest

from kveil.kernels.least_loss import aim_loops as loops
from kveil.kernels.least_loss import overlaps_layout as field
from laid_rows import laid_out
from naive.shown_rows import random_case


@numba.njit
def call_first(cells: Any, number: int, leaf: int) -> int:
    return loops.first_from(cells, number, leaf)


@numba.njit
def call_over(trees: Any, a: int, node: int, other: int) -> int:
    return loops.lowest_over(trees, a, node, other)


@pytest.mark.parametrize("seed", range(10))
def test_the_first_row_with_a_leaf_is_found_by_halving(seed: int) -> None:
    chance = Random(seed)
    leaves = sorted(chance.choices(range(6), k=chance.randint(0, 12)))
    cells = np.zeros((14, 1 + field.LEAVES), dtype=np.int32)
    cells[: len(leaves), field.LEAVES] = leaves
    for leaf in range(7):
        assert call_first(cells, len(leaves), leaf) == bisect_left(leaves, leaf)


@pytest.mark.parametrize("seed", range(10))
def test_the_lowest_node_over_two_is_found_by_climbing(seed: int) -> None:
    case = random_case(Random(seed))
    trees, _, _ = laid_out(case)
    for a, tree in enumerate(case.trees):
        for node in range(tree.nodes):
            for other in range(tree.nodes):
                first, last = tree.first[other], tree.last[other]
                above = [n for n in tree.way(node) if tree.first[n] <= first and last <= tree.last[n]]
                assert call_over(trees, a, node, other) == above[0]
