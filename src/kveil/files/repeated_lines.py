"""A CSV whose lines repeat, as those of a release do: each different line is taken apart once, and counted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl

from kveil.arrays import Longs
from kveil.errors import KveilError
from kveil.files.csv_reading import read_csv
from kveil.files.encodings import MARK, UTF8, in_utf8
from kveil.files.layout import FileLayout
from kveil.files.source import Source
from kveil.stopping import check_cancelled
from kveil.suffixes import PACKED

BLOCK = 1 << 22  # bytes that are looked at at a time: few enough for a cache, enough for lines to repeat in them
FEW = 4  # lines per different line from which on counting them takes less time than reading all of them
LINE, TIMES = "line", "times"
UNIT = "\x1f"  # what separates nothing in a line
NOT_PLAIN = (b'"', b"\r", UNIT.encode())  # in their presence a line is not what stands between two line ends


@dataclass(frozen=True)
class RepeatedSource(Source):
    """A CSV of which ``frame`` has every different row once; ``times`` says how many lines of the file are so.

    ``size`` is the number of bytes of the file, which has no quotes, carriage returns or blank lines.
    """

    times: Longs = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    size: int = 0


def read_repeated(
    path: Path, layout: FileLayout, *, columns: Iterable[str], hashed: bool = False
) -> RepeatedSource | None:
    """Read a CSV in UTF-8 whose lines repeat; None where they do not, or where only reading all of it tells what it is.

    Without quotes two lines are equal where all of their cells are. ``columns`` are the names expected, a help in
    finding the separator.
    """
    if path.suffix.lower() in PACKED:
        return None
    digest = hashlib.sha256() if hashed else None
    try:
        with path.open("rb") as file:
            header = file.readline()
            if not _is_plain(header, path.name):
                return None
            if digest is not None:
                digest.update(header)
            counted = _counted(file, path.name, digest)
            size = file.tell()
        if counted is None:
            return None
        text = header + "\n".join([*counted[LINE].to_list(), ""]).encode()
        frame, separator = read_csv(text, path.name, layout, frozenset(columns))
    except (OSError, KveilError):  # the reader of whole files says what is wrong, and in which line
        return None
    times = counted[TIMES].to_numpy().astype(np.int64)
    # Polars passes over blank lines, of the file or among the different ones: then the numbers do not agree.
    lengths = counted[LINE].str.len_bytes().to_numpy()
    if frame.width < 2 or frame.height != len(times) or len(header) + int(((lengths + 1) * times).sum()) != size:
        return None
    told = None if digest is None else digest.hexdigest()
    return RepeatedSource(
        path.name, frame, "csv", separator=separator, sha256=told, quoted=False, times=times, size=size
    )


def _counted(file: IO[bytes], name: str, digest: hashlib._Hash | None) -> pl.DataFrame | None:
    """Return the different lines of what is left of a file, with how many there are; None as `read_repeated` says."""
    parts: list[pl.DataFrame] = []
    seen = kept = 0
    for block in _blocks(file):
        check_cancelled()
        if not _is_plain(block, name):
            return None
        if digest is not None:
            digest.update(block)
        lines = _lines(block)
        if lines is None:
            return None
        part = _tally(lines)
        seen, kept = seen + len(lines), kept + part.height
        if kept * FEW > seen:
            return None
        parts.append(part)
    if not parts:
        return None
    return pl.concat(parts).group_by(LINE, maintain_order=True).agg(pl.col(TIMES).sum())


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Give what is left of a file in blocks of whole lines."""
    while block := file.read(BLOCK):
        yield block if block.endswith(b"\n") else block + file.readline()


def _is_plain(block: bytes, name: str) -> bool:
    """Tell whether whole lines hold nothing but cells and separators; raise FileError where they are no UTF-8."""
    if block.startswith((b"\n", MARK)) or not block.endswith(b"\n") or any(sign in block for sign in NOT_PLAIN):
        return False
    in_utf8(block, UTF8, name)
    return True


def _lines(block: bytes) -> pl.Series | None:
    """Return the lines of a block, None where Polars takes them for something else."""
    try:
        frame = pl.read_csv(
            block,
            has_header=False,
            separator=UNIT,
            quote_char=None,
            infer_schema=False,
            empty_string_is_null=False,
            glob=False,
        )
    except pl.exceptions.PolarsError:
        return None
    return frame.to_series().alias(LINE) if frame.width == 1 else None


def _tally(lines: pl.Series) -> pl.DataFrame:
    """Return the different lines with how many there are; first those are counted that stand one behind another."""
    runs = lines.rle().struct.unnest()
    return (
        runs.select(pl.col("value").alias(LINE), pl.col("len").cast(pl.Int64).alias(TIMES))
        .group_by(LINE, maintain_order=True)
        .agg(pl.col(TIMES).sum())
    )
