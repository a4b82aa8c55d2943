"""Workbooks: the first sheet in, one sheet out."""

from __future__ import annotations

import datetime
import io

import polars as pl
import pytest

from kveil.errors import FileError
from kveil.files import FileLayout
from kveil.files.excel import MOST_TEXT, read_excel, write_excel
from kveil.files.texts import as_texts


def workbook(frame: pl.DataFrame) -> bytes:
    written = io.BytesIO()
    write_excel(frame, written)
    return written.getvalue()


FRAME = pl.DataFrame(
    {
        "text": ["a", "=1+1", "007"],
        "whole": [1, 2**60, -3],
        "number": [0.5, None, 3.0],
        "day": [datetime.date(2020, 1, 2), datetime.date(1850, 1, 1), None],
        "flag": [True, False, None],
    }
)


def test_cells_come_back_as_the_texts_they_were() -> None:
    again = read_excel(workbook(FRAME), "t.xlsx", FileLayout()).frame
    assert again.columns == FRAME.columns
    for name in FRAME.columns:
        assert as_texts(again[name]).to_list() == as_texts(FRAME[name]).to_list(), name
    assert workbook(FRAME) == workbook(FRAME)  # nobody can tell when it was made


def test_what_a_sheet_cannot_hold_is_told() -> None:
    with pytest.raises(FileError, match="holds 32,767 characters at most"):
        workbook(pl.DataFrame({"t": ["x" * (MOST_TEXT + 1)]}))
    with pytest.raises(FileError, match=r"t\.xlsx: this is not a whole Excel file"):
        read_excel(b"no workbook", "t.xlsx", FileLayout())


def test_rows_without_any_value_are_no_records() -> None:
    assert (
        read_excel(
            workbook(pl.DataFrame({"a": ["x", None, "y"], "b": [None, None, 1]})), "t", FileLayout()
        ).frame.height
        == 2
    )
