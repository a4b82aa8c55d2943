"""Limits: how far values may go, beside the plain reading of a policy's boundaries."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest

from kveil.algorithms.limits import codes_at_limits, is_bounded, limit_groups, mam_groups, reach_of
from kveil.frames import from_frame
from kveil.table.encode import encode
from kveil.table.table import Table
from kveil.table.tree import Tree
from support import QUASI, make_policy

TREE = {"tree": {"*": {"A": ["a1", "a2", "a3"], "B": ["b1", "b2"], "C": ["c1"]}}}


def table_of(
    rows: list[tuple[str, ...]], *, boundary: Any = None, width: int | None = None, grid: int | None = None
) -> Table:
    """A table of two trees and a number; the first tree and the number may have a boundary."""
    ranges: dict[str, Any] = {"within": [0, 40]} | ({} if grid is None else {"round": grid})
    attributes = {
        "p": {"role": QUASI, "hierarchy": TREE} | ({} if boundary is None else {"boundary": boundary}),
        "q": {"role": QUASI, "hierarchy": TREE},
        "n": {"role": QUASI, "hierarchy": {"ranges": ranges}}
        | ({} if width is None else {"boundary": {"max_width": width}}),
    }
    frame = pl.DataFrame(rows, schema=dict.fromkeys("pqn", pl.String), orient="row")
    return encode(from_frame(frame), make_policy(attributes, k=2))


def random_rows(chance: Random) -> list[tuple[str, ...]]:
    leaves = ["a1", "a2", "a3", "b1", "b2", "c1"]
    numbers = [str(number) for number in chance.sample(range(41), 6)] + [""]
    return [(chance.choice(leaves), chance.choice(leaves), chance.choice(numbers)) for _ in range(14)]


def label_at_limit(table: Table, position: int, leaf: int) -> str:
    """Return the first marked node on a leaf's way up, by climbing; the root where none is marked."""
    tree = table.trees[position]
    assert isinstance(tree, Tree)
    node, allowed = int(tree.leaf_nodes[leaf]), {"A", "B", "C"}
    while node and tree.labels[node] not in allowed:
        node = int(tree.parent[node])
    return tree.labels[node]


def test_an_attribute_is_bounded_where_some_value_may_not_reach_its_root() -> None:
    rows = random_rows(Random(0))
    assert [is_bounded(table_of(rows), p) for p in range(3)] == [False] * 3
    assert [is_bounded(table_of(rows, boundary={"level": 1}, width=5), p) for p in range(3)] == [True, False, True]


def test_without_boundaries_all_are_one_group_and_nobody_is_none() -> None:
    table = table_of(random_rows(Random(0)))
    group, first = limit_groups(table, [0, 1], table.distinct.low[:2])
    assert set(group.tolist()) == {0}
    assert first.tolist() == [0]
    nobody = np.zeros((2, 0), dtype=np.int32)
    assert [len(part) for part in limit_groups(table, [0, 1], nobody)] == [0, 0]


@pytest.mark.parametrize("seed", range(30))
def test_tuples_share_a_group_where_their_values_share_the_limit(seed: int) -> None:
    table = table_of(random_rows(Random(seed)), boundary={"level": 1})
    low = table.distinct.low
    group, first = limit_groups(table, [0, 1], low[[0, 1]])
    labels = [label_at_limit(table, 0, int(leaf)) for leaf in low[0]]
    assert [labels[i] for i in first] == [labels[group.tolist().index(g)] for g in range(len(first))]
    for one, label in enumerate(labels):
        assert [other == label for other in labels] == (group == group[one]).tolist()


@pytest.mark.parametrize("grid", [None, 5])
@pytest.mark.parametrize("seed", range(20))
def test_a_span_reaches_as_far_as_its_rounded_width_allows(seed: int, grid: int | None) -> None:
    width = Random(seed).choice([0, 3, 10, 15, 60])
    table = table_of(random_rows(Random(seed)), width=width, grid=grid)
    numbers = sorted({int(text) for text in from_rows(table)})
    step = grid or 1
    for at, reach in enumerate(reach_of(table, 2).tolist()):
        if at == len(numbers):  # missing is alone
            assert reach == at
            continue
        bottom = numbers[at] // step * step
        fits = [i for i in range(at, len(numbers)) if -(-numbers[i] // step) * step - bottom <= width]
        assert reach == max([at, *fits])  # one number is shown as it is, whatever the grid


def from_rows(table: Table) -> list[str]:
    scale = table.trees[2]
    assert not isinstance(scale, Tree)
    return [str(number) for number in scale.numbers]


@pytest.mark.parametrize("seed", range(40))
def test_mam_groups_share_their_limits_and_no_cell_is_wider_than_allowed(seed: int) -> None:
    chance = Random(seed)
    width = chance.choice([5, 12, 30])
    table = table_of(random_rows(chance), boundary={"level": 1}, width=width)
    distinct = table.distinct
    found = mam_groups(table, [0, 1, 2], distinct.low, distinct.high, distinct.weights, 2)
    reach, missing = reach_of(table, 2), table.trees[2].missing
    labels = [label_at_limit(table, 0, int(leaf)) for leaf in distinct.low[0]]
    tree = table.trees[0]
    assert isinstance(tree, Tree)
    assert sorted(set(found.group.tolist())) == list(range(found.number))
    for own, label, low in zip(found.group.tolist(), labels, distinct.low.T, strict=True):
        assert {other for other, g in zip(labels, found.group.tolist(), strict=True) if g == own} == {label}
        node = tree.labels.index(label)
        assert (found.low[0, own], found.high[0, own]) == (tree.first[node], tree.last[node])
        assert (found.low[1, own], found.high[1, own]) == (0, table.trees[1].leaves - 1)  # no boundary: all leaves
        assert all(found.low[a, own] <= low[a] <= found.high[a, own] for a in range(3))
        if low[2] == missing:
            assert found.low[2, own] == found.high[2, own] == missing
        else:
            assert found.high[2, own] <= reach[found.low[2, own]]
    spans = {tuple(np.concatenate([found.low[:, g], found.high[:, g]]).tolist()) for g in range(found.number)}
    assert len(spans) == found.number  # groups that allow the same are one


def test_cells_leave_as_few_rows_as_possible_in_cells_below_k() -> None:
    # 0 and 3 fit together, 3 and 6 do, all three do not: the pair that leaves out a single row, not two.
    rows = [("a1", "a1", "0"), ("a1", "a1", "3"), ("a1", "a1", "6"), ("a1", "a1", "6")]
    table = table_of(rows, width=3)
    distinct = table.distinct
    found = mam_groups(table, [2], distinct.low[[2]], distinct.high[[2]], distinct.weights, 2)
    leaves = distinct.low[2].tolist()
    cell = {leaf: int(found.group[i]) for i, leaf in enumerate(leaves)}
    assert cell[0] == cell[1] != cell[2]


@pytest.mark.parametrize("seed", range(4))
def test_at_its_limit_a_value_shows_the_node_or_the_cell_that_it_reaches(seed: int) -> None:
    rows = random_rows(Random(seed))
    own = table_of(rows, boundary=["A", "B", "C"], width=12)
    low, high, weights = own.distinct.low, own.distinct.high, own.distinct.weights
    groups = mam_groups(own, [0, 1, 2], low, high, weights, 2)
    codes = codes_at_limits(own.trees, low, groups)
    assert codes.shape == low.shape
    tree, spans = own.trees[0], {}
    assert isinstance(tree, Tree)
    for t in range(low.shape[1]):
        assert tree.labels[codes[0, t]] == label_at_limit(own, 0, low[0, t])
        assert codes[1, t] == 0
        group = groups.group[t]
        span = (int(groups.low[2, group]), int(groups.high[2, group]))
        assert spans.setdefault(int(codes[2, t]), span) == span
    assert len(set(spans.values())) == len(spans)
