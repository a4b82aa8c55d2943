"""2 READ AND WRITE: CSV, Parquet and Arrow in; the same out, atomically, leaking nothing.

Texts stay texts: nothing in a CSV is ever read as a number. Messages of libraries are never passed on, since
they quote the data.
"""

from __future__ import annotations

import csv
import datetime
import hashlib
import io
import json
import math
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Self

import numpy as np
import polars as pl

from kveil.errors import DataError, FileError, count, did_you_mean, listing

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

    def texts(self, column: str) -> pl.Series:
        """Return a column as texts, null where the source has none."""
        if column not in self.frame.columns:
            raise DataError(f"{self.name} lacks the column {column}; check that it is the right table.")
        return as_texts(self.frame[column])


def kind_of(path: Path) -> Kind:
    """Return the kind of file a suffix names."""
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise FileError(
            f"{path.name or path}: kveil does not know files that end in {path.suffix or 'nothing'!r}; "
            f"use one of {listing(list(SUFFIXES), 20, 'or')}."
        )
    return kind


# ---------------------------------------------------------------------------------------------- reading


def read_table(path: Path, separator: str | None = None, columns: Iterable[str] = (), hashed: bool = False) -> Source:
    """Read a table by its suffix; ``columns`` are the names expected, a help in finding the separator."""
    kind = kind_of(path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise FileError(f"{path.name}: the file cannot be read ({error.strerror}); check the path.") from None
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


def _rows(text: str, separator: str, strict: bool = True) -> Any:
    """Return Python's own CSV reader; a carriage return that ends no line is an error to it, not a line end."""
    csv.field_size_limit(2**31 - 1)
    return csv.reader(io.StringIO(text, newline="\n"), delimiter=separator, strict=strict)


def _find_separator(record: str, columns: frozenset[str]) -> str:
    """Return the separator whose header has most of the expected columns, then the one most frequent in it."""
    outside = re.sub('"[^"]*"', "", record)  # whatever stands in quotes separates nothing

    def known(separator: str) -> int:
        try:
            return len(columns.intersection(next(_rows(record, separator, strict=False), [])))
        except csv.Error:
            return 0

    return max(SEPARATORS, key=lambda separator: (known(separator), outside.count(separator)))


def _header(record: str, separator: str, name: str, columns: frozenset[str]) -> list[str]:
    try:
        header: list[str] = next(_rows(record, separator), [])
    except csv.Error:
        raise FileError(f"{name}: line 1 cannot be read as CSV; check its quotes and line ends.") from None
    if not header:
        raise FileError(f"{name}: line 1 is blank; a CSV starts with a line of column names.")
    twice = sorted({column for column in header if header.count(column) > 1})
    if twice:
        if columns:
            _check_named(header, columns, name)
        raise DataError(f"{name}: the header names {listing([repr(c) for c in twice])} more than once; rename them.")
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
    """Return the rows as Python reads them, or name the line of the first one that is not whole.

    Blank lines are no records, unless there is one column only. A quote inside a field that does not start
    with one is data.
    """
    reader = _rows(raw.decode("utf-8"), separator)
    width = len(header)
    schema = dict.fromkeys(header, pl.String)
    parts: list[pl.DataFrame] = []
    rows: list[list[str]] = []
    before = 0
    try:
        next(reader)
        before = reader.line_num
        for fields in reader:
            row = fields or [""] * (width == 1)
            if row and len(row) != width:
                raise FileError(
                    f"{name}: line {before + 1} has {count(len(row), 'field')}, the header has {width}; "
                    "check separators and quotes in that line."
                )
            if row:
                rows.append(row)
            if len(rows) == 100_000:
                parts.append(pl.DataFrame(rows, schema=schema, orient="row"))
                rows = []
            before = reader.line_num
    except csv.Error:
        raise FileError(f"{name}: line {before + 1} cannot be read as CSV; check its quotes and line ends.") from None
    return pl.concat([*parts, pl.DataFrame(rows, schema=schema, orient="row")])


# ---------------------------------------------------------------------------------------------- texts of types


def text_of(value: Any) -> str | None:
    """Return one value as text: whole floats as ``3``, dates as ISO, booleans as ``true``/``false``."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        if math.isnan(value):
            return None
        if math.isinf(value):
            return str(value)
        return str(int(value)) if value == int(value) else str(value)
    if isinstance(value, Decimal):
        return format(value.to_integral_value() if value == value.to_integral_value() else value.normalize(), "f")
    if isinstance(value, datetime.datetime):
        if value != value:  # NaT
            return None
        # Frames without a type for dates hold midnights; value by value, so that rows left out change nothing.
        midnight = value.time() == datetime.time() and not getattr(value, "nanosecond", 0)
        return value.date().isoformat() if midnight else value.isoformat()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if type(value).__name__ in {"NAType", "NaTType"}:
        return None
    raise TypeError(type(value).__name__)


# Their shortest texts are found in their own precision: 0.1 is 0.10000000149011612 only once it is widened.
_NARROW: dict[str, Callable[[float], Any]] = {"Float32": np.float32, "Float16": np.float16}


def as_texts(column: pl.Series) -> pl.Series:
    """Return a typed column as texts, by its distinct values where the type needs a rule of ours."""
    kind = column.dtype
    if kind == pl.String:
        return column
    if kind == pl.Null or kind.is_integer() or kind in (pl.Boolean, pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    if kind.is_float() or kind.is_decimal() or (kind.is_temporal() and kind != pl.Duration):
        distinct = column.unique()
        narrow = _NARROW.get(str(kind))
        values = [narrow(v) if narrow and v is not None else v for v in distinct]
        texts = pl.Series([text_of(value) for value in values], dtype=pl.String)
        table = pl.DataFrame({"value": distinct, "text": texts})
        joined = column.to_frame("value").join(table, on="value", how="left", nulls_equal=True, maintain_order="left")
        return joined["text"].alias(column.name)
    raise DataError(f"the column {column.name!r} is of type {kind}, which kveil cannot read as text; convert it first.")


# ---------------------------------------------------------------------------------------------- columns


def fresh(column: pl.Series) -> pl.Series:
    """Return a column that carries nothing but its own values.

    Texts that polars gathers still point into the memory of all they were gathered from, and Arrow files and
    pickles take that memory along; categories name every value the column once had.
    """
    if column.dtype == pl.Categorical:
        return column.cast(pl.String).cast(pl.Categorical)
    if column.dtype == pl.Enum:
        used = set(column.unique().cast(pl.String).drop_nulls())
        kept = [text for text in column.dtype.categories if text in used]  # type: ignore[attr-defined]
        return column.cast(pl.String).cast(pl.Enum(kept))
    if column.dtype in (pl.String, pl.List):
        copied = io.BytesIO()
        column.to_frame().write_ipc(copied, compat_level=pl.CompatLevel.oldest())
        return pl.read_ipc(copied.getvalue()).to_series()
    return column


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


# ---------------------------------------------------------------------------------------------- writing


@dataclass
class _Staged:
    target: Path
    file: IO[bytes]
    name: str | None  # of the file on disk, None while it has none


@dataclass
class Outputs:
    """Files that appear together, whole, or not at all.

    Each is written to a file without a name in the folder of its target (`O_TMPFILE`), so that even a kill
    leaves nothing behind; where the file system has no such files, to a hidden temporary one. ``commit`` gives
    them their names in the order they were opened.
    """

    staged: list[_Staged] = field(default_factory=list)

    def open(self, target: Path, mode: int | None = None) -> IO[bytes]:
        """Return an open file that will become ``target``; ``mode`` defaults to the user's umask."""
        target = Path(os.path.realpath(target))
        if mode is None:
            mask = os.umask(0)
            os.umask(mask)
            mode = 0o666 & ~mask
        try:
            if target.exists() and not stat.S_ISREG(target.stat().st_mode):
                if target.is_dir():
                    raise FileError(f"{target.name}: this is a folder; name a file to write.")
                staged = _Staged(target, target.open("wb"), None)
            else:
                staged = self._unnamed(target, mode)
        except OSError as error:
            raise _write_error(target, error) from None
        self.staged.append(staged)
        return staged.file

    @staticmethod
    def _unnamed(target: Path, mode: int) -> _Staged:
        try:
            descriptor = os.open(target.parent, os.O_TMPFILE | os.O_RDWR, mode)
        except (OSError, AttributeError) as error:
            if isinstance(error, (PermissionError, FileNotFoundError, NotADirectoryError)):
                raise
            descriptor, name = tempfile.mkstemp(prefix=".kveil-", dir=target.parent)
            os.fchmod(descriptor, mode)
            return _Staged(target, os.fdopen(descriptor, "w+b"), name)
        os.fchmod(descriptor, mode)
        return _Staged(target, os.fdopen(descriptor, "w+b"), None)

    def write_json(self, file: IO[bytes], content: dict[str, Any], indent: int | None = 2) -> None:
        """Write plain data as JSON to a file opened here."""
        self.write(file, json.dumps(content, indent=indent, ensure_ascii=False).encode() + b"\n")

    def write(self, file: IO[bytes], content: bytes) -> None:
        """Write bytes to a file opened here."""
        target = next(staged.target for staged in self.staged if staged.file is file)
        try:
            file.write(content)
            file.flush()
        except OSError as error:
            raise _write_error(target, error) from None

    def commit(self) -> None:
        """Give every file its name; until here none of them can be seen."""
        for staged in self.staged:
            try:
                staged.file.flush()
                if stat.S_ISREG(os.fstat(staged.file.fileno()).st_mode):
                    os.fsync(staged.file.fileno())
            except OSError as error:
                raise _write_error(staged.target, error) from None
        named: list[Path] = []
        for staged in self.staged:
            new = not staged.target.exists()
            try:
                self._name(staged)
            except OSError as error:
                for target in named:
                    target.unlink(missing_ok=True)
                raise _write_error(staged.target, error) from None
            if new:
                named.append(staged.target)

    @staticmethod
    def _name(staged: _Staged) -> None:
        if not stat.S_ISREG(os.fstat(staged.file.fileno()).st_mode):
            return
        if staged.name is None:
            # linkat cannot replace a file: link beside it first, then rename over it.
            staged.name = tempfile.mktemp(prefix=".kveil-", dir=staged.target.parent)
            folder = os.open("/proc/self/fd", os.O_RDONLY | os.O_DIRECTORY)
            try:
                link = staged.name if staged.target.exists() else str(staged.target)
                os.link(str(staged.file.fileno()), link, src_dir_fd=folder, follow_symlinks=True)
                if link != staged.name:
                    staged.name = None
                    return
            finally:
                os.close(folder)
        os.replace(staged.name, staged.target)
        staged.name = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for staged in self.staged:
            try:
                staged.file.close()
            except OSError:  # a full disk may refuse the last bytes of a file that is given up anyway
                if kind is None:
                    raise
            finally:
                if staged.name is not None:
                    Path(staged.name).unlink(missing_ok=True)


def _write_error(target: Path, error: Exception) -> FileError:
    told = re.search(r"os error (\d+)", str(error))  # all that polars keeps of the system's reason
    reason = getattr(error, "strerror", None) or (os.strerror(int(told[1])) if told else "the system refused")
    return FileError(
        f"{target.name} cannot be written ({reason}); nothing was written. Check the folder and its space."
    )


def write_table(frame: pl.DataFrame, file: IO[bytes], target: Path, separator: str = ",", missing: str = "") -> str:
    """Write a release to an open file by the suffix of its target; return the SHA-256 of the bytes.

    ``missing`` is what a CSV shows for a cell without a value.

    No statistics, no metadata of other programs, no dictionaries of values that are not in the rows.
    """
    kind = kind_of(target)
    # Texts are written by value here, so that only categories could carry something along.
    frame = frame.select(column if column.dtype == pl.String else fresh(column) for column in frame.get_columns())
    try:
        if kind == "csv":
            _write_csv(frame, file, separator, missing)
        elif kind == "parquet":
            frame.write_parquet(file, statistics=False, metadata=None)
        else:
            frame.write_ipc(file, compat_level=pl.CompatLevel.oldest())
        file.flush()
        if not file.seekable():
            return ""
        file.seek(0)
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _write_error(target, error) from None


def joined_items(column: pl.Series) -> pl.Series:
    """Return sets of items as texts, null where a set is empty: nothing is known, which is no empty item."""
    frame = column.to_frame("set")
    items = pl.when(pl.col("set").list.len() > 0).then(pl.col("set").list.join("|"))
    return frame.select(items.alias(column.name)).to_series()


def _write_csv(frame: pl.DataFrame, file: IO[bytes], separator: str, missing: str) -> None:
    texts: list[pl.Series] = []
    for column in frame.get_columns():
        text = joined_items(column) if column.dtype == pl.List else as_texts(column)
        if text.null_count():
            text = text.fill_null(missing)
        # polars writes "" for an empty text and nothing for null; alone in its row, nothing would be no row.
        if frame.width > 1:
            text = text.replace({"": None})
        texts.append(text)
    pl.DataFrame(texts).write_csv(file, separator=separator, line_terminator="\n")
