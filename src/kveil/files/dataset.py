"""A table in several Parquet files: a folder of them, or a pattern that names them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from glob import glob, has_magic
from pathlib import Path
from typing import IO
from urllib.parse import unquote

import polars as pl

from kveil.errors import DataError, FileError
from kveil.files.room import check_declared
from kveil.files.source import check_plain_names
from kveil.files.texts import least_width
from kveil.words import count, listing

ENDINGS = (".parquet", ".pq")
INSTEAD = "take engine stream, which reads it column by column, or use a machine with more memory"
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # what Hive and Spark call a folder of rows without a value


def is_dataset(path: Path) -> bool:
    """Tell whether a path names several files: it is a folder, or a pattern that is no file itself."""
    try:
        return path.is_dir() or (has_magic(str(path)) and not path.exists())
    except OSError:  # a name too long, say, which is told where the file is read
        return False


def dataset_files(path: Path) -> list[Path]:
    """Return the Parquet files of a folder, with those of folders inside it, or of a pattern, by name.

    What begins with a dot or an underscore is left out: Spark writes such files beside those of a table.
    """
    if path.is_dir():
        try:
            inside = [file.relative_to(path) for file in path.rglob("*") if file.suffix.lower() in ENDINGS]
        except OSError as error:  # of folders that come and go
            raise FileError(f"{path.name}: the folder cannot be read ({error.strerror}); check the path.") from None
        files = [path / file for file in inside if not any(part[0] in "._" for part in file.parts)]
    else:
        files = [Path(file) for file in glob(str(path), recursive=True)]
        strange = [file.name for file in files if file.suffix.lower() not in ENDINGS]
        if strange:
            raise FileError(
                f"{path.name}: the pattern also names {listing(strange)}; only Parquet files make up one table "
                "together, so end the pattern in .parquet."
            )
    if not files:
        raise FileError(
            f"{path.name}: there is no Parquet file {'in the folder' if path.is_dir() else 'of this pattern'}; "
            "check the path."
        )
    return sorted(files)


def read_dataset(path: Path, *, hashed: bool = False) -> tuple[pl.DataFrame, str | None]:
    """Return the rows of all files, those of the first file first, and a hash over all of them if it is asked for."""
    files = dataset_files(path)
    parts: list[pl.DataFrame] = []
    hashes = hashlib.sha256()
    for file in files:
        part = _read_part(file)
        if hashed:
            hashes.update(hashlib.sha256(file.read_bytes()).digest())
        parts.append(with_folder_columns(part, file.relative_to(path) if path.is_dir() else file))
    return rows_together(parts, files, path.name), hashes.hexdigest() if hashed else None


def _read_part(file: Path) -> pl.DataFrame:
    try:
        check_rows(file, file.name)
        return pl.read_parquet(file, glob=False, hive_partitioning=False)
    except FileError:
        raise
    except Exception as error:  # polars raises its own kinds, whose texts quote bytes of the file
        reason = getattr(error, "strerror", None)
        told = f"cannot be read ({reason})" if reason else "is not a whole Parquet file; it may be cut off"
        raise FileError(f"{file.name}: the file {told}; check the folder.") from None


def check_rows(file: Path | IO[bytes], name: str) -> None:
    """Raise FileError where the rows that a Parquet file declares cannot be held in memory."""
    scanned = pl.scan_parquet(file, glob=False, hive_partitioning=False)
    rows = int(scanned.select(pl.len()).collect().item())
    check_declared(name, rows, least_width(scanned.collect_schema().dtypes()), instead=INSTEAD)


def with_folder_columns(part: pl.DataFrame, file: Path) -> pl.DataFrame:
    """Return a part with the columns that folders like `year=2024` stand for, as texts."""
    named = [match for folder in file.parts[:-1] if (match := re.fullmatch("([^=]+)=(.*)", folder))]
    values = {unquote(match[1]): None if match[2] == NO_VALUE else unquote(match[2]) for match in named}
    return part.with_columns(
        pl.lit(value, dtype=pl.String).alias(name) for name, value in values.items() if name not in part.columns
    )


def rows_together(parts: Sequence[pl.DataFrame], files: Sequence[Path], name: str) -> pl.DataFrame:
    """Return the rows of files as one table; raise DataError where their columns are not the same."""
    first = parts[0]
    check_plain_names(first.columns, name)
    for part, file in zip(parts, files, strict=True):
        if set(part.columns) != set(first.columns):
            raise DataError(
                f"{name}: {file.name} has other columns than {files[0].name}; give all "
                f"{count(len(files), 'file')} the same ones."
            )
    kinds = {column: {_family(part.schema[column]) for part in parts} - {"null"} for column in first.columns}
    mixed = [column for column, families in kinds.items() if len(families) > 1]
    if mixed:
        raise DataError(
            f"{name}: the files disagree on the type of {listing(mixed)}; write them with one type for each column."
        )
    return pl.concat([part.select(first.columns) for part in parts], how="vertical_relaxed")


def _family(kind: pl.DataType) -> str:
    """Return what a type must have in common with those of other files: wider and narrower numbers go together."""
    if kind == pl.Null:
        return "null"
    return "number" if kind.is_integer() or kind.is_float() else str(kind)
