"""What a Parquet file holds beside its cells."""

from __future__ import annotations

import io

import polars as pl
import pytest

from kveil.files.parquet_parts import Unreadable, parquet_parts

FRAME = pl.DataFrame({"a": ["x", "y", "x", "x"], "n": [1, 2, 3, 4]})


def written(**options: object) -> bytes:
    out = io.BytesIO()
    FRAME.write_parquet(out, **options)
    return out.getvalue()


def test_a_plain_file_holds_nothing_but_its_cells() -> None:
    parts = parquet_parts(written(statistics=False))
    assert parts.statistics == 0
    assert {chunk.path: (chunk.first_row, chunk.rows) for chunk in parts.chunks} == {"a": (0, 4), "n": (0, 4)}


def test_statistics_and_metadata_are_seen() -> None:
    parts = parquet_parts(written(statistics=True, metadata={"who": "Ann"}))
    assert parts.statistics > 0
    assert parts.metadata["who"] == b"Ann"


def test_row_groups_follow_one_another_and_dictionaries_are_counted() -> None:
    parts = parquet_parts(written(statistics=False, row_group_size=2))
    own = [chunk for chunk in parts.chunks if chunk.path == "a"]
    assert [(chunk.first_row, chunk.rows) for chunk in own] == [(0, 2), (2, 2)]
    assert [chunk.dictionary for chunk in own] in ([2, 1], [None, None], [2, None], [None, 1])


def test_bytes_that_belong_to_no_column_are_counted() -> None:
    raw = written(statistics=False)
    size = int.from_bytes(raw[-8:-4], "little")
    hidden = raw[: -8 - size] + b"secret" + raw[-8 - size :]
    assert parquet_parts(hidden).outside == parquet_parts(raw).outside + 6


@pytest.mark.parametrize("raw", [b"", b"PAR1", b"no parquet at all"])
def test_what_is_no_parquet_file_is_unreadable(raw: bytes) -> None:
    with pytest.raises(Unreadable):
        parquet_parts(raw)
