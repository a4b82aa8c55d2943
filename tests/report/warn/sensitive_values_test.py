"""Sensitive values that models count as different, or as values, though nobody would."""

from __future__ import annotations

from typing import Any

import pytest

from kveil.report.warn.sensitive_values import alike_values, marks_of_missing, plain_form
from laid_evidence import evidence
from support import QUASI, make_policy


@pytest.mark.parametrize(
    "alike",
    [
        ["HIV", "hiv", " HIV ", "H\u200bIV", "\uff28IV", "\u041dIV"],  # blanks, a joiner, a wide and a Cyrillic letter
        ["a b", "A  b", "a\tb", "a\u00a0b"],
        ["1", "1.0", "01", "+1", "1e0", "1.00"],
        ["\u03bf", "o", "\u043e"],
        ["100", "1e2"],
    ],
)
def test_ways_to_write_one_value(alike: list[str]) -> None:
    assert len({plain_form(text) for text in alike}) == 1


def test_what_is_different_stays_so() -> None:
    texts = ["flu", "flue", "1", "10", "-1", "1.5", "nan", "inf", "", "1e400", "1e401", "ab", "a b"]
    assert len({plain_form(text) for text in texts}) == len(texts)


def counted(*values: str, l: int = 2, missing: tuple[str, ...] = ("",)) -> Any:  # noqa: E741 - the model's own name
    privacy = [{"model": "l-diversity", "sensitive": "s", "l": l}]
    policy = make_policy({"q": QUASI, "s": "sensitive"}, privacy=privacy, data={"missing": list(missing)})
    table = {"q": ["x"] * len(values), "s": list(values)}
    return evidence(policy, table, table)


def test_values_that_are_alike_are_counted_once_per_way_of_writing() -> None:
    (warning,) = alike_values(counted("flu", "Flu", "FLU", "gout", "gout", "1", "1.0"))
    assert warning.startswith("5 values of s are the same but for case")
    assert alike_values(counted("flu", "gout", "flu")) == []


def test_a_column_that_no_model_counts_is_not_looked_at() -> None:
    policy = make_policy({"q": QUASI, "s": "sensitive"})
    table = {"q": ["x", "x"], "s": ["flu", "Flu"]}
    assert alike_values(evidence(policy, table, table)) == []


def test_marks_of_missing_are_told_unless_declared() -> None:
    values = ("flu", "N/A", " unknown", "?")
    (warning,) = marks_of_missing(counted(*values))
    assert warning.startswith("3 values of s may mean that nothing is known")
    (one,) = marks_of_missing(counted(*values, missing=("", "?", "N/A")))
    assert "count it as a value" in one
    assert marks_of_missing(counted("flu", "nanny", "known")) == []
