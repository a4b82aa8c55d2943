"""A table as it came in, and which columns it must have."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from kveil.errors import DataError, FileError
from kveil.files.source import WRITTEN_INSTEAD, Source, check_columns, check_named, check_written, kind_of
from kveil.suffixes import SUFFIXES, WRITTEN


def test_columns_are_texts_or_typed() -> None:
    source = Source("t", pl.DataFrame({"a": [1, None], "b": ["x", "x"]}), "frame")
    assert source.texts("a").to_list() == source.held("a").to_list() == ["1", None]
    assert source.column("a").dtype == source.dtype("a") == pl.Int64
    assert (source.rows, source.columns, source.distinct(["b"])) == (2, ["a", "b"], 1)
    with pytest.raises(DataError, match="t lacks the column c"):
        source.texts("c")
    changed = source.with_changed({"b": pl.lit("y")}, name="other")
    assert (changed.name, changed.texts("b").to_list(), source.texts("b").to_list()) == ("other", ["y"] * 2, ["x"] * 2)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.PARQUET", "a.sav"])
def test_a_kind_is_named_by_the_suffix(name: str) -> None:
    assert kind_of(Path(name)) in set(SUFFIXES.values())


@pytest.mark.parametrize("name", ["a.doc", "a", "a.parquet.gz"])
def test_other_suffixes_are_refused_by_name(name: str) -> None:
    with pytest.raises(FileError, match="kveil does not know files that end in"):
        kind_of(Path(name))


@pytest.mark.parametrize("suffix", sorted(SUFFIXES))
def test_what_is_only_read_says_what_is_written_instead(suffix: str) -> None:
    path = Path(f"release{suffix}")
    if suffix in WRITTEN:
        check_written(path)
    else:
        with pytest.raises(FileError, match="reads files that end in") as caught:
            check_written(path)
        assert WRITTEN_INSTEAD[SUFFIXES[suffix]] in str(caught.value)


def test_a_table_has_the_columns_of_its_policy() -> None:
    check_columns(["a", "b"], ["b", "a"], "t")
    with pytest.raises(DataError, match="1 column without a role: c"):
        check_columns(["a", "c"], ["a"], "t")
    with pytest.raises(DataError, match=r"t lacks ab.*did you mean 'abc'"):
        check_columns(["x", "abc"], ["x", "abc", "ab"], "t")
    with pytest.raises(DataError, match="has none of the columns") as caught:
        check_named(["Ann", "31"], ["name", "age"], "t")
    assert "Ann" not in str(caught.value)  # the first line may be a record
