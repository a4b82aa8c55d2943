"""A release whose columns wait in files is byte for byte what is written from memory."""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from kveil.errors import FileError
from kveil.files import column_files
from kveil.files.column_files import ShownCells, open_file_path, sink_parquet
from kveil.files.writing import write_table


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_columns_are_written_as_a_frame_would_be(rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_files, "ROWS_PER_GROUP", 3)
    monkeypatch.setattr("kveil.files.writing.ROWS_PER_GROUP", 3)
    texts, numbers = pl.Series("t", [f"t{i % 2}" for i in range(rows)], dtype=pl.String), pl.Series("n", range(rows))
    shown = ShownCells(pl.Series("s", ["x", "y"]), (np.arange(rows) % 2).astype(np.int32))
    cells = [["x", "y"][i % 2] for i in range(rows)]
    frame = pl.DataFrame({"t": texts, "n": numbers.cast(pl.Int64), "s": pl.Series(cells, dtype=pl.String)})
    whole = io.BytesIO()
    expected = write_table(frame, whole, tmp_path / "a.parquet")
    with (tmp_path / "b.parquet").open("w+b") as file:
        columns = {"t": texts, "n": lambda: numbers.cast(pl.Int64), "s": shown}
        digest = sink_parquet(columns, rows, file, tmp_path / "b.parquet")
        file.seek(0)
        read = pl.read_parquet(io.BytesIO(file.read()))
    assert read.rows() == frame.rows()
    assert digest == expected
    assert sorted(os.listdir(tmp_path)) == ["b.parquet"]  # what waited is gone


def test_an_open_file_without_a_name_has_a_path(tmp_path: Path) -> None:
    with (tmp_path / "a").open("w+b") as file:
        file.write(b"content")
        file.flush()
        assert open_file_path(file).read_bytes() == b"content"


def test_a_disk_that_refuses_is_told(tmp_path: Path) -> None:
    with (tmp_path / "a").open("w+b") as file, pytest.raises(FileError, match=r"a\.parquet cannot be written"):
        sink_parquet({"t": lambda: pl.Series(["x"])}, 1, file, tmp_path / "no folder" / "a.parquet")
