"""Excel workbooks: a sheet in, one sheet out with nothing beside its cells."""

from __future__ import annotations

import datetime
import io
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import polars as pl

from kveil.errors import DataError, FileError
from kveil.files.excel_size import check_workbook
from kveil.files.extras import import_extra
from kveil.files.layout import FileLayout, sheet_place
from kveil.files.texts import as_texts, whole_in_floats
from kveil.words import count, listing

MOST_ROWS, MOST_TEXT = 1_048_576, 32_767  # of a sheet, and of a cell
_UNHEARD = logging.NullHandler()
ANY_DAY = datetime.datetime(2000, 1, 1)  # when a release was made is nobody's business


def _fastexcel() -> Any:
    import fastexcel

    # It warns of every column without a value; where the host listens to no logger, that would stand on the terminal.
    logging.getLogger("fastexcel").addHandler(_UNHEARD)
    return fastexcel


def _xlsxwriter() -> Any:
    import xlsxwriter

    return xlsxwriter


@dataclass(frozen=True)
class SheetRead:
    """A sheet as a table, and the names of others that hold something, where nobody chose this one."""

    frame: pl.DataFrame
    others: tuple[str, ...] = ()


def read_excel(raw: bytes, name: str, layout: FileLayout) -> SheetRead:
    """Return a sheet of a workbook, the first one where none is asked for.

    The row below those that are skipped has the names of columns, and rows without any value are no records.
    """
    fastexcel = import_extra(_fastexcel, "Excel files", "fastexcel")
    check_workbook(raw, name)
    try:
        workbook = fastexcel.read_excel(raw)
        names: list[str] = list(workbook.sheet_names)
    except Exception:  # of many kinds, whose texts quote cells
        raise _broken(name) from None
    place = sheet_place(layout.sheet, names, name)
    called = "the first sheet" if layout.sheet is None else f"the sheet {names[place]!r}"
    try:
        sheet = workbook.load_sheet(place, header_row=layout.skip, schema_sample_rows=None)
        named = sheet.available_columns()
        frame: pl.DataFrame = sheet.to_polars()
        others = () if layout.sheet is not None else tuple(_filled(workbook, names[1:]))
    except Exception:
        raise _broken(name) from None
    line = layout.skip + 1
    if not frame.width:
        raise FileError(
            f"{name}: {called} {f'has nothing below its row {layout.skip}' if layout.skip else 'is empty'}; its row "
            f"{line} has the names of columns.{_instead(others)}"
        )
    unnamed = [str(column.index + 1) for column in named if column.column_name_from != "looked_up"]
    if unnamed:
        raise DataError(
            f"{name}: row {line} of {called} has no name for {count(len(unnamed), 'column')} ({listing(unnamed)}); "
            "name every column there, or say with data.skip how many rows stand above the names."
        )
    return SheetRead(frame.filter(~pl.all_horizontal(pl.all().is_null())), others)


def _filled(workbook: Any, names: Sequence[str]) -> Iterator[str]:
    """Give the sheets that hold something."""
    for name in names:
        if workbook.load_sheet(name, header_row=None, n_rows=1).width:
            yield name


def _instead(others: Sequence[str]) -> str:
    return (
        f" To take another, write sheet under data: {listing([repr(each) for each in others], 10)}." if others else ""
    )


def _broken(name: str) -> FileError:
    return FileError(f"{name}: this is not a whole Excel file; it may be cut off, locked or of another kind.")


def sheet_names(raw: bytes, name: str) -> list[str]:
    """Return the names of a workbook's sheets, in their order."""
    fastexcel = import_extra(_fastexcel, "Excel files", "fastexcel")
    check_workbook(raw, name)
    try:
        return [str(each) for each in fastexcel.read_excel(raw).sheet_names]
    except Exception:  # of many kinds, whose texts quote cells
        raise _broken(name) from None


def write_excel(frame: pl.DataFrame, file: IO[bytes]) -> None:
    """Write a table as the only sheet of a workbook, without properties, times or formulas."""
    xlsxwriter = import_extra(_xlsxwriter, "Excel files", "xlsxwriter")
    if frame.height >= MOST_ROWS:
        raise FileError(f"a sheet of Excel holds fewer than {MOST_ROWS:,} records; write Parquet or CSV instead.")
    written = io.BytesIO()
    # In memory: a temporary file would stay behind where the run is killed.
    workbook = xlsxwriter.Workbook(written, {"in_memory": True, "nan_inf_to_errors": False})
    workbook.set_properties({"created": ANY_DAY})
    sheet = workbook.add_worksheet("release")
    day = workbook.add_format({"num_format": "yyyy-mm-dd"})
    moment = workbook.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
    for place, column in enumerate(frame.get_columns()):
        sheet.write_string(0, place, column.name)
        for row, value in enumerate(_cells(column), 1):
            if value is None or value == "":
                continue
            if isinstance(value, bool):
                sheet.write_boolean(row, place, value)
            elif isinstance(value, (int, float)):
                sheet.write_number(row, place, value)
            elif isinstance(value, datetime.datetime):
                sheet.write_datetime(row, place, value, day if value.time() == datetime.time() else moment)
            else:
                _write_text(sheet, row, place, value)
    workbook.close()
    file.write(written.getvalue())


def _write_text(sheet: Any, row: int, place: int, value: str) -> None:
    if len(value) > MOST_TEXT:
        raise FileError(f"a cell of Excel holds {MOST_TEXT:,} characters at most; write Parquet or CSV instead.")
    sheet.write_string(row, place, value)


def _cells(column: pl.Series) -> list[Any]:
    """Return a column's values as a sheet holds them; what it could not hold exactly becomes text."""
    kind = column.dtype
    if kind == pl.Boolean:
        return column.to_list()
    if whole_in_floats(column):
        return column.to_list()
    if kind == pl.Float64 and not column.is_infinite().any():
        return column.fill_nan(None).to_list()
    if kind in (pl.Date, pl.Datetime):
        moments = column.dt.replace_time_zone(None) if kind == pl.Datetime else column.cast(pl.Datetime("ms"))
        early = moments.dt.year().min()
        if (early is None or int(early) >= 1900) and (moments == moments.dt.truncate("1s")).all():  # type: ignore[arg-type]
            return moments.to_list()
    return as_texts(column).to_list()
