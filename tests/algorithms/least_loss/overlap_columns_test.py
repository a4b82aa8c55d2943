"""Spans as the search under overlapping constraints reads them: as narrow as rows allow, and as texts in the end."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from kveil.algorithms.component import components_of
from kveil.algorithms.least_loss.layout import whole_numbers
from kveil.algorithms.least_loss.overlap_columns import OverlapColumns, lay_out_columns, may_be_alone, shown_spans
from kveil.algorithms.least_loss.state import RefinedComponent
from kveil.frames import from_frame
from kveil.kernels.least_loss.overlaps import InvalidStart
from kveil.table.encode import encode
from kveil.table.scale import Scale
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table
from numbers_that_overlap import people_of, policy_over_numbers


def laid(ages: list[str], low: list[int], high: list[int], boundary: str = "") -> tuple[Table, OverlapColumns, Shown]:
    """Lay out people of some ages who show spans, given by places among all ages."""
    table = encode(from_frame(people_of(ages)), policy_over_numbers(boundary))
    scale, rest = table.trees[0], table.trees[1:]
    assert isinstance(scale, Scale)
    spans = Shown.spans(scale, np.array(low), np.array(high))
    leaves = [Shown.nodes(tree, tree.leaf_nodes[table.low[1 + a]]) for a, tree in enumerate(rest)]  # type: ignore[arg-type, union-attr]
    solution = Solution((spans, *leaves), np.zeros((1, table.rows), dtype=bool))
    order = np.arange(table.rows, dtype=np.int32)
    part = RefinedComponent(components_of(table)[0], solution, order)
    return table, lay_out_columns(part, order, table.rows, whole_numbers(table), solution), spans


def texts(table: Table, columns: OverlapColumns, old: Shown) -> list[str]:
    scale = table.trees[0]
    assert isinstance(scale, Scale)
    rows = np.arange(len(columns.nodes))
    shown = shown_spans(scale, columns.spans[0], old, rows, columns.nodes[:, 0])
    return [shown.labels[code] for code in shown.codes]


def test_a_start_is_taken_as_narrow_as_its_rows_allow() -> None:
    table, columns, old = laid(["1", "2", "5", "9"], [0, 0, 0, 2], [3, 3, 3, 3])
    assert texts(table, columns, old) == ["1-5", "1-5", "1-5", "9"]
    assert columns.trees.cost[columns.trees.at[0] + columns.nodes[:, 0]].tolist()[3] == 0


def test_spans_are_narrowed_with_or_without_becoming_the_same() -> None:
    _, columns, _ = laid(["1", "2", "5", "9"], [0, 0, 0, 0], [3, 3, 3, 3])
    nodes, spans = columns.nodes.copy(), columns.spans[0]
    wide, narrow = (int(spans.find(np.array([0]), np.array([high]))[0]) for high in (3, 1))
    nodes[:, 0] = [wide, narrow, wide, wide]  # 1, 5 and 9 need 1-9; who is 2 shows 1-2
    inside = np.array([True, True, False, False])
    alone = np.array([0, 1])
    assert columns.narrowed(nodes, inside, merging=True)[:2, 0].tolist() == alone.tolist()
    nodes[:, 0] = [wide, narrow, wide, wide]
    columns.base[0, 0] = 1  # now both are 2
    assert columns.narrowed(nodes, inside, merging=True)[:2, 0].tolist() == [1, 1]
    assert columns.narrowed(nodes, inside, merging=False)[:2, 0].tolist() == [wide, narrow]
    assert columns.narrowed(nodes, inside, merging=False)[2:, 0].tolist() == [wide, wide]


def test_a_start_that_shows_too_wide_a_span_is_none() -> None:
    with pytest.raises(InvalidStart):
        laid(["1", "2", "5", "9"], [0, 0, 0, 0], [3, 3, 3, 3], "max_width: 5")


def test_persons_whose_numbers_lie_too_far_apart_stay_outside() -> None:
    table = encode(from_frame(people_of(["1", "2", "5", "9"])), policy_over_numbers("max_width: 5"))
    apart = table.changed(high=np.array([[0, 3, 2, 3], *table.high[1:].tolist()], dtype=np.int32))
    part = components_of(apart)[0]
    shown = tuple(Shown.covering(tree, apart.low[a], apart.high[a], np.arange(4)) for a, tree in enumerate(apart.trees))
    refined = RefinedComponent(part, Solution(shown, np.zeros((1, 4), dtype=bool)), np.arange(4, dtype=np.int32))
    assert may_be_alone(refined, np.arange(4)).tolist() == [True, False, True, True]
    assert apart.policy.attributes["age"].widest == Decimal(5)
