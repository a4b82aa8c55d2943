"""2 READ AND WRITE: CSV, Parquet, Arrow and frames in; the same out, atomically, leaking nothing.

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
import stat
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Self

import narwhals as nw
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
        return as_texts(self.frame[column])


def kind_of(path: Path) -> Kind:
    """Return the kind of file a suffix names."""
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise FileError(
            f"{path.name}: kveil does not know files that end in {path.suffix or 'nothing'!r}; "
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
    read = pl.read_parquet if kind == "parquet" else pl.read_ipc
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
    if not raw.strip():
        raise FileError(f"{name}: the file is empty; a CSV starts with a line of column names.")
    _check_utf8(raw, name)
    separator = separator or _find_separator(raw, columns)
    header = _header(raw, separator, name)
    try:
        frame = pl.read_csv(
            raw,
            separator=separator,
            infer_schema=False,
            empty_string_is_null=False,
            glob=False,
            n_rows=None,
        )
    except Exception:  # whatever polars found wrong, the slow reader says in which line
        _explain(raw, separator, len(header), name)
        raise FileError(f"{name}: the file cannot be read as CSV; check its quotes.") from None
    if frame.width != len(header):
        _explain(raw, separator, len(header), name)
        raise FileError(f"{name}: the rows have another number of fields than the header.")
    frame.columns = header
    frame = frame.rechunk()
    return _whole_rows(frame, raw, separator, name), separator


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
    end = 0
    while True:
        end = raw.find(b"\n", end)
        if end < 0:
            return raw.decode("utf-8").rstrip("\r\n")
        if raw.count(b'"', 0, end) % 2 == 0:
            return raw[:end].decode("utf-8").rstrip("\r")
        end += 1


def _split(record: str, separator: str) -> list[str]:
    return next(csv.reader(io.StringIO(record, newline=""), delimiter=separator), [])


def _find_separator(raw: bytes, columns: frozenset[str]) -> str:
    """Return the separator whose header has most of the expected columns, then most columns."""
    record = _first_record(raw)
    fields = {separator: _split(record, separator) for separator in SEPARATORS}
    return max(SEPARATORS, key=lambda s: (len(columns.intersection(fields[s])), len(fields[s])))


def _header(raw: bytes, separator: str, name: str) -> list[str]:
    header = _split(_first_record(raw), separator)
    twice = sorted({column for column in header if header.count(column) > 1})
    if twice:
        raise DataError(f"{name}: the header names {listing(twice)} more than once; rename the columns.")
    return header


def _whole_rows(frame: pl.DataFrame, raw: bytes, separator: str, name: str) -> pl.DataFrame:
    """Return the frame if every row has every field; polars fills short rows up without a word.

    Separators in the bytes, less those inside values, must be what whole rows need: one look at the counts
    instead of a second parse. Blank lines are no records, unless there is one column only.
    """
    if frame.width == 1:
        return frame
    seen = raw.count(separator.encode())
    if b'"' in raw:
        seen -= sum(column.count(separator) for column in frame.columns)
        inside = frame.select(pl.all().str.count_matches(separator, literal=True).sum())
        seen -= sum(value or 0 for value in inside.row(0))
    if seen == (frame.width - 1) * (frame.height + 1):
        return frame
    blank = _explain(raw, separator, frame.width, name)
    keep = np.ones(frame.height, dtype=bool)
    keep[[row for row in blank if row < frame.height]] = False
    return frame.filter(pl.Series(keep))


def _explain(raw: bytes, separator: str, width: int, name: str) -> list[int]:
    """Name the line of the first row of another width; return the records that are blank lines."""
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(io.StringIO(raw.decode("utf-8"), newline=""), delimiter=separator)
    blank: list[int] = []
    before = 0
    try:
        for record, fields in enumerate(reader):
            if not fields:
                blank.append(record - 1)
            elif len(fields) != width:
                raise FileError(
                    f"{name}: line {before + 1} has {count(len(fields), 'field')}, the header has {width}; "
                    "check separators and quotes in that line."
                )
            before = reader.line_num
    except csv.Error:
        raise FileError(f"{name}: line {reader.line_num} cannot be read as CSV; check its quotes.") from None
    return blank


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
        return value.isoformat()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if type(value).__name__ in {"NAType", "NaTType"}:
        return None
    raise TypeError(type(value).__name__)


def as_texts(column: pl.Series) -> pl.Series:
    """Return a typed column as texts, by its distinct values where the type needs a rule of ours."""
    kind = column.dtype
    if kind == pl.String:
        return column
    if kind == pl.Null or kind.is_integer() or kind in (pl.Boolean, pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    if kind == pl.Datetime and _only_dates(column):
        return column.dt.date().cast(pl.String)
    if kind.is_float() or kind.is_decimal() or (kind.is_temporal() and kind != pl.Duration):
        distinct = column.unique()
        texts = pl.Series([text_of(value) for value in distinct], dtype=pl.String)
        table = pl.DataFrame({"value": distinct, "text": texts})
        joined = column.to_frame("value").join(table, on="value", how="left", nulls_equal=True, maintain_order="left")
        return joined["text"].alias(column.name)
    raise DataError(f"the column {column.name!r} is of type {kind}, which kveil cannot read as text; convert it first.")


def _only_dates(column: pl.Series) -> bool:
    """Tell whether every moment is a midnight: a date that its frame had no type for."""
    moments = column.drop_nulls()
    return bool((moments.dt.truncate("1d") == moments).all())


# ---------------------------------------------------------------------------------------------- frames


def from_frame(frame: Any) -> Source:
    """Return a pandas, Polars or PyArrow table as a source; row labels are never looked at."""
    try:
        wrapped = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise DataError(
            f"kveil reads pandas, Polars and PyArrow tables, not {type(frame).__name__}; convert it first."
        ) from None
    names = [str(name) for name in wrapped.columns]
    columns = {str(name): _polars_column(wrapped, name) for name in wrapped.columns}
    if len(columns) != len(names):
        raise DataError("the frame has two columns of one name; rename them.")
    return Source("the frame", pl.DataFrame(columns), "frame", native=frame)


def _polars_column(frame: nw.DataFrame[Any], name: str) -> pl.Series:
    column = frame[name]
    native: Any = column.to_native()
    if isinstance(native, pl.Series):
        return native.rechunk()
    if frame.implementation.is_pyarrow():
        found = pl.from_arrow(native)
        assert isinstance(found, pl.Series)
        return found.alias(str(name))
    if column.dtype.is_numeric() and str(getattr(native, "dtype", "")).islower():
        return pl.Series(str(name), native.to_numpy())
    values = native.astype(object).tolist()
    kinds = {type(value) for value in values}
    if kinds <= {str, type(None)}:
        return pl.Series(str(name), values, dtype=pl.String)
    if column.dtype == nw.Datetime:
        return pl.Series(str(name), [None if value != value else value.to_pydatetime() for value in values])
    try:
        return pl.Series(str(name), [text_of(value) for value in values], dtype=pl.String)
    except TypeError as error:
        raise DataError(f"the column {name!r} holds values of type {error}; convert them to texts first.") from None


def to_frame(source: Source, columns: dict[str, pl.Series | None], rows: np.ndarray[Any, Any]) -> Any:
    """Return a release in the kind of frame the source was.

    A column given as None is taken from the source's own frame at ``rows``, unchanged and with its type; the
    categories of a categorical column shrink to those that are left.
    """
    native = source.native
    if native is None or isinstance(native, pl.DataFrame):
        return pl.DataFrame(
            {
                name: _fresh(source.frame[name].gather(rows)) if column is None else column
                for name, column in columns.items()
            }
        )
    wrapped = nw.from_native(native, eager_only=True)
    if wrapped.implementation.is_pyarrow():
        import pyarrow as pa

        taken = {
            name: _fresh_arrow(native.column(name).take(pa.array(rows))) if column is None else column.to_arrow()
            for name, column in columns.items()
        }
        return pa.table({name: c.cast(pa.string()) if columns[name] is not None else c for name, c in taken.items()})
    import pandas as pd

    def pandas_column(name: str) -> Any:
        column = columns[name]
        if column is not None:
            return pd.Series(column.to_list(), dtype=object)
        found = native[name].iloc[rows].reset_index(drop=True)
        return found.cat.remove_unused_categories() if found.dtype == "category" else found

    return pd.DataFrame({name: pandas_column(name) for name in columns})


def _fresh(column: pl.Series) -> pl.Series:
    """Return a column that carries nothing but its own values: no categories of rows left out."""
    if column.dtype == pl.Categorical:
        return column.cast(pl.String).cast(pl.Categorical)
    if column.dtype == pl.Enum:
        used = set(column.unique().cast(pl.String).drop_nulls())
        kept = [text for text in column.dtype.categories if text in used]  # type: ignore[attr-defined]
        return column.cast(pl.String).cast(pl.Enum(kept))
    return column


def _fresh_arrow(column: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type).dictionary_encode()
    return column


def check_columns(found: Sequence[str], expected: Iterable[str], name: str) -> None:
    """Raise DataError where a table and its policy do not have the same columns."""
    expected = list(expected)
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
        target = next(staged.target for staged in self.staged if staged.file is file)
        try:
            file.write(json.dumps(content, indent=indent, ensure_ascii=False).encode() + b"\n")
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
        for staged in self.staged:
            try:
                self._name(staged)
            except OSError as error:
                raise _write_error(staged.target, error) from None

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


def _write_error(target: Path, error: OSError) -> FileError:
    reason = error.strerror or "the system refused"
    return FileError(
        f"{target.name} cannot be written ({reason}); nothing was written. Check the folder and its space."
    )


def write_table(frame: pl.DataFrame, file: IO[bytes], target: Path, separator: str = ",") -> str:
    """Write a release to an open file by the suffix of its target; return the SHA-256 of the bytes.

    No statistics, no metadata of other programs, no dictionaries of values that are not in the rows.
    """
    kind = kind_of(target)
    try:
        if kind == "csv":
            _write_csv(frame, file, separator)
        elif kind == "parquet":
            frame.write_parquet(file, statistics=False, metadata=None)
        else:
            frame.write_ipc(file, compat_level=pl.CompatLevel.oldest())
        file.flush()
        if not file.seekable():
            return ""
        file.seek(0)
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    except OSError as error:
        raise _write_error(target, error) from None
    except pl.exceptions.PolarsError:
        raise FileError(
            f"{target.name} cannot be written; nothing was written. Check the folder and its space."
        ) from None


def _write_csv(frame: pl.DataFrame, file: IO[bytes], separator: str) -> None:
    texts: list[pl.Series] = []
    for column in frame.get_columns():
        text = as_texts(column) if column.dtype != pl.List else column
        # polars writes "" for an empty text and nothing for null; alone in its row, nothing would be no row.
        blank: Callable[[pl.Expr], pl.Expr] = (
            (lambda e: e.fill_null("")) if frame.width == 1 else (lambda e: e.replace({"": None}))
        )
        texts.append(text.to_frame().select(blank(pl.col(column.name)))[column.name])
    pl.DataFrame(texts).write_csv(file, separator=separator, line_terminator="\n")
