"""Cells that must be as they were: how many are not."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import polars as pl
import pytest

from kveil.flow.steps.inputs import table_of
from kveil.verifier.kept_cells import compare_kept
from kveil.verifier.release import lay_beside
from support import make_policy

ATTRIBUTES = {"a": "quasi-identifier", "s": "sensitive", "w": "insensitive"}


def changed(was: list, shown: list, stars: list[bool] | None = None, **others: object) -> tuple[int, list[str]]:
    policy = make_policy(ATTRIBUTES, **others)
    rows = len(shown)
    original = pl.DataFrame({"a": ["x"] * len(was), "s": was, "w": ["1"] * len(was)})
    release = pl.DataFrame({"a": ["x"] * rows, "s": shown, "w": ["1"] * rows})
    aligned = lay_beside(table_of(release, policy), table_of(original, policy), np.arange(rows), policy)
    found = compare_kept(aligned, policy, {} if stars is None else {"s": pl.Series(stars)})
    return found.changed, found.findings


def test_equal_cells_are_unchanged_and_each_other_one_is_counted() -> None:
    assert changed(["1", "2", "3"], ["1", "2"]) == (0, [])
    assert changed(["1", "2", "3"], ["1", "9", "9"]) == (
        2,
        ["s (sensitive) differs from the original in 2 cells."],
    )


def test_missing_may_be_written_in_one_way_or_the_other_but_not_in_both() -> None:
    missing = {"data": {"missing": ["?"]}}
    assert changed(["1", None], ["1", "?"], **missing)[0] == 0
    assert changed(["?", None], ["?", None], **missing)[0] == 0
    assert changed(["?", None], [None, "?"], **missing)[0] == 2


def test_rows_that_must_show_stars_are_not_asked() -> None:
    assert changed(["1", "2"], ["*", "2"], [True, False])[0] == 0
    assert changed(["1", "2"], ["*", "*"], [True, False])[0] == 1


def test_cells_may_not_hold_more_than_their_texts_show() -> None:
    begin = datetime(2020, 1, 1)
    was = pl.Series([begin, begin]).cast(pl.Datetime("ns"))
    hiding = (was.to_physical() + pl.Series([0, 7])).cast(pl.Datetime("ns"))
    number, findings = changed(was, hiding)
    assert number == 1
    assert "with more than their texts show" in findings[0]
    assert changed(hiding, hiding)[0] == 0  # the original's own


@pytest.mark.parametrize(("shown", "number"), [(["1|2", "3"], 0), (["1", "3"], 1), (["1|2|4", "3|5"], 2)])
def test_items_of_persons_are_neither_added_nor_left_out(shown: list[str], number: int) -> None:
    policy = make_policy({"who": "individual", **ATTRIBUTES}, algorithm="auto")
    original = pl.DataFrame({"who": ["p", "p", "q"], "a": ["x"] * 3, "s": ["2", "1", "3"], "w": ["1"] * 3})
    release = pl.DataFrame({"a": ["x"] * 2, "s": shown, "w": ["1"] * 2})
    aligned = lay_beside(table_of(release, policy), table_of(original, policy), np.arange(2), policy)
    assert compare_kept(aligned, policy, {}).changed == number


@pytest.mark.parametrize(
    ("records", "number"),
    [
        ([("1", "1", "b"), ("1", "2", "a"), ("2", "3", "c")], 0),
        ([("1", "1", "a"), ("1", "2", "b"), ("2", "3", "c")], 4),  # cells of one record go together
        ([("1", "1", "b"), ("2", "3", "c")], 1),
    ],
)
def test_records_of_persons_are_compared_whole(records: list[tuple[str, str, str]], number: int) -> None:
    attributes = {"who": "individual", "a": "quasi-identifier", "s": "sensitive", "t": "sensitive"}
    policy = make_policy(attributes, algorithm="auto", release={"shape": "long"})
    original = pl.DataFrame({"who": ["p", "p", "q"], "a": ["x"] * 3, "s": ["2", "1", "3"], "t": ["a", "b", "c"]})
    release = pl.DataFrame(
        [(own, "x", s, t) for own, s, t in records], schema=["individual", "a", "s", "t"], orient="row"
    )
    aligned = lay_beside(table_of(release, policy), table_of(original, policy), np.arange(2), policy)
    assert compare_kept(aligned, policy, {}).changed == number
