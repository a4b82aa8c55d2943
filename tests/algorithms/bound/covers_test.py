"""All that may cover tuples, level by level: never dearer than what covers them."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from coded_tables import QUASI, coded
from kveil.algorithms.bound import covers
from kveil.algorithms.bound.covers import FINENESS, SCALE, Fineness, affordable_levels, lattice_of, node_costs
from kveil.table.table import Table

TREE = {"role": QUASI, "hierarchy": {"tree": {"*": {"N": ["a", "b"], "S": ["c"]}}}, "boundary": ["S"]}
NUMBERS = {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 50]}}}


def table(seed: int = 0) -> Table:
    random = np.random.default_rng(seed)
    columns = {"t": random.choice(list("abc"), 20), "n": random.choice(["", *map(str, range(50))], 20)}
    return coded(columns, {"t": TREE, "n": NUMBERS})


def test_widths_between_classes_fall_to_nothing() -> None:
    for fine in FINENESS:
        bounds = fine.bounds(Fraction(48))
        assert bounds[0] == 48
        assert bounds[-1] == 0
        assert all(wide > narrow for wide, narrow in pairwise(bounds))
        assert len(bounds) == fine.parts * fine.halvings + 1


def test_a_node_costs_no_more_than_it_loses() -> None:
    own = table()
    for position in (0,):
        loss = own.trees[position].ncp / 2
        costs = node_costs(own, position) / SCALE
        assert (costs <= loss).all()
        assert (costs >= loss - 2 / SCALE).all()


@pytest.mark.parametrize("fine", [FINENESS[0], FINENESS[-1]])
@pytest.mark.parametrize("seed", range(4))
def test_whatever_covers_two_tuples_stands_on_a_level_and_costs_no_more(seed: int, fine: Fineness) -> None:
    own = table(seed)
    lattice, star = lattice_of(own, [0, 1], fine)
    assert int(lattice.weight.sum()) == 20
    assert star <= SCALE
    scale = own.trees[1]
    tree = own.trees[0]
    number = len(lattice.weight)
    for i in range(number):
        for j in range(number):
            leaves = own.leaves[:, lattice.first[[i, j]]]
            low, high = leaves.min(axis=1), leaves.max(axis=1)
            node = int(tree.lca(low[:1], high[:1])[0])
            allowed = all(tree.depth[node] >= tree.depth[tree.limit_of[leaf]] for leaf in leaves[0])
            losses = [float(tree.ncp[node]) if allowed else None, scale.shown(int(low[1]), int(high[1]))[1]]
            for a, loss in zip((0, 1) if lattice.at[1] == 3 else (1, 0), (0, 1), strict=True):
                rows = range(lattice.at[a], lattice.at[a + 1])
                shared = [r for r in rows if lattice.above[r, i] == lattice.above[r, j] >= 0]
                cheapest = min((int(lattice.cost[r, i]) for r in shared), default=None)
                if losses[loss] is None:
                    assert loss == 0
                    continue
                assert cheapest is not None
                assert cheapest <= losses[loss] / 2 * SCALE + 1


def test_what_a_sum_cannot_afford_is_told_apart_less_finely_then_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    own = table()
    kept, fine = affordable_levels(own, [0, 1])
    assert (kept, fine) == ([0, 1], FINENESS[0])
    monkeypatch.setattr(covers, "SPAN_WORK", 20 * 3 * FINENESS[3].levels)
    assert affordable_levels(own, [0, 1])[1] in FINENESS[3:]
    monkeypatch.setattr(covers, "SPAN_WORK", 1)
    monkeypatch.setattr(covers, "MOST_WORK", 1)
    kept, fine = affordable_levels(own, [0, 1])
    assert len(kept) == 1
    assert fine == FINENESS[-1]
