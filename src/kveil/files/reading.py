"""Tables out of files: CSV by our own rules, everything else by the libraries for it."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import polars as pl

from kveil.errors import FileError
from kveil.files.compression import unpack_file
from kveil.files.csv_reading import EarlyText, read_csv
from kveil.files.dataset import is_dataset, read_dataset
from kveil.files.encodings import UTF8, in_utf8
from kveil.files.source import Source, kind_of
from kveil.suffixes import LABELLED


def read_table(
    path: Path,
    *,
    separator: str | None = None,
    columns: Iterable[str] = (),
    hashed: bool = False,
    encoding: str = UTF8,
    in_pieces: bool = False,
) -> Source:
    """Read a table by its suffix, or all Parquet files of a folder or pattern as one table.

    ``columns`` are the names expected, a help in finding the separator; ``encoding`` is that of a CSV. With
    ``in_pieces`` columns stay in the pieces in which they were read: joining them takes time, which pays only where
    they are looked at several times.
    """
    if is_dataset(path):
        frame, digest = read_dataset(path, hashed=hashed)
        source = Source(path.name, frame, "parquet", sha256=digest)
    else:
        kind_of(path)
        source = parse_early(
            EarlyText(read_bytes(path)), path, separator=separator, columns=columns, hashed=hashed, encoding=encoding
        )
    return source if in_pieces else replace(source, frame=source.frame.rechunk())


def read_bytes(path: Path) -> bytes:
    """Return all of a file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"{path.name}: the file cannot be read ({error.strerror}); check the path.") from None


def parse_table(raw: bytes, path: Path, *, separator: str | None = None, columns: Iterable[str] = ()) -> Source:
    """Read a table out of the bytes of a file, by the suffix of its path."""
    source = parse_early(EarlyText(raw), path, separator=separator, columns=columns)
    return replace(source, frame=source.frame.rechunk())


def parse_early(
    early: EarlyText,
    path: Path,
    *,
    separator: str | None = None,
    columns: Iterable[str] = (),
    hashed: bool = False,
    encoding: str = UTF8,
) -> Source:
    """Read a table whose bytes were read before; columns of a CSV stay in the pieces in which they were."""
    kind, raw = kind_of(path), early.raw
    digest = hashlib.sha256(raw).hexdigest() if hashed else None
    if kind == "csv":
        text = in_utf8(unpack_file(raw, path), encoding, path.name)
        frame, separator = read_csv(text, path.name, separator, frozenset(columns), early=early)
        return Source(
            path.name, frame, kind, separator=separator, sha256=digest, encoding=encoding, quoted=b'"' in text
        )
    if kind == "excel":
        from kveil.files.excel import read_excel

        return Source(path.name, read_excel(raw, path.name), kind, sha256=digest)
    if kind in LABELLED:
        from kveil.files.code_labels import read_labelled

        labelled = read_labelled(raw, path)
        return Source(path.name, labelled.frame, kind, sha256=digest, labels=labelled.labels)
    read: Callable[..., pl.DataFrame] = pl.read_parquet
    if kind == "arrow":
        read = pl.read_ipc if raw.startswith(b"ARROW1") else pl.read_ipc_stream
    try:
        frame = read(io.BytesIO(raw))
    except Exception:  # polars raises its own kinds, ArrowError texts quote bytes of the file
        raise FileError(
            f"{path.name}: this is not a whole {kind.capitalize()} file; it may be cut off or of another kind."
        ) from None
    return Source(path.name, frame, kind, sha256=digest)
