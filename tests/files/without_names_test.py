"""Files without a line of names."""

from __future__ import annotations

from pathlib import Path

import pytest

from kveil.errors import DataError, FileError
from kveil.files.without_names import read_headless


def written(folder: Path, text: str, name: str = "t.data") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    ["39, Bachelors\n50, HS-grad\n\n", "39;Bachelors\r50;HS-grad\r", "39\tBachelors\n50\tHS-grad"],
)
def test_columns_get_the_names_that_are_given(tmp_path: Path, text: str) -> None:
    source = read_headless(written(tmp_path, text), ["age", "degree"])
    assert source.frame.rows() == [("39", "Bachelors"), ("50", "HS-grad")]
    assert source.columns == ["age", "degree"]


def test_the_first_lines_may_be_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, "a title\n1,2\n")
    assert read_headless(path, ["a", "b"], skip=1).frame.rows() == [("1", "2")]
    with pytest.raises(FileError, match="line 1 has 1 field, and --columns names 2"):
        read_headless(path, ["a", "b"])


def test_names_must_be_complete_and_different(tmp_path: Path) -> None:
    path = written(tmp_path, "1,2\n")
    wrong: list[tuple[list[str], str]] = [([], "every column"), (["a", ""], "every"), (["a", "a"], "more than once")]
    for names, sentence in wrong:
        with pytest.raises(DataError, match=sentence):
            read_headless(path, names)
    with pytest.raises(FileError, match="only a CSV can lack names"):
        read_headless(written(tmp_path, "", "t.parquet"), ["a"])
