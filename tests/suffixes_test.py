"""What the end of a file's name says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kveil.suffixes import LABELLED, SUFFIXES, WRITTEN, plain_suffix, suffix_of


@pytest.mark.parametrize(
    ("name", "suffix", "plain"),
    [
        ("a.CSV", ".csv", ".csv"),
        ("a.b.csv.gz", ".csv.gz", ".csv"),
        ("a.tsv.ZST", ".tsv.zst", ".tsv"),
        ("a.gz", ".gz", ""),
        ("a", "", ""),
    ],
)
def test_both_parts_of_a_packed_csv_count(name: str, suffix: str, plain: str) -> None:
    assert suffix_of(Path(name)) == suffix
    assert plain_suffix(suffix) == plain


def test_what_is_written_is_also_read() -> None:
    assert set(SUFFIXES) > WRITTEN
    assert set(LABELLED) < set(SUFFIXES.values())
