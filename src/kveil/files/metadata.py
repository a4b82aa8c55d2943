"""What a file publishes beside the cells that a table shows: metadata, statistics, values that no row has."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
import re
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np
import polars as pl

from kveil.arrays import Longs
from kveil.errors import FileError
from kveil.files.arrow_parts import arrow_parts, schema_metadata
from kveil.files.codebook import Code, Codebook
from kveil.files.column_files import sink_parquet
from kveil.files.compression import tells_beside, unpack_file
from kveil.files.csv_reading import count_byte
from kveil.files.dataset import dataset_files, is_dataset
from kveil.files.decimals import with_commas
from kveil.files.disk_tables import StoredSource, open_stored
from kveil.files.excel_parts import in_excel
from kveil.files.layout import FileLayout
from kveil.files.parquet_parts import SCHEMA_KEY, Unreadable, parquet_parts
from kveil.files.reading import read_bytes, read_table
from kveil.files.repeated_lines import RepeatedSource
from kveil.files.source import Source
from kveil.files.texts import strip_column
from kveil.files.writing import write_table
from kveil.free_form import JsonObject
from kveil.suffixes import LABELLED, PACKED
from kveil.words import count, listing

SPARK_VERSION, SPARK_SCHEMA = "org.apache.spark.version", "org.apache.spark.sql.parquet.row.metadata"
AGAIN = "write it again with nothing but its cells"
OTHERWISE = f"{{}} is not, byte for byte, what kveil writes for its cells; {AGAIN} if anything may hide there."


@dataclass(frozen=True)
class Beside:
    """What a file holds beside its cells: ``content`` that can tell more than they do, and mere ``form``."""

    content: tuple[str, ...] = ()
    form: tuple[str, ...] = ()

    def with_notes(self, name: str, strange: Sequence[str]) -> Beside:
        """Return the same with columns of which a file says something that the original does not say."""
        if not strange:
            return self
        told = f"descriptions, labels or missing codes that the original does not have ({listing(list(strange), 3)})"
        return replace(self, content=(*self.content, f"{name} holds {told}; {AGAIN}."))


def look_beside(path: Path, source: Source, missing: str, *, unchanged: Collection[str] = ()) -> Beside:
    """Compare the bytes of a file with what kveil writes for the same cells; name what it holds beside them.

    ``missing`` is what a CSV shows for a cell without a value; ``unchanged`` are the columns that are released as they
    came, of whose codes a file of SPSS or Stata may say something. Of a folder or a pattern it is every file.
    """
    if is_dataset(path):
        read = open_stored if isinstance(source, StoredSource) else read_table
        every = [look_beside(file, read(file), missing) for file in dataset_files(path)]
        form = [told for beside in every for told in beside.form]
        return Beside(tuple(told for beside in every for told in beside.content), tuple(form[:1]))
    if isinstance(source, StoredSource):
        return _look_beside_stored(path, source)
    if isinstance(source, RepeatedSource):
        if _is_plain_repeated(source, missing):
            return Beside()
        source = read_table(path, layout=FileLayout(separator=source.separator))
    if source.kind == "csv" and path.suffix.lower() not in PACKED and _is_plain_file(path, source, missing):
        return Beside()
    raw = read_bytes(path)
    packing = ("its name, a time or a comment in front of its packed content",) if tells_beside(raw) else ()
    if source.kind == "csv":
        raw, path = unpack_file(raw, path), path.with_suffix("") if path.suffix.lower() in PACKED else path
        if not packing and _is_plain(raw, source, missing):
            return Beside()
    belongs = source.codebook.of_release(unchanged)
    written = io.BytesIO()
    frame = with_commas(source.frame, source.commas, sets=source.comma_sets)
    try:
        write_table(frame, written, path, separator=source.separator, missing=missing, codebook=belongs)
    except FileError:  # a kind of file, or cells, that kveil does not write
        return Beside((f"{path.name} holds parts that kveil cannot read; {AGAIN}.",))
    ours = written.getvalue()
    if raw == ours and not packing:
        return Beside()
    try:
        told = [*packing, *_beside_cells(raw, ours, replace(source, codebook=belongs))]
    except Unreadable:
        told = ["parts that kveil cannot read"]
    if told:
        return Beside(tuple(f"{path.name} holds {what}; {AGAIN}." for what in told))
    if source.kind == "csv":
        return Beside(
            form=(
                f"{path.name} is not, byte for byte, what kveil writes for its cells (quotes, line ends or blank lines "
                f"differ); {AGAIN}.",
            )
        )
    return Beside(form=(OTHERWISE.format(path.name),))


def _look_beside_stored(path: Path, source: StoredSource) -> Beside:
    """Compare a Parquet file with what kveil writes for the same cells, neither of which has to fit into memory."""
    with path.open("rb") as file, tempfile.TemporaryFile() as written:
        columns = {name: source.unchanged(name) for name in source.columns}
        ours = sink_parquet(columns, source.rows, written, path)
        if hashlib.file_digest(file, "sha256").hexdigest() == ours:
            return Beside()
        with mmap(file.fileno(), 0, access=ACCESS_READ) as raw, mmap(written.fileno(), 0, access=ACCESS_READ) as own:
            try:
                told = _in_parquet(raw, own, source)
            except Unreadable:
                told = ["parts that kveil cannot read"]
    content = tuple(f"{path.name} holds {what}; {AGAIN}." for what in told)
    return Beside(content, () if content else (OTHERWISE.format(path.name),))


def _beside_cells(raw: bytes, ours: bytes, source: Source) -> list[str]:
    """Return what a file holds beside its cells, in words."""
    if source.kind == "csv":
        return []
    if source.kind == "excel":
        return in_excel(raw, ours)
    if source.kind in LABELLED:
        return _in_labelled(raw, source)
    return _in_parquet(raw, ours, source) if source.kind == "parquet" else _in_arrow(raw, ours, source.frame)


def _in_labelled(raw: bytes, source: Source) -> list[str]:
    """Return what is said beside cells; ``source`` has the codebook that belongs to it."""
    from kveil.files.code_labels import read_labelled

    labelled = read_labelled(raw, Path(source.name))
    found, belongs = labelled.codebook, source.codebook
    told = list(labelled.notes)
    about_codes = [name for name, notes in found.columns.items() if notes.about_codes]
    generalized = [name for name in about_codes if not belongs.of(name).about_codes]
    if generalized:
        told.append(f"labels or missing codes of columns that are generalized ({listing(generalized, 3)})")
    unused = 0
    for name in about_codes:
        shown = {_code_of(text, name, found) for text in labelled.frame[name].drop_nulls().unique().to_list()}
        if name in found.absent:
            shown |= set(found.absent[name].drop_nulls().unique().to_list())
        unused += len(set(found.of(name).values) - shown) if name not in generalized else 0
    if unused:
        told.append(f"labels of {count(unused, 'value')} that no row shows")
    return told


def _code_of(shown: Code, name: str, codebook: Codebook) -> Code:
    return codebook.labels[name].get(str(shown), shown) if name in codebook.labels else shown


def _is_plain_file(path: Path, source: Source, missing: str) -> bool:
    """Tell the same of a file that is not packed, without a second copy of its bytes; False where that is not sure."""
    try:
        with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as raw:
            return _is_plain(raw, source, missing)
    except (OSError, ValueError):  # no regular file, or nothing in it any more
        return False


def _is_plain(raw: bytes | mmap, source: Source, missing: str) -> bool:
    """Tell, without writing it again, that a CSV is what kveil writes for its cells; False where that is not sure.

    Without quotes and carriage returns a cell is what stands between two separators, so that the file is the names and
    the cells, put together again, wherever both have as many bytes and as many whole lines. Missing is written in one
    way only.
    """
    if raw.find(b'"') >= 0 or raw.find(b"\r") >= 0 or raw[-1:] != b"\n":
        return False
    size = _plain_size(source, missing, None)
    return size == len(raw) and count_byte(raw, b"\n") == source.rows + 1


def _is_plain_repeated(source: RepeatedSource, missing: str) -> bool:
    """Tell the same of a file whose different lines were counted, which has no quotes and carriage returns."""
    return _plain_size(source, missing, source.times) == source.size


def _plain_size(source: Source, missing: str, times: Longs | None) -> int | None:
    """Return how many bytes kveil writes for cells that need no quotes; None where they may need some.

    ``times`` says how many lines each row stands for, one where it is not given.
    """
    frame = source.frame
    if frame.width < 2 or frame.dtypes != [pl.String] * frame.width:
        return None
    if any(sign in missing for sign in (source.separator, "\n")):
        return None
    lengths = pl.all().fill_null(missing).str.len_bytes()
    if times is None:
        lines, cells = frame.height, int(sum(frame.select(lengths.sum()).row(0)))
    else:
        lines = int(times.sum())
        cells = int((frame.select(pl.sum_horizontal(lengths.cast(pl.Int64))).to_series().to_numpy() * times).sum())
    names = sum(len(name.encode()) for name in frame.columns)
    return names + cells + (lines + 1) * ((frame.width - 1) * len(source.separator.encode()) + len("\n"))


def _in_parquet(raw: bytes | mmap, ours: bytes | mmap, source: Source) -> list[str]:
    parts, own = parquet_parts(raw), parquet_parts(ours)
    metadata, expected = _with_schema(parts.metadata), _with_schema(own.metadata)
    told = _metadata(_without_sparks(metadata), expected)
    if parts.statistics:
        told.append(f"statistics of {count(parts.statistics, 'part')} of its columns")
    column: pl.Series | None = None
    unused = 0
    for chunk in sorted(parts.chunks, key=lambda chunk: chunk.path):  # so that every column is read once
        name = chunk.path.split(".")[0]
        if chunk.dictionary is not None and name in source.columns:
            column = source.column(name) if column is None or column.name != name else column
            cells = column.slice(chunk.first_row, chunk.rows)
            shown = cells.explode(empty_as_null=True) if cells.dtype == pl.List else cells
            unused += max(chunk.dictionary - shown.drop_nulls().n_unique(), 0)
    if unused:
        told.append(f"{count(unused, 'value')} in its dictionaries that no row shows")
    if parts.outside > own.outside:
        told.append(f"{count(parts.outside - own.outside, 'byte')} that belong to no column")
    return told


def _with_schema(metadata: dict[str, bytes]) -> dict[str, bytes]:
    """Return metadata with that of the schema which Arrow puts into it, in place of the schema."""
    found = dict(metadata)
    schema = found.pop(SCHEMA_KEY, None)
    if schema is not None:
        try:
            found |= schema_metadata(base64.b64decode(schema))
        except binascii.Error:
            raise Unreadable from None
    return found


def _without_sparks(metadata: dict[str, bytes]) -> dict[str, bytes]:
    """Return metadata without what Spark puts into every file, where that says no more than the columns do.

    That is its version, and the names and types of columns; a comment or values of a column stand there, too, if any.
    """
    found = dict(metadata)
    if re.fullmatch(rb"\d+\.\d+\.\d+", found.get(SPARK_VERSION, b"")):
        del found[SPARK_VERSION]
    try:
        fields = json.loads(found.get(SPARK_SCHEMA, b"{}"))["fields"]
        if all(_says_nothing(field) for field in fields):
            del found[SPARK_SCHEMA]
    except (ValueError, KeyError, TypeError):  # none, or none of Spark
        pass
    return found


def _says_nothing(field: JsonObject) -> bool:
    """Tell whether Spark says of a column its name and type alone, and not that it never had a cell without a value."""
    kind = field["type"]
    if isinstance(kind, dict):
        plain = set(kind) == {"type", "elementType", "containsNull"} and isinstance(kind["elementType"], str)
    else:
        plain = isinstance(kind, str)
    if not plain or set(field) != {"name", "type", "nullable", "metadata"}:
        return False
    return bool(field["nullable"]) and not field["metadata"]


def _in_arrow(raw: bytes, ours: bytes, frame: pl.DataFrame) -> list[str]:
    parts, own = arrow_parts(raw), arrow_parts(ours)
    told = _metadata(parts.metadata, own.metadata)
    unused = 0
    for number, listed in parts.dictionaries.items():
        names = [name for name, dictionary in parts.columns.items() if dictionary == number and name in frame.columns]
        shown = pl.concat([frame[name].cast(pl.String).drop_nulls() for name in names]).n_unique() if names else 0
        unused += max(listed - shown, 0)
    if unused:
        told.append(f"{count(unused, 'value')} in its dictionaries that no row shows")
    if parts.outside > own.outside:
        told.append(f"{count(parts.outside - own.outside, 'byte')} that belong to no column")
    behind = [column.name for column in frame.get_columns() if _has_values_behind(column)]
    if behind:
        told.append(f"values behind cells that show none ({listing([repr(name[:40]) for name in behind], 3)})")
    return told


def _has_values_behind(column: pl.Series) -> bool:
    """Tell whether cells that show no value still have different ones in memory.

    One filling for all of them tells nothing: other programs write zeros, or what stands for no number.
    """
    if not column.null_count():
        return False
    column = column.rechunk()
    held, shown = (np.frombuffer(_as_arrow(part), dtype=np.uint32) for part in (column, strip_column(column).rechunk()))
    return len(held) != len(shown) or len(np.unique(held[held != shown])) > 1


def _as_arrow(column: pl.Series) -> bytes:
    written = io.BytesIO()
    column.to_frame().write_ipc(written, compat_level=pl.CompatLevel.oldest())
    raw = written.getvalue()
    return raw[: len(raw) // 4 * 4]


def _metadata(metadata: dict[str, bytes], expected: dict[str, bytes]) -> list[str]:
    more = sorted(key for key, value in metadata.items() if expected.get(key) != value)
    if not more:
        return []
    return [f"metadata beside its cells ({listing([repr(key[:40]) for key in more], 3)})"]
