"""A release as the bytes of a CSV."""

from __future__ import annotations

import io
from operator import mul
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl

from kveil.arrays import Longs
from kveil.files.compression import pack_file
from kveil.files.texts import as_texts, frame_of, item_texts
from kveil.suffixes import PACKED

LONG = 4  # rows per run of equal ones from which on a line is written once and repeated
LINES = 1024  # that are repeated at a time: their copies stay in the cache


def write_csv(frame: pl.DataFrame, file: IO[bytes], target: Path, *, separator: str, missing: str) -> None:
    """Write a release to an open file, packed where the suffix of its target says so.

    ``missing`` is what is shown for a cell without a value.
    """
    if target.suffix.lower() in PACKED:
        plain = io.BytesIO()
        _write(_as_written(frame, missing), plain, separator)
        file.write(pack_file(plain.getvalue(), target))
        return
    starts = _runs(frame)
    if starts is not None:
        lines = io.BytesIO()
        _write(_as_written(frame[starts], missing), lines, separator)
        header, *different = lines.getvalue().splitlines(keepends=True)
        if len(different) == len(starts):  # else a cell has a line end of its own
            times = np.diff(starts, append=frame.height).tolist()
            file.write(header)
            for begin in range(0, len(times), LINES):
                end = begin + LINES
                file.write(b"".join(map(mul, different[begin:end], times[begin:end])))
            return
    _write(_as_written(frame, missing), file, separator)


def _write(frame: pl.DataFrame, file: IO[bytes], separator: str) -> None:
    frame.write_csv(file, separator=separator, line_terminator="\n")


def _runs(frame: pl.DataFrame) -> Longs | None:
    """Return where runs of equal rows start, as a release in order has them; None unless they are long."""
    if not frame.height or not all(isinstance(kind, pl.Categorical) for kind in frame.dtypes):
        return None
    differs = np.zeros(frame.height, dtype=bool)
    differs[0] = True
    for column in frame.get_columns():
        if column.null_count():
            return None
        codes = column.to_physical().to_numpy()
        differs[1:] |= codes[1:] != codes[:-1]
    starts = np.flatnonzero(differs)
    return starts if LONG * len(starts) <= frame.height else None


def _as_written(frame: pl.DataFrame, missing: str) -> pl.DataFrame:
    """Return a release with the texts that a CSV shows."""
    texts: list[pl.Series] = []
    for column in frame.get_columns():
        if isinstance(column.dtype, pl.Categorical) and not (column.null_count() or column.is_in([""]).any()):
            texts.append(column)  # polars writes categories as their texts
            continue
        text = joined_items(column) if column.dtype == pl.List else as_texts(column)
        if text.null_count():
            text = text.fill_null(missing)
        # polars writes "" for an empty text and nothing for null; alone in its row, nothing would be no row.
        if frame.width > 1:
            text = text.replace({"": None})
        texts.append(text)
    return frame_of(texts)


def joined_items(column: pl.Series) -> pl.Series:
    """Return sets of items as texts, null where a set is empty: nothing is known, which is no empty item."""
    frame = item_texts(column).to_frame("set")
    items = pl.when(pl.col("set").list.len() > 0).then(pl.col("set").list.join("|"))
    return frame.select(items.alias(column.name)).to_series()
