"""Tables out of files: CSV by our own rules, Parquet and Arrow by Polars."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from kveil.errors import DataError, FileError
from kveil.files.dataset import is_dataset, read_dataset
from kveil.files.records import BrokenRecord, records
from kveil.files.texts import as_texts
from kveil.words import count, did_you_mean, listing

Kind = Literal["csv", "parquet", "arrow"]

SUFFIXES: dict[str, Kind] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
SEPARATORS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class Source:
    """A table as it came in.

    ``frame`` has every column, typed as the source typed it; ``native`` is the caller's own frame where there
    is one, from which unchanged columns are taken.
    """

    name: str
    frame: pl.DataFrame
    kind: Kind | Literal["frame"]
    separator: str = ","
    sha256: str | None = None
    native: Any = None

    @property
    def rows(self) -> int:
        """The number of records."""
        return self.frame.height

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in their order."""
        return self.frame.columns

    def column(self, name: str) -> pl.Series:
        """Return a column, typed as the source typed it."""
        return self.frame[name]

    def dtype(self, name: str) -> pl.DataType:
        """Return the type of a column."""
        return self.frame.schema[name]

    def labels(self, column: str) -> pl.Series:
        """Return a column as texts, or as categories where the source holds it as such: a cell means the same."""
        return self.texts(column)

    def label_type(self, number: int) -> pl.DataType:
        """Return how the source would hold a column of so many different labels."""
        return pl.String()

    def distinct(self, names: Sequence[str]) -> int:
        """Return how many different rows some columns have."""
        return self.frame.select(names).n_unique()

    def texts(self, column: str) -> pl.Series:
        """Return a column as texts, null where the source has none."""
        if column not in self.columns:
            raise DataError(f"{self.name} lacks the column {column}; check that it is the right table.")
        return as_texts(self.column(column))


def kind_of(path: Path) -> Kind:
    """Return the kind of file a suffix names."""
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise FileError(
            f"{path.name or path}: kveil does not know files that end in {path.suffix or 'nothing'!r}; "
            f"use one of {listing(list(SUFFIXES), 20, 'or')}."
        )
    return kind


def read_table(path: Path, separator: str | None = None, columns: Iterable[str] = (), hashed: bool = False) -> Source:
    """Read a table by its suffix, or all Parquet files of a folder or pattern as one table.

    ``columns`` are the names expected, a help in finding the separator.
    """
    if is_dataset(path):
        frame, digest = read_dataset(path, hashed=hashed)
        return Source(path.name, frame.rechunk(), "parquet", sha256=digest)
    kind_of(path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise FileError(f"{path.name}: the file cannot be read ({error.strerror}); check the path.") from None
    return parse_table(raw, path, separator, columns, hashed)


def parse_table(
    raw: bytes, path: Path, separator: str | None = None, columns: Iterable[str] = (), hashed: bool = False
) -> Source:
    """Read a table out of the bytes of a file, by the suffix of its path."""
    kind = kind_of(path)
    digest = hashlib.sha256(raw).hexdigest() if hashed else None
    if kind == "csv":
        frame, separator = _read_csv(raw, path.name, separator, frozenset(columns))
        return Source(path.name, frame, kind, separator, digest)
    read: Callable[..., pl.DataFrame] = pl.read_parquet
    if kind == "arrow":
        read = pl.read_ipc if raw.startswith(b"ARROW1") else pl.read_ipc_stream
    try:
        frame = read(io.BytesIO(raw))
    except Exception:  # polars raises its own kinds, ArrowError texts quote bytes of the file
        raise FileError(
            f"{path.name}: this is not a whole {kind.capitalize()} file; it may be cut off or of another kind."
        ) from None
    return Source(path.name, frame.rechunk(), kind, sha256=digest)


def _read_csv(raw: bytes, name: str, separator: str | None, columns: frozenset[str]) -> tuple[pl.DataFrame, str]:
    if raw.startswith(b"\xef\xbb\xbf"):
        raw = raw[3:]
    if not raw or raw.isspace():
        raise FileError(f"{name}: the file is empty; a CSV starts with a line of column names.")
    _check_utf8(raw, name)
    record = _first_record(raw)
    separator = separator or _find_separator(record, columns)
    header = _header(record, separator, name, columns)
    frame = _read_fast(raw, separator, header)
    if frame is None:
        frame = _read_slowly(raw, separator, header, name)
    return frame.rechunk(), separator


def _check_utf8(raw: bytes, name: str) -> None:
    if raw.isascii():
        return
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise FileError(f"{name}: line {line} is not UTF-8; save the file as UTF-8 and try again.") from None


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


def _first_fields(record: str, separator: str, *, strict: bool) -> list[str]:
    return next((fields for _, fields in records(record, separator, strict=strict)), [])


def _header(record: str, separator: str, name: str, columns: frozenset[str]) -> list[str]:
    try:
        header = _first_fields(record, separator, strict=True)
    except BrokenRecord:
        raise FileError(f"{name}: line 1 cannot be read as CSV; check its quotes and line ends.") from None
    if not header:
        raise FileError(f"{name}: line 1 is blank; a CSV starts with a line of column names.")
    twice = sorted({column for column in header if header.count(column) > 1})
    if twice:
        if columns:
            _check_named(header, columns, name)
            raise DataError(f"{name}: the header names {listing(list(map(repr, twice)))} more than once; rename them.")
        # Without a policy nobody knows whether these are names: the first line of a file without any is a record.
        places = [str(i) for i, column in enumerate(header, 1) if column in twice]
        raise DataError(f"{name}: the header has a name more than once (columns {listing(places)}); rename them.")
    return header


def _read_fast(raw: bytes, separator: str, header: list[str]) -> pl.DataFrame | None:
    """Return the rows as polars reads them, None where it may have read them by rules of its own.

    Polars fills short rows up without a word, and mends quotes. So quotes must stand where they belong, and
    separators in the bytes, less those inside values, must be what whole rows need: one look at the counts
    instead of a second parse.
    """
    if not raw.endswith(b"\n"):
        raw += b"\n"  # polars overlooks a separator that is the very last byte
    if not _quotes_in_place(raw, separator):
        return None
    try:
        frame = pl.read_csv(raw, separator=separator, infer_schema=False, empty_string_is_null=False, glob=False)
    except Exception:  # whatever polars found wrong, the slow reader says in which line
        return None
    if frame.width != len(header):
        return None
    frame.columns = header
    seen = _count_byte(raw, ord(separator)) if ord(separator) < 128 else raw.count(separator.encode())
    if b'"' in raw:
        seen -= sum(column.count(separator) for column in header)
        inside = frame.select(pl.all().str.count_matches(separator, literal=True).sum())
        seen -= sum(value or 0 for value in inside.row(0))
    return frame if seen == (frame.width - 1) * (frame.height + 1) else None


def _count_byte(raw: bytes, byte: int) -> int:
    """Return how often a byte occurs; a third of the time that counting it as a text takes."""
    text = np.frombuffer(raw, dtype=np.uint8)
    step = 1 << 20  # pieces that stay in the cache
    return sum(int(np.count_nonzero(text[at : at + step] == byte)) for at in range(0, len(text), step))


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


def _read_slowly(raw: bytes, separator: str, header: list[str], name: str) -> pl.DataFrame:
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
                    f"{name}: line {line} has {count(len(row), 'field')}, the header has {width}; "
                    "check separators and quotes in that line."
                )
            if row:
                rows.append(row)
            if len(rows) == 100_000:
                parts.append(pl.DataFrame(rows, schema=schema, orient="row"))
                rows = []
    except BrokenRecord as broken:
        raise FileError(f"{name}: line {broken.line} cannot be read as CSV; check its quotes and line ends.") from None
    return pl.concat([*parts, pl.DataFrame(rows, schema=schema, orient="row")])


def _check_named(found: Sequence[str], expected: Iterable[str], name: str) -> None:
    """Raise DataError where not one column is known: the first line may be a record, and is not repeated."""
    if found and not set(expected).intersection(found):
        raise DataError(
            f"{name} has none of the columns that the policy lists under attributes; check that it is the right "
            "table, and a CSV that its first line has the names."
        )


def check_columns(found: Sequence[str], expected: Iterable[str], name: str) -> None:
    """Raise DataError where a table and its policy do not have the same columns."""
    expected = list(expected)
    _check_named(found, expected, name)
    unlisted = [column for column in found if column not in expected]
    if unlisted:
        raise DataError(
            f"{name} has {count(len(unlisted), 'column')} without a role: {listing(unlisted)}; "
            "list every column under attributes, nothing is released by accident."
        )
    absent = [column for column in expected if column not in found]
    if absent:
        hint = did_you_mean(absent[0], found)
        raise DataError(f"{name} lacks {listing(absent)}, which the policy lists under attributes{hint or '.'}")
