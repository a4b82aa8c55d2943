"""Sheets that hold something and are not read."""

from __future__ import annotations

import polars as pl

from kveil.files import Source
from kveil.report.warn.sheets import sheets_left_aside


def test_sheets_that_nobody_chose_are_told_by_name() -> None:
    source = Source("t.xlsx", pl.DataFrame(), "excel", left_aside=("2023", "notes"))
    assert sheets_left_aside(source) == [
        "t.xlsx has something in other sheets, too ('2023' and 'notes'); the first sheet was taken. Write sheet under "
        "data to say which is meant."
    ]
    assert sheets_left_aside(Source("t.csv", pl.DataFrame(), "csv")) == []
