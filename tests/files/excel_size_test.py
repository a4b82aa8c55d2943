"""The rectangle of a sheet's cells, by a glance and by the rules, which agree wherever the glance says anything."""

from __future__ import annotations

import io
import struct
import zipfile
from random import Random

import pytest

from kveil.errors import FileError
from kveil.files import excel_size
from kveil.files.excel_size import CellBox, check_workbook


def packed(parts: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", method) as book:
        for name, content in parts.items():
            book.writestr(name, content)
    return raw.getvalue()


def letters(column: int) -> str:
    text = ""
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


@pytest.mark.parametrize("seed", range(20))
def test_the_glance_finds_the_rectangle_that_the_rules_find(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = Random(seed)
    monkeypatch.setattr(excel_size, "PIECE", draw.choice([1, 7, 64, 4096]))
    places = sorted((draw.randint(1, 1_048_576), draw.randint(1, 16_384)) for _ in range(draw.randint(1, 30)))
    cells = "".join(f'<row r="{row}"><c r="{letters(column)}{row}" s="1"><v>1</v></c></row>' for row, column in places)
    text = f"<worksheet><cols><col min='1'/></cols><sheetData>{cells}</sheetData></worksheet>".encode()
    rows, columns = zip(*places, strict=True)
    glance = excel_size._box_at_a_glance(iter([text[i : i + 50] for i in range(0, len(text), 50)]))
    rules = excel_size._box_by_rules(iter([text]), excel_size._Sheet())
    expected = CellBox(len(places), min(rows), max(rows), min(columns), max(columns))
    for found in (glance, rules):
        assert (found.first_row, found.last_row) == (expected.first_row, expected.last_row)
        assert (found.first_column, found.last_column) == (expected.first_column, expected.last_column)
        assert found.cells == expected.cells
    assert CellBox().cells == 0


def test_cells_of_an_open_document_may_be_said_to_repeat() -> None:
    head = (
        '<office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x"><table:table>'
        '<table:table-row table:number-rows-repeated="{}"><table:table-cell office:value="1" '
        'table:number-columns-repeated="{}"><text:p>1</text:p></table:table-cell></table:table-row>'
        '<table:table-row table:number-rows-repeated="1048576"><table:table-cell '
        'table:number-columns-repeated="16384"/></table:table-row></table:table></office:document-content>'
    )
    check_workbook(packed({"content.xml": head.format(1000, 1000).encode()}), "t.ods")
    with pytest.raises(FileError, match="cells so far apart"):
        check_workbook(packed({"content.xml": head.format(1_000_000, 1000).encode()}), "t.ods")


def test_records_of_a_binary_sheet_are_looked_at() -> None:
    def record(kind: int, content: bytes) -> bytes:
        return bytes([kind, len(content)]) + content

    def row(number: int, column: int) -> bytes:
        return record(0, struct.pack("<IIB", number, 0, 0)) + record(5, struct.pack("<IId", column, 0, 1.0))

    check_workbook(packed({"xl/worksheets/sheet1.bin": row(0, 0) + row(900, 900)}), "t.xlsb")
    with pytest.raises(FileError, match="cells so far apart"):
        check_workbook(packed({"xl/worksheets/sheet1.bin": row(0, 0) + row(1_048_575, 16_383)}), "t.xlsb")


def test_what_is_no_workbook_is_told() -> None:
    with pytest.raises(FileError, match="not a whole Excel file"):
        check_workbook(b"PK\3\4 planted", "t.xlsx")
    with pytest.raises(FileError, match="not a whole Excel file"):
        check_workbook(packed({"xl/a.xml": b"<c></c>" * 9}, zipfile.ZIP_BZIP2), "t.xlsx")
