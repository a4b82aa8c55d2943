"""A CSV is the same bytes whether its rows are written one by one or by runs of equal ones."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kveil.files.csv_writing import LINES, LONG, write_csv

CELLS = st.sampled_from(["", "a", "b,c", 'd"e', "f\ng", "h\ri", " j ", "ü", "*"])


def written(frame: pl.DataFrame, name: str = "t.csv", separator: str = ",") -> bytes:
    file = io.BytesIO()
    write_csv(frame, file, Path(name), separator=separator, missing="NA")
    return file.getvalue()


def as_categories(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.all().cast(pl.Categorical))


@given(
    rows=st.lists(st.tuples(CELLS, CELLS, st.integers(1, 12)), max_size=12),
    width=st.integers(1, 2),
    separator=st.sampled_from([",", ";"]),
)
def test_runs_of_equal_rows_are_written_as_rows_are(
    rows: list[tuple[str, str, int]], width: int, separator: str
) -> None:
    cells = {"x,y": [x for x, _, n in rows for _ in range(n)], "z": [z for _, z, n in rows for _ in range(n)]}
    frame = pl.DataFrame(cells, schema=dict.fromkeys(cells, pl.String)).select(list(cells)[:width])
    assert written(as_categories(frame), separator=separator) == written(frame, separator=separator)


def test_many_lines_are_repeated_piece_by_piece() -> None:
    texts = [f"t{i}" for i in range(3 * LINES + 5)]
    frame = pl.DataFrame({"a": [text for text in texts for _ in range(LONG)], "b": ["x"] * LONG * len(texts)})
    assert written(as_categories(frame)) == written(frame)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_missing_is_written_by_its_text(name: str) -> None:
    frame = pl.DataFrame({"a": ["x"] * 8 + [None] * 8, "b": ["y"] * 16})
    assert written(as_categories(frame), name) == written(frame, name)
    if name == "t.csv":
        assert written(as_categories(frame)) == b"a,b\n" + b"x,y\n" * 8 + b"NA,y\n" * 8
