"""Warnings about a release's own cells: what may name people, what a spreadsheet would run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

from kveil.flow.steps.inputs import table_of
from kveil.report.warn.cells import count_formula_starts, formula_cells, formula_names, release_warnings, unique_columns
from support import QUASI, make_policy

POLICY = make_policy({"q": QUASI, "a": "insensitive", "b": "insensitive", "s": "sensitive"})


@pytest.mark.parametrize("text", ["=1", "+x", "-x", "@a", "\t=1", "\r\n=1", "\uff1d1", "-1-2"])
def test_a_text_that_a_spreadsheet_would_run(text: str) -> None:
    assert count_formula_starts(pl.Series([text])) == 1


@pytest.mark.parametrize("text", ["-5", "+5", "-.5", "-5.", "+1e-3", "-1.5E10", "", "1=1"])
def test_a_number_with_a_sign_is_no_formula_nor_what_has_one_inside(text: str) -> None:
    assert count_formula_starts(pl.Series([text])) == 0


def test_equal_rows_taken_together_count_as_many() -> None:
    texts = pl.Series(["=a", "b", None, "=c"])
    assert count_formula_starts(texts) == 2
    assert count_formula_starts(texts, times=np.array([3, 10, 10, 4])) == 7
    assert formula_names(["=a", "b", "-1"]) == 1


def test_cells_are_counted_in_words() -> None:
    assert formula_cells(0) == []
    assert formula_cells(1)[0].startswith("1 cell of the release starts with")
    assert formula_cells(2)[0].startswith("2 cells of the release start with")


def counted(**numbers: int) -> Sequence[str]:
    """Warnings of a table of ten rows whose columns, named in their order, have so many different rows."""
    return unique_columns(POLICY, ["q", "a", "b", "s"], 10, lambda names: numbers["".join(names)])


def test_columns_are_looked_at_alone_and_together() -> None:
    few = {"a": 2, "b": 2, "s": 8}
    assert counted(**few, ab=4, abs=8) == []
    (alone,) = counted(a=9, b=2, s=8, ab=10, abs=10)  # what one column tells is not told again of several
    assert alone.startswith("a is released as is and nearly unique (9 values in 10 records)")
    (together,) = counted(**few, ab=9, abs=10)
    assert together.startswith("a and b are released as they are and together nearly unique (9 combinations")
    (all_three,) = counted(**few, ab=4, abs=9)
    assert all_three.startswith("a, b and s are released")
    assert unique_columns(POLICY, ["a"], 1, lambda names: 1) == []


def test_quasi_identifiers_may_be_unique() -> None:
    release = table_of(pl.DataFrame({"q": list("abcd"), "a": list("xxxx")}), POLICY)
    assert release_warnings(release, POLICY, {}) == []


def test_cells_names_and_items_of_sets_are_counted() -> None:
    policy = make_policy({"=who": "individual", "q": QUASI, "s": "sensitive"}, algorithm="auto")
    frame = pl.DataFrame({"q": ["@x", "@x", "y"], "s": [["-a", "b"], ["=c"], []]})
    told = release_warnings(table_of(frame, policy), policy, {"q": ["@x", "y"]})
    assert told == formula_cells(4)
    quiet = release_warnings(table_of(frame.select("q"), policy), policy, {"q": ["x", "y"]})
    assert quiet == []  # labels that are known need no look at every cell
