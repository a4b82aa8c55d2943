"""Write a release whose columns do not fit into memory together: each waits in a file of its own, without a name."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.io.plugins import register_io_source

from kveil.files.texts import strip_column
from kveil.files.writing import ROWS_PER_GROUP, write_error


@dataclass(frozen=True)
class ShownCells:
    """A column whose rows show few cells: which of them each row shows."""

    cells: pl.Series
    shown: NDArray[np.int32]

    def part(self, start: int) -> pl.Series:
        """Return the column's rows from a place on."""
        part = self.cells.gather(self.shown[start : start + ROWS_PER_GROUP])
        return part if part.dtype == pl.String else strip_column(part)


SpilledColumn = pl.Series | ShownCells | Callable[[], pl.Series]


def sink_parquet(columns: Mapping[str, SpilledColumn], rows: int, file: IO[bytes], target: Path) -> str:
    """Write columns to an open Parquet file, byte for byte what `write_table` writes; return the SHA-256 of the bytes.

    A column that is a function is made, written beside the target and let go, one after another. Categories are
    written as their texts.
    """
    try:
        with ExitStack() as stack:
            parts = {name: _part(column, target.parent, stack) for name, column in columns.items()}
            schema = {name: kind for name, (kind, _) in parts.items()}

            def batches(
                wanted: list[str] | None, predicate: pl.Expr | None, most: int | None, size: int | None
            ) -> Iterator[pl.DataFrame]:
                for start in range(0, max(rows, 1), ROWS_PER_GROUP):
                    yield pl.DataFrame({name: part(start) for name, (_, part) in parts.items()}, schema=schema)

            table = register_io_source(batches, schema=schema)
            table.sink_parquet(file, statistics=False, row_group_size=ROWS_PER_GROUP, engine="streaming")
        file.flush()
        file.seek(0)
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    except (OSError, pl.exceptions.PolarsError) as error:
        raise write_error(target, error) from None


def open_file_path(file: IO[bytes]) -> Path:
    """Return a path to an open file that has no name: Linux has one, and other systems that know no such files."""
    linux = Path(f"/proc/self/fd/{file.fileno()}")
    return linux if linux.exists() else Path(f"/dev/fd/{file.fileno()}")


def _part(column: SpilledColumn, folder: Path, stack: ExitStack) -> tuple[pl.DataType, Callable[[int], pl.Series]]:
    """Return the type of a column as it is written, and a way to its rows from a place on."""
    if isinstance(column, ShownCells):
        return column.cells.dtype, column.part
    if isinstance(column, pl.Series):
        if isinstance(column.dtype, pl.Categorical):
            return pl.String(), lambda start: column.slice(start, ROWS_PER_GROUP).cast(pl.String)
        kept = column if column.dtype == pl.String else strip_column(column)
        return kept.dtype, lambda start: kept.slice(start, ROWS_PER_GROUP)
    made = column()
    made = made if made.dtype == pl.String else strip_column(made)
    if isinstance(made.dtype, (pl.Categorical, pl.Enum)):  # their categories would have to be the same in every batch
        return made.dtype, lambda start: made.slice(start, ROWS_PER_GROUP)
    waiting = stack.enter_context(tempfile.TemporaryFile(dir=folder))  # noqa: SIM115, the stack closes it
    made.to_frame().write_ipc(waiting, compression="uncompressed", compat_level=pl.CompatLevel.newest())
    waiting.flush()
    scanned = pl.scan_ipc(open_file_path(waiting), glob=False)
    return made.dtype, lambda start: scanned.slice(start, ROWS_PER_GROUP).collect().to_series()
