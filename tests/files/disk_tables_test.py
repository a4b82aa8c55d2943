"""Tables that stay on the disk give what the same tables in memory give."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from kveil.errors import FileError
from kveil.files import read_table
from kveil.files.disk_tables import CategorySource, SharedSource, as_categories, number_texts, open_stored

FRAME = pl.DataFrame({"a": ["x", None, "y", "x"], "n": [1, 2, None, 4], "d": [1.5, 2.0, 3.0, None]})


@pytest.fixture
def table(tmp_path: Path) -> Path:
    FRAME.write_parquet(tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def test_a_stored_table_reads_as_one_in_memory(table: Path) -> None:
    stored, held = open_stored(table, hashed=True), read_table(table)
    assert (stored.rows, stored.columns) == (held.rows, held.columns)
    for name in FRAME.columns:
        assert stored.texts(name).to_list() == held.texts(name).to_list()
        assert stored.dtype(name) == held.dtype(name)
        assert stored.held(name).cast(pl.String).to_list() == held.texts(name).to_list()
    assert stored.sha256 == sha256(table.read_bytes()).hexdigest()
    assert stored.distinct(["a"]) == held.distinct(["a"]) == 3


def test_a_folder_of_files_is_one_table_in_the_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    FRAME[2:].write_parquet(tmp_path / "t" / "b.parquet")
    FRAME[:2].write_parquet(tmp_path / "t" / "a.parquet")
    stored = open_stored(tmp_path / "t")
    assert stored.rows == 4
    assert stored.texts("n").to_list() == ["1", "2", None, "4"]


def test_what_is_no_whole_file_is_told_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 planted")
    with pytest.raises(FileError, match=r"^cut\.parquet: the file is not a whole Parquet file"):
        open_stored(tmp_path / "cut.parquet")
    with pytest.raises(FileError, match=r"^gone\.parquet"):
        open_stored(tmp_path / "gone.parquet")


@pytest.mark.parametrize("seed", range(4))
def test_texts_are_numbered_in_the_order_in_which_they_come(seed: int) -> None:
    texts = np.random.default_rng(seed).choice(["p", "q", "r", ""], 30).tolist()
    texts[seed] = None
    number, first = number_texts(pl.Series(texts, dtype=pl.String))
    seen: dict[str | None, int] = {}
    for row, text in enumerate(texts):
        assert number[row] == seen.setdefault(text, len(seen))
    assert [texts[row] for row in first.tolist()] == list(seen)
    assert first.tolist() == [texts.index(text) for text in seen]


def test_categories_are_those_of_the_column_alone() -> None:
    texts = pl.Series(["b", "a", None, "b"])
    held = as_categories(texts)
    assert held.cast(pl.String).to_list() == texts.to_list()
    assert held.to_physical().dtype == pl.UInt16
    assert as_categories(texts, compact=False).to_physical().dtype == pl.UInt32
    assert sorted(held.to_physical().drop_nulls().unique().to_list()) == [0, 1]  # no codes of other columns


def test_columns_that_are_categories_are_given_as_such_and_others_as_ever() -> None:
    frame = pl.DataFrame({"a": as_categories(pl.Series(["x", "y"])), "b": ["p", "q"]})
    source = CategorySource("t", frame, "frame")
    assert source.held("a") is frame["a"] or source.held("a").equals(frame["a"])
    assert source.held("b").cast(pl.String).to_list() == ["p", "q"]
    asked: list[int] = []

    def made() -> pl.Series:
        asked.append(1)
        return as_categories(pl.Series(["x", "y"]))

    shared = SharedSource("t", frame.with_columns(a=pl.col("a").cast(pl.String)), "frame", shared={"a": made})
    assert shared.held("a").cast(pl.String).to_list() == ["x", "y"]
    assert shared.held("b").cast(pl.String).to_list() == ["p", "q"]
    assert asked == [1]
