"""Where rows with a leaf begin, what lies over two nodes, and what a row would rather show, beside the slow way."""

from __future__ import annotations

from bisect import bisect_left
from random import Random

import numpy as np
import pytest

from called_loops import from_python
from kveil.kernels.least_loss import aim_loops as loops
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.kernels.least_loss.repair_loops import list_active
from laid_rows import both_tries, laid_out
from naive.shown_rows import random_case
from naive.trees import ListSpans

call_first = from_python(loops.first_from)
call_over = from_python(loops.lowest_over)
aim = from_python(loops.aim)
list_dear_rows = from_python(list_active)


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
    case = random_case(Random(seed), spans=seed % 2 == 1)
    trees, _, _ = laid_out(case)
    for a, tree in enumerate(case.trees):
        for node in range(tree.nodes):
            for other in range(tree.nodes):
                if isinstance(tree, ListSpans):
                    over = tree.cover(node, other)
                    assert call_over(trees, a, node, other) == (-1 if over is None else over)
                    continue
                first, last = tree.first[other], tree.last[other]
                above = [n for n in tree.way(node) if tree.first[n] <= first and last <= tree.last[n]]
                assert call_over(trees, a, node, other) == above[0]


@pytest.mark.parametrize("seed", range(60))
def test_a_row_aims_at_what_the_twin_aims_at(seed: int) -> None:
    both = both_tries(seed)
    if not both.twin.list_active():
        return
    list_dear_rows(both.state, both.constraints, both.work)
    for row in both.twin.active:
        c = aim(*both.laid, row, both.work.vectors[field.WISHED])
        assert (c, tuple(both.work.vectors[field.WISHED].tolist())) == both.twin.aim(row)
    both.check()
