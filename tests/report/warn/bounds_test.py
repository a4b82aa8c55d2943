"""Spans that show exact extremes, counted by hand."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from kveil.report.warn.bounds import (
    bound_warning,
    exact_bounds,
    expected_bounds,
    expected_told,
    grid_warning,
    span_columns,
)
from laid_evidence import evidence
from support import QUASI, make_policy

ROUNDED = {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 99], "round": 5}}}
MIDDLE = {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 99], "bounds": "midpoints"}}}
PLAIN = {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 99]}}}


FINE = {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 99], "round": 1}}}


def test_columns_that_show_spans_are_those_with_ranges() -> None:
    policy = make_policy({"a": PLAIN, "b": ROUNDED, "c": MIDDLE, "d": QUASI}, algorithm="mondrian")
    assert {name: spec.grid for name, spec in span_columns(policy).items()} == {"a": None, "b": 5, "c": 5}


@pytest.mark.parametrize(
    ("values", "k", "share"),
    [
        ([6, 5, 4, 3, 2, 1], 3, 4 / 6),  # 1 2 3 and 4 5 6: the middle ones are no bounds
        ([1, 2, 3, 4, 5, 6, 7], 3, 4 / 7),  # what is left over joins the last run
        ([1, 1, 2, 3, 3, 3], 3, 3 / 3),  # the run of equal values shows no span
        ([1, 2], 5, 1.0),
        ([4, 4, 4], 2, None),
        ([], 2, None),
    ],
)
def test_the_share_of_bounds_in_runs_of_k(values: list[int], k: int, share: float | None) -> None:
    found = expected_bounds(np.array(values, dtype=np.int64), k)
    assert found == (None if share is None else pytest.approx(share))


def test_cells_that_are_a_bound_of_their_span_are_counted() -> None:
    policy = make_policy({"age": PLAIN}, algorithm="mondrian")
    ages = ["1", "2", "3", "4", "9", "9"]
    shown = ["1-4", "1-4", "1-4", "1-4", "9", "9"]
    assert exact_bounds(evidence(policy, {"age": ages}, {"age": shown})) == [
        bound_warning("age", 0.5, "in this release")
    ]
    assert "50% of the cells" in bound_warning("age", 0.5, "in this release")
    assert exact_bounds(evidence(policy, {"age": ages}, {"age": ages})) == []  # no cell shows a span


@pytest.mark.parametrize(("step", "share"), [(1, 1.0), (2, 0.5), (5, 0.0), (10, 0.0)])
def test_the_share_of_bounds_on_a_grid_that_tell_extremes_in_runs_of_k(step: int, share: float) -> None:
    numbers = [Decimal(n) for n in (1, 2, 11, 12)]  # 0-2 and 10-12 on a grid of 2: both upper ends are told
    assert expected_told(np.arange(4), numbers, Decimal(step), 2) == share


def test_bounds_on_a_grid_that_is_too_fine_are_told() -> None:
    ages, shown = ["1", "2", "3", "4"], ["1-4"] * 4
    found = exact_bounds(evidence(make_policy({"age": FINE}, algorithm="mondrian"), {"age": ages}, {"age": shown}))
    assert found == [grid_warning("age", Decimal(1), 1.0, "in this release")]
    rounded = evidence(make_policy({"age": ROUNDED}, algorithm="mondrian"), {"age": ages}, {"age": ["0-5"] * 4})
    assert exact_bounds(rounded) == []
