"""Tables by their suffix: the same texts whatever the kind of file."""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl
import pytest

from kveil.errors import FileError
from kveil.files.reading import parse_table, read_bytes, read_table

FRAME = pl.DataFrame({"a": ["x", "y"], "b": ["1", ""]})


def written(folder: Path, name: str) -> Path:
    path = folder / name
    if name.endswith(".csv"):
        FRAME.write_csv(path)
    elif name.endswith(".parquet"):
        FRAME.write_parquet(path)
    elif name.endswith(".arrows.arrow"):
        FRAME.write_ipc_stream(path)
    else:
        FRAME.write_ipc(path)
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arrow", "t.arrows.arrow"])
def test_a_table_is_read_and_hashed(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name)
    source = read_table(path, hashed=True)
    assert source.frame.rows() == FRAME.rows()
    assert source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert read_table(path).sha256 is None
    assert parse_table(path.read_bytes(), path).frame.rows() == FRAME.rows()


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_a_file_that_is_cut_off_is_told_without_its_bytes(tmp_path: Path, name: str) -> None:
    raw = written(tmp_path, name).read_bytes()
    with pytest.raises(FileError, match=f"{name}: this is not a whole"):
        parse_table(raw[: len(raw) // 2], Path(name))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"t\.csv: the file cannot be read \(No such file"):
        read_bytes(tmp_path / "t.csv")
