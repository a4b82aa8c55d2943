"""A CSV's records as columns of texts, by our own rules."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from mmap import mmap

import numpy as np
import polars as pl

from kveil.errors import DataError, FileError
from kveil.files.encodings import MARK
from kveil.files.layout import FileLayout
from kveil.files.records import BrokenRecord, records
from kveil.files.source import check_named, check_plain_names
from kveil.words import count, listing

SEPARATORS = (",", ";", "\t", "|")
LOOK = 50  # lines in which blanks between columns are looked for


@dataclass(frozen=True)
class EarlyText:
    """The bytes of a CSV, with their ``cells`` as a ``separator`` cuts them where that was tried already."""

    raw: bytes
    separator: str | None = None
    cells: pl.DataFrame | None = None


def cut_early(raw: bytes, separator: str | None) -> EarlyText:
    """Cut the bytes of a CSV into cells before its policy is known, where that needs no rules of ours.

    Without a separator the likeliest one is taken: whoever reads the table then asks whether it is the right one.
    """
    if not raw.endswith(b"\n") or b'"' in raw or raw.startswith(MARK) or not raw.isascii():
        return EarlyText(raw)
    separator = separator or _find_separator(_first_record(raw), frozenset())
    return EarlyText(raw, separator, _cut(raw, separator))


def read_csv(
    raw: bytes, name: str, layout: FileLayout, columns: frozenset[str], *, early: EarlyText | None = None
) -> tuple[pl.DataFrame, str]:
    """Return a table and its separator, out of bytes that are UTF-8 and begin with the names of columns.

    ``columns`` are the names expected, a help in finding the separator; ``early`` are the same bytes, cut already.
    Lines are counted with those above the names.
    """
    separator, names_at = layout.separator, layout.skip + 1
    if not raw or raw.isspace():
        raise FileError(f"{name}: the file is empty; a CSV starts with a line of column names.")
    record = _first_record(raw)
    if separator is None:
        separator = _find_separator(record, columns)
        if separator not in record:
            separator = _blanks(raw, record, columns, name) or separator
    else:
        _check_separator(record, separator, columns, f"{name}: line {names_at}")
    header = _header(record, separator, name, columns, names_at)
    ready = early.cells if early is not None and early.raw is raw and early.separator == separator else None
    frame = _read_fast(raw, separator, header, ready)
    if frame is None:
        frame = _read_slowly(raw, separator, header, name, layout.skip)
    return frame, separator


def _first_record(raw: bytes) -> str:
    """Return the text of the header record, which ends at the first line end outside quotes."""
    start = quotes = 0
    while True:
        end = raw.find(b"\n", start)
        if end < 0:
            return raw.decode("utf-8")
        quotes += raw.count(b'"', start, end)
        if quotes % 2 == 0:
            return raw[:end].decode("utf-8")
        start = end + 1


def _find_separator(record: str, columns: frozenset[str]) -> str:
    """Return the separator whose header has most of the expected columns, then the one most frequent in it."""
    outside = re.sub('"[^"]*"', "", record)  # whatever stands in quotes separates nothing

    def known(separator: str) -> int:
        return len(columns.intersection(_first_fields(record, separator, strict=False)))

    return max(SEPARATORS, key=lambda separator: (known(separator), outside.count(separator)))


def _check_separator(record: str, separator: str, columns: frozenset[str], where: str) -> None:
    """Raise DataError where another separator than the given one brings the expected columns out."""

    def known(separator: str) -> int:
        return len(columns.intersection(_first_fields(record, separator, strict=False)))

    other = max(SEPARATORS, key=known)
    if not known(separator) and known(other):
        raise DataError(
            f"{where} has none of the policy's columns when it is cut at {separator!r}, and {known(other)} when "
            f"cut at {other!r}; write separator: {other!r} under data, or leave it out."
        )


def _blanks(raw: bytes, record: str, columns: frozenset[str], name: str) -> str | None:
    """Return a blank where single blanks separate the columns, None where there is one column only.

    Raise FileError where several blanks stand between columns: nobody can tell then whether a cell is empty.
    """
    names = record.split()
    if len(names) < 2 or record.strip() in columns or '"' in record:
        return None
    if columns:
        if len(columns.intersection(names)) < 2:
            return None
    elif any(len(line.split()) != len(names) for line in _first_lines(raw)):
        return None
    if all(len(line.split(" ")) == len(names) for line in _first_lines(raw)):
        return " "
    raise FileError(
        f"{name}: its columns are separated by several blanks; separate them by one character, such as a comma, and "
        "try again."
    )


def _first_lines(raw: bytes) -> list[str]:
    lines = raw.split(b"\n", LOOK + 1)[: LOOK + 1]
    return [text for line in lines if (text := line.decode("utf-8", "replace").rstrip("\r"))]


def _first_fields(record: str, separator: str, *, strict: bool) -> list[str]:
    return next((fields for _, fields in records(record, separator, strict=strict)), [])


def _header(record: str, separator: str, name: str, columns: frozenset[str], line: int) -> list[str]:
    try:
        header = _first_fields(record, separator, strict=True)
    except BrokenRecord:
        raise FileError(f"{name}: line {line} cannot be read as CSV; check its quotes and line ends.") from None
    check_plain_names(header, name)
    if not header:
        raise FileError(f"{name}: line {line} is blank; a CSV starts with a line of column names.")
    twice = sorted(column for column, times in Counter(header).items() if times > 1)
    if twice:
        if columns:
            check_named(header, columns, name)
            raise DataError(f"{name}: the header names {listing(list(map(repr, twice)))} more than once; rename them.")
        # Without a policy nobody knows whether these are names: the first line of a file without any is a record.
        places = [str(i) for i, column in enumerate(header, 1) if column in twice]
        raise DataError(f"{name}: the header has a name more than once (columns {listing(places)}); rename them.")
    return header


def _cut(raw: bytes, separator: str) -> pl.DataFrame | None:
    """Return the rows as polars reads them, None where it does not."""
    try:
        return pl.read_csv(raw, separator=separator, infer_schema=False, empty_string_is_null=False, glob=False)
    except Exception:  # whatever polars found wrong, the slow reader says in which line
        return None


def _read_fast(raw: bytes, separator: str, header: list[str], ready: pl.DataFrame | None) -> pl.DataFrame | None:
    """Return the rows as polars reads them, None where it may have read them by rules of its own.

    Polars fills short rows up without a word, and mends quotes. So quotes must stand where they belong, and
    separators in the bytes, less those inside values, must be what whole rows need: one look at the counts
    instead of a second parse.
    """
    if not raw.endswith(b"\n"):
        raw += b"\n"  # polars overlooks a separator that is the very last byte
    if not _quotes_in_place(raw, separator):
        return None
    frame = _cut(raw, separator) if ready is None else ready
    if frame is None or frame.width != len(header):
        return None
    frame.columns = header
    seen = count_byte(raw, separator.encode()) if separator.isascii() else raw.count(separator.encode())
    if b'"' in raw:
        seen -= sum(column.count(separator) for column in header)
        inside = frame.select(pl.all().str.count_matches(separator, literal=True).sum())
        seen -= sum(value or 0 for value in inside.row(0))
    return frame if seen == (frame.width - 1) * (frame.height + 1) else None


def count_byte(raw: bytes | mmap, byte: bytes) -> int:
    """Return how often a byte occurs; a third of the time that counting it as a text takes."""
    text = np.frombuffer(raw, dtype=np.uint8)
    step = 1 << 20  # pieces that stay in the cache
    return sum(int(np.count_nonzero(text[at : at + step] == byte[0])) for at in range(0, len(text), step))


def _quotes_in_place(raw: bytes, separator: str) -> bool:
    """Tell whether every quote opens a field, closes one, or is doubled inside one. O(bytes), vectorized."""
    if b'"' not in raw:
        return True
    text = np.frombuffer(raw + b"\n\n", dtype=np.uint8)
    quotes = np.flatnonzero(text == ord('"'))
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    before = text[opening - 1]  # before the first byte stands, by the index -1, the added line end
    after = text[closing + 1]
    ends_line = (after == ord("\n")) | ((after == ord("\r")) & (text[closing + 2] == ord("\n")))
    opens = np.isin(before, [ord(separator), ord("\n"), ord('"')])
    closes = ends_line | np.isin(after, [ord(separator), ord('"')])
    return bool(opens.all() and closes.all())


def _read_slowly(raw: bytes, separator: str, header: list[str], name: str, above: int) -> pl.DataFrame:
    """Return the rows as we read them, or name the line of the first one that is not whole.

    Blank lines are no records, unless there is one column only. A quote inside a field that does not start
    with one is data.
    """
    reader = records(raw.decode("utf-8"), separator)
    width = len(header)
    schema = dict.fromkeys(header, pl.String)
    parts: list[pl.DataFrame] = []
    rows: list[list[str]] = []
    try:
        next(reader)
        for line, fields in reader:
            row = fields or [""] * (width == 1)
            if row and len(row) != width:
                raise FileError(
                    f"{name}: line {above + line} has {count(len(row), 'field')}, the header has {width}; "
                    "check separators and quotes in that line."
                )
            if row:
                rows.append(row)
            if len(rows) == 100_000:
                parts.append(pl.DataFrame(rows, schema=schema, orient="row"))
                rows = []
    except BrokenRecord as broken:
        raise FileError(
            f"{name}: line {above + broken.line} cannot be read as CSV; check its quotes and line ends."
        ) from None
    return pl.concat([*parts, pl.DataFrame(rows, schema=schema, orient="row")])
