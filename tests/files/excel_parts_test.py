"""What a workbook holds beside its cells."""

from __future__ import annotations

import io

import polars as pl
import pytest

from kveil.files.excel import write_excel
from kveil.files.excel_parts import in_excel
from kveil.files.parquet_parts import Unreadable


def workbook(frame: pl.DataFrame) -> bytes:
    written = io.BytesIO()
    write_excel(frame, written)
    return written.getvalue()


def test_what_a_workbook_tells_beside_its_cells_is_found() -> None:
    import xlsxwriter

    ours = workbook(pl.DataFrame({"a": ["x"]}))
    assert in_excel(ours, ours) == []
    written = io.BytesIO()
    other = xlsxwriter.Workbook(written, {"in_memory": True})
    other.set_properties({"author": "Ann"})
    sheet, second = other.add_worksheet("release"), other.add_worksheet("more")
    sheet.write_string(0, 0, "a")
    sheet.write_string(1, 0, "x")
    sheet.set_row(1, None, None, {"hidden": True})
    second.write_string(0, 0, "secret")
    other.close()
    told = in_excel(written.getvalue(), ours)
    assert any("properties of the document" in sentence for sentence in told)
    assert any("1 sheet beside the first" in sentence for sentence in told)
    assert any("hidden rows" in sentence for sentence in told)
    assert not any("secret" in sentence or "Ann" in sentence for sentence in told)
    with pytest.raises(Unreadable):
        in_excel(b"no workbook", ours)
