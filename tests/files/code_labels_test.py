"""Files of SPSS and Stata: codes that all have a label are shown as labels, and written as codes again."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pyreadstat
import pytest

from kveil.errors import FileError
from kveil.files.code_labels import Labelled, read_labelled, write_labelled
from kveil.files.codebook import Codebook

TABLE = pl.DataFrame({"sex": [1.0, 2.0, 1.0, None], "age": [1.0, 30.0, 40.5, 99.0], "note": ["a", "", "c", "d"]})


def read(folder: Path, labels: dict[str, dict[float, str]], suffix: str = ".sav") -> Labelled:
    path = folder / f"t{suffix}"
    if suffix == ".sav":
        pyreadstat.write_sav(TABLE, path, variable_value_labels=labels)
    else:
        whole = {name: {int(code): text for code, text in codes.items()} for name, codes in labels.items()}
        pyreadstat.write_dta(TABLE, path, variable_value_labels=whole)
    return read_labelled(path.read_bytes(), path)


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_codes_that_all_have_a_label_are_shown_as_labels_and_go_back(tmp_path: Path, suffix: str) -> None:
    found = read(tmp_path, {"sex": {1.0: "f", 2.0: "m", 3.0: "x"}}, suffix)
    assert found.frame["sex"].to_list() == ["f", "m", "f", None]
    assert dict(found.codebook.labels["sex"]) == {"f": 1, "m": 2, "x": 3} or dict(found.codebook.labels["sex"]) == {
        "f": 1,
        "m": 2,
    }
    written = io.BytesIO()
    write_labelled(found.frame, written, tmp_path / f"r{suffix}", found.codebook)
    again = read_labelled(written.getvalue(), tmp_path / f"r{suffix}")
    assert again.frame["sex"].to_list() == ["f", "m", "f", None]
    assert set(again.codebook.of("sex").values.values()) == {"f", "m"}  # a label that nobody shows is not handed on


def test_a_code_without_a_label_or_two_of_one_label_stay_codes(tmp_path: Path) -> None:
    some = read(tmp_path, {"age": {99.0: "not known"}})
    assert "age" not in some.codebook.labels
    assert some.frame["age"].to_list()[1:] == TABLE["age"].to_list()[1:]
    shared = read(tmp_path, {"sex": {1.0: "one", 2.0: "one"}})
    assert "sex" not in shared.codebook.labels


def test_a_written_file_says_nothing_of_when_it_was_made(tmp_path: Path) -> None:
    for suffix in (".sav", ".dta"):
        first, second = io.BytesIO(), io.BytesIO()
        for out in (first, second):
            write_labelled(TABLE, out, tmp_path / f"r{suffix}", Codebook())
        assert first.getvalue() == second.getvalue()
        assert b"2026" not in first.getvalue()[:400]


def test_bytes_that_are_no_such_file_are_told(tmp_path: Path) -> None:
    for suffix in (".sav", ".dta", ".xpt", ".sas7bdat"):
        with pytest.raises(FileError, match="t"):
            read_labelled(b"planted bytes", tmp_path / f"t{suffix}")
