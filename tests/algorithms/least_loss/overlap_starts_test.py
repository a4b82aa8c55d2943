"""Starts where constraints overlap: numbers under their halves, and groups that climb together; all of them hold."""

from __future__ import annotations

import itertools
from decimal import Decimal
from random import Random

import numpy as np
import pytest

from kveil.algorithms.component import components_of
from kveil.algorithms.least_loss.overlap_starts import (
    GROUPED,
    grouped_tables,
    halved_table,
    overlap_starts,
    tree_of_halves,
)
from kveil.algorithms.registry import find
from kveil.engines.solver import run
from kveil.frames import from_frame
from kveil.policy.attributes import Ranges
from kveil.table.encode import encode
from kveil.table.scale import Scale
from kveil.table.tree import Tree
from numbers_that_overlap import PRIVACY, policy_over_numbers
from small_people import holds, people, policy_of

NESTED = "[{model: k-anonymity, k: 2}, {model: k-anonymity, attributes: [age, sex], k: 6}]"


@pytest.mark.parametrize("seed", range(60))
def test_halves_are_a_tree_over_the_same_leaves_and_end_at_the_width(seed: int) -> None:
    chance = Random(seed)
    number = chance.randint(0, 20)
    numbers = tuple(map(Decimal, sorted(chance.sample(range(60), number))))
    missing = number if number == 0 or chance.random() < 0.4 else None
    scale = Scale(numbers, Ranges(within=(Decimal(0), Decimal(60))), missing, "")
    widest = chance.choice([None, None, Decimal(8), Decimal(20)])
    tree = tree_of_halves(scale, widest)
    assert tree.first[tree.leaf_nodes].tolist() == tree.last[tree.leaf_nodes].tolist() == list(range(scale.leaves))
    for node in range(len(tree.labels)):
        below = [child for child in range(1, len(tree.labels)) if tree.parent[child] == node]
        if below:
            assert [tree.first[below[0]], tree.last[below[-1]]] == [tree.first[node], tree.last[node]]
            assert all(tree.last[one] + 1 == tree.first[two] for one, two in itertools.pairwise(below))
            assert node == 0 or len(below) == 2
            assert tree.height[node] == 1 + max(tree.height[below])
    for limit in tree.limit_of.tolist():
        assert widest is None or not scale.shows_more(int(tree.first[limit]), int(tree.last[limit]), widest)


@pytest.mark.parametrize("boundary", ["", "max_width: 12"])
@pytest.mark.parametrize("numbers", ["within: [0, 60]", "within: [0, 60], round: 5"])
def test_numbers_that_climbed_by_halves_hold_as_spans(boundary: str, numbers: str) -> None:
    frame = people(200)
    table = encode(from_frame(frame), policy_over_numbers(boundary, more="suppression: {limit: 0.2}", numbers=numbers))
    assert all(isinstance(tree, Tree) for tree in halved_table(table).trees)
    starts = list(overlap_starts(table, np.random.default_rng(0), None))
    assert [name for name, _ in starts] == ["halves of numbers"] * 2 + list(GROUPED)
    for _, solution in starts:
        holds(frame, table, solution)


@pytest.mark.parametrize("spans", [False, True])
def test_groups_of_a_constraint_over_everything_climb_together(spans: bool) -> None:
    frame = people(300)
    policy = policy_over_numbers(privacy=NESTED) if spans else policy_of(NESTED)
    table = encode(from_frame(frame), policy)
    valid = run(find("mondrian"), table, {})
    names = []
    for name, solution in overlap_starts(table, np.random.default_rng(0), valid):
        holds(frame, table, solution)
        names.append(name)
    assert names[-1] == "groups of one constraint"
    for _, together in [] if spans else grouped_tables(table, valid):
        shown = np.array([together.low, together.high]).reshape(-1, table.rows)
        assert np.unique(shown, axis=1, return_counts=True)[1].min() >= 2
    assert run(find("least-loss"), table, {}).details["start"] in {"halves of numbers", "groups of one constraint"}


def test_rows_are_as_wide_as_their_groups_under_the_costliest_constraints() -> None:
    frame = people(300)
    table = encode(from_frame(frame), policy_of(PRIVACY))
    valid = run(find("classfly+complete"), table, {})
    constraints = components_of(table)[0].constraints
    grouped = list(grouped_tables(table, valid))
    assert [name for name, _ in grouped] == list(GROUPED)
    for _, together in grouped:
        fewest = []
        for own in constraints:
            shown = np.concatenate([together.low[own.positions], together.high[own.positions]])
            fewest.append(np.unique(shown, axis=1, return_counts=True)[1].min())
        assert sum(few >= own.k for few, own in zip(fewest, constraints, strict=True)) >= 1
        assert (together.low <= table.low).all()
        assert (together.high >= table.high).all()
    starts = list(overlap_starts(table, np.random.default_rng(0), valid))
    assert [name for name, _ in starts] == [name for name, _ in grouped]
    for _, solution in starts:
        holds(frame, table, solution)


def test_groups_of_a_constraint_of_large_k_are_no_start() -> None:
    large = (
        "[{model: k-anonymity, attributes: [age, city], k: 26}, {model: k-anonymity, attributes: [age, sex], k: 30}]"
    )
    table = encode(from_frame(people(200)), policy_of(large))
    valid = run(find("classfly+complete"), table, {})
    assert list(grouped_tables(table, valid)) == []
    assert list(overlap_starts(table, np.random.default_rng(0), valid)) == []
