"""How a table lies in its file: sheets by name and number, lines above the names of columns."""

from __future__ import annotations

import pytest

from kveil.errors import DataError, FileError
from kveil.files.layout import FileLayout, check_layout, lines_below, sheet_place

NAMES = ["first", "2", "2024", "1"]


@pytest.mark.parametrize(
    ("sheet", "place"), [(None, 0), ("first", 0), ("2", 1), ("1", 3), ("2024", 2), ("3", 2), ("4", 3)]
)
def test_a_sheet_is_its_name_or_where_none_has_it_its_number(sheet: str | None, place: int) -> None:
    assert sheet_place(sheet, NAMES, "t.xlsx") == place


@pytest.mark.parametrize("sheet", ["0", "5", "frist", "-1", "²", "9" * 30, " 2"])
def test_a_sheet_that_is_not_there_is_told_with_those_that_are(sheet: str) -> None:
    with pytest.raises(DataError, match=r"t\.xlsx has no sheet .*; it has 'first', '2', '2024' and '1'"):
        sheet_place(sheet, NAMES, "t.xlsx")


def test_lines_above_the_names_are_cut_off() -> None:
    text = b'a "title\r\n\nx,y\n1,2'
    assert lines_below(text, 0, "t.csv") is text
    assert lines_below(text, 2, "t.csv") == b"x,y\n1,2"
    assert lines_below(text, 3, "t.csv") == b"1,2"
    for skip in (4, 99):
        with pytest.raises(FileError, match=f"skip leaves out {skip} lines, and it has 4 lines"):
            lines_below(text, skip, "t.csv")
    with pytest.raises(FileError, match="skip leaves out 1 line, and it has 1 line"):
        lines_below(b"x,y\n", 1, "t.csv")


def test_only_some_kinds_of_tables_have_sheets_and_lines_above() -> None:
    check_layout(FileLayout(sheet="1", skip=2), "excel", "t")
    check_layout(FileLayout(skip=2), "csv", "t")
    check_layout(FileLayout(), "database", "t")
    for layout, kind in ((FileLayout(sheet="1"), "csv"), (FileLayout(skip=1), "parquet"), (FileLayout(skip=1), "spss")):
        with pytest.raises(DataError, match="leave"):
            check_layout(layout, kind, "t")
