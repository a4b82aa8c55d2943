"""Components of few rows, all of whose releases are tried."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kveil
from kveil.algorithms.component import components_of
from kveil.algorithms.least_loss import small_search
from kveil.algorithms.least_loss.layout import whole_numbers
from kveil.algorithms.least_loss.small_search import TriedRows, everything_fails, keeps_rules, try_everything
from kveil.frames import from_frame
from kveil.table.encode import encode
from kveil.table.table import Table

POLICY = """
kveil: 1
attributes:
  age: {role: quasi-identifier, hierarchy: {ranges: {within: [0, 40]}}%s}
  sex: {role: quasi-identifier}
  illness: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 2}
  - {model: l-diversity, sensitive: illness, l: 2, attributes: [sex]}
"""
ROWS = [("3", "f", "flu"), ("5", "f", "flu"), ("30", "m", "flu"), ("33", "m", "gout")]


def table_of(more: str = "", rules: str = "") -> Table:
    frame = pl.DataFrame(ROWS, schema=["age", "sex", "illness"], orient="row")
    return encode(from_frame(frame), kveil.Policy.parse(POLICY % more + rules, "small", Path()))


def tried(table: Table, below: int | None = None) -> TriedRows:
    (component,) = components_of(table)
    rows = np.arange(table.rows, dtype=np.int32)
    return try_everything(component, rows, whole_numbers(table), [None] * len(table.names), below)


def test_the_cheapest_release_is_found_with_spans_and_values_of_overlapping_models() -> None:
    found = tried(table_of())
    assert found.complete
    assert found.columns is not None
    age, sex = ([column.labels[code] for code in column.codes] for column in found.columns)
    assert age == ["3-5", "3-5", "30-33", "30-33"]  # by sex the first two have one illness alone
    assert sex == ["*", "*", "*", "*"]


def test_rules_within_a_component_are_kept() -> None:
    assert keeps_rules(table_of())
    found = tried(table_of(rules="dependencies: [sex -> age]"))
    assert found.columns is not None
    age, sex = ([column.labels[code] for code in column.codes] for column in found.columns)
    assert len(set(zip(sex, age, strict=True))) == len(set(sex))


def test_nothing_dearer_than_what_is_known_is_looked_for() -> None:
    table = table_of()
    scale = whole_numbers(table).scale
    assert tried(table, below=1) == TriedRows(None, complete=True)
    assert tried(table, below=4 * scale).columns is not None


def test_a_largest_width_that_nothing_fits_leaves_nothing() -> None:
    assert tried(table_of(", boundary: {max_width: 1}")) == TriedRows(None, complete=True)


def test_more_steps_than_are_allowed_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_search, "MOST_STEPS", 2)
    assert not tried(table_of()).complete


def test_where_all_was_tried_and_nothing_holds_that_is_told() -> None:
    (component,) = components_of(table_of())
    assert not everything_fails(component)  # there is a release
    (component,) = components_of(table_of(", boundary: {max_width: 1}"))
    assert everything_fails(component)  # no two ages lie within a year
