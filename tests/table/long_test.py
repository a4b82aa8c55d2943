"""Releases in long shape: a row per item, or per record, with the persons numbered."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from coded_tables import coded
from kveil.errors import DataError
from kveil.frames import from_frame
from kveil.table.long import INDIVIDUAL, WholeRecords, check_added_column, lay_out_items
from support import make_policy

POLICY = make_policy({"a": "quasi-identifier"}, data={"missing": ["?"]})


def test_every_item_has_a_row_and_who_has_none_has_one_too() -> None:
    columns = {"a": pl.Series(["u", "v", "w"]), "s": pl.Series([["1", "2"], [], ["3"]]), "unchanged": None}
    laid, person = lay_out_items(POLICY, columns)
    assert person.tolist() == [0, 0, 1, 2]
    assert laid["unchanged"] is None
    made = {name: column.to_list() for name, column in laid.items() if column is not None}
    assert made == {INDIVIDUAL: [1, 1, 2, 3], "a": ["u", "u", "v", "w"], "s": ["1", "2", "?", "3"]}


def test_the_column_that_numbers_persons_is_its_own() -> None:
    check_added_column({"a": None})
    with pytest.raises(DataError, match="has a column 'individual' of its own"):
        check_added_column({INDIVIDUAL: None})


def records(gone: list[bool], kept: list[int]) -> tuple[WholeRecords, list[tuple[str, str]]]:
    columns = {"who": list("pqppq"), "a": ["u"] * 5, "s": ["2", "1", "10", "2", ""], "t": ["x", "y", "a", "b", "z"]}
    attributes = {"who": "individual", "a": "quasi-identifier", "s": "sensitive", "t": "sensitive"}
    table = coded(columns, attributes, release={"shape": "long"})
    found = WholeRecords.of(from_frame(pl.DataFrame(columns)), table, np.array(gone), np.array(kept))
    return found, list(zip(columns["s"], columns["t"], strict=True))


def test_records_of_a_person_stand_together_sorted_by_what_is_released() -> None:
    found, cells = records([False, False], [0, 1])
    assert found.lengths.tolist() == [3, 2]
    assert [cells[row] for row in found.rows.tolist()] == [("2", "b"), ("2", "x"), ("10", "a"), ("1", "y"), ("", "z")]
    laid, rows = found.lay_out({"a": pl.Series(["u1", "u2"]), "s": None, "t": None}, np.array([1, 0]))
    assert laid[INDIVIDUAL].to_list() == [1, 1, 2, 2, 2]
    assert laid["a"].to_list() == ["u1", "u1", "u2", "u2", "u2"]
    assert laid["s"] is None
    assert [cells[row] for row in rows.tolist()] == [("1", "y"), ("", "z"), ("2", "b"), ("2", "x"), ("10", "a")]


def test_a_starred_person_has_one_row_of_stars() -> None:
    found, cells = records([True, False], [0, 1])
    assert found.lengths.tolist() == [1, 2]
    assert found.starred["s"].to_list() == ["*", "1", ""]
    assert found.starred["t"].to_list() == ["*", "y", "z"]
    dropped, _ = records([True, False], [1])
    assert dropped.lengths.tolist() == [2]
    assert dropped.starred == {}
    assert [cells[row] for row in dropped.rows.tolist()] == [("1", "y"), ("", "z")]
