"""Spans that show exact extremes, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from kveil.report.warn.bounds import bound_warning, exact_bounds, exact_ranges, expected_bounds
from laid_evidence import evidence
from support import QUASI, make_policy

ROUNDED = {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 99], "round": 5}}}
MIDDLE = {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 99], "bounds": "midpoints"}}}
PLAIN = {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 99]}}}


def test_only_spans_whose_bounds_are_values_are_exact() -> None:
    policy = make_policy({"a": PLAIN, "b": ROUNDED, "c": MIDDLE, "d": QUASI}, algorithm="mondrian")
    assert exact_ranges(policy) == ["a"]


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
