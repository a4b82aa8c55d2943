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
from kveil.files.dataset import check_rows, is_dataset, read_dataset
from kveil.files.encodings import in_utf8
from kveil.files.layout import PLAIN_LAYOUT, FileLayout, check_layout, lines_below
from kveil.files.source import Source, check_plain_names, kind_of
from kveil.suffixes import LABELLED, Kind


def read_table(
    path: Path,
    *,
    layout: FileLayout = PLAIN_LAYOUT,
    columns: Iterable[str] = (),
    hashed: bool = False,
    in_pieces: bool = False,
) -> Source:
    """Read a table by its suffix, or all Parquet files of a folder or pattern as one table.

    ``columns`` are the names expected, a help in finding the separator. With ``in_pieces`` columns stay in the pieces
    in which they were read: joining them takes time, which pays only where they are looked at several times.
    """
    if is_dataset(path):
        check_layout(layout, "parquet", path.name)
        frame, digest = read_dataset(path, hashed=hashed)
        check_plain_names(frame.columns, path.name)
        source = Source(path.name, frame, "parquet", sha256=digest)
    else:
        check_layout(layout, kind_of(path), path.name)
        source = parse_early(EarlyText(read_bytes(path)), path, layout=layout, columns=columns, hashed=hashed)
    return source if in_pieces else replace(source, frame=source.frame.rechunk())


def read_bytes(path: Path) -> bytes:
    """Return all of a file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"{path.name}: the file cannot be read ({error.strerror}); check the path.") from None


def parse_table(raw: bytes, path: Path, *, layout: FileLayout = PLAIN_LAYOUT, columns: Iterable[str] = ()) -> Source:
    """Read a table out of the bytes of a file, by the suffix of its path."""
    source = parse_early(EarlyText(raw), path, layout=layout, columns=columns)
    return replace(source, frame=source.frame.rechunk())


def parse_early(
    early: EarlyText,
    path: Path,
    *,
    layout: FileLayout = PLAIN_LAYOUT,
    columns: Iterable[str] = (),
    hashed: bool = False,
) -> Source:
    """Read a table whose bytes were read before; columns of a CSV stay in the pieces in which they were."""
    kind, raw = kind_of(path), early.raw
    check_layout(layout, kind, path.name)
    digest = hashlib.sha256(raw).hexdigest() if hashed else None
    if kind == "csv":
        source = _parse_csv(early, path, layout, frozenset(columns))
    elif kind == "excel":
        from kveil.files.excel import read_excel

        sheet = read_excel(raw, path.name, layout)
        source = Source(path.name, sheet.frame, kind, sheet=layout.sheet, skip=layout.skip, left_aside=sheet.others)
    elif kind in LABELLED:
        from kveil.files.code_labels import read_labelled

        labelled = read_labelled(raw, path)
        source = Source(path.name, labelled.frame, kind, codebook=labelled.codebook)
    else:
        source = Source(path.name, _parse_typed(raw, kind, path.name), kind)
    check_plain_names(source.columns, path.name)
    return replace(source, sha256=digest) if hashed else source


def _parse_csv(early: EarlyText, path: Path, layout: FileLayout, columns: frozenset[str]) -> Source:
    text = in_utf8(unpack_file(early.raw, path), layout.encoding, path.name)
    text = lines_below(text, layout.skip, path.name)
    frame, separator = read_csv(text, path.name, layout, columns, early=early)
    return Source(
        path.name,
        frame,
        "csv",
        separator=separator,
        encoding=layout.encoding,
        skip=layout.skip,
        quoted=b'"' in text,
    )


def _parse_typed(raw: bytes, kind: Kind, name: str) -> pl.DataFrame:
    read: Callable[..., pl.DataFrame] = pl.read_parquet
    if kind == "arrow":
        read = pl.read_ipc if raw.startswith(b"ARROW1") else pl.read_ipc_stream
    try:
        if kind == "parquet":
            check_rows(io.BytesIO(raw), name)
        return read(io.BytesIO(raw))
    except FileError:
        raise
    except Exception:  # polars raises its own kinds, ArrowError texts quote bytes of the file
        raise FileError(
            f"{name}: this is not a whole {kind.capitalize()} file; it may be cut off or of another kind."
        ) from None
