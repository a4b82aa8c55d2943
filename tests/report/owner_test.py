"""The owner's file: rows count from 1 in it, it comes back as it was, and what is no such file is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kveil.errors import DataError
from kveil.report.owner import Owner

OWNER = Owner(np.array([4, 0, 2]), 6, {"limit": np.array([1, 3], dtype=np.int32)}, "in", "out")


def test_a_file_counts_from_one_and_comes_back(tmp_path: Path) -> None:
    content = OWNER.as_json()
    assert content["rows"] == [5, 1, 3]
    assert content["suppressed"] == {"limit": [2, 4]}
    assert content["input"] == {"rows": 6, "sha256": "in"}
    (tmp_path / "o.json").write_text(json.dumps(content))
    again = Owner.load(tmp_path / "o.json")
    assert again.as_json() == content
    assert again.rows.tolist() == [4, 0, 2]


def test_its_repr_tells_no_row() -> None:
    assert repr(OWNER) == "Owner(private: 3 released rows of 6)"


@pytest.mark.parametrize(
    "changed",
    [
        {"rows": [1, 2.0]},
        {"rows": [1, True]},
        {"rows": ["1"]},
        {"rows": None},
        {"rows": [2**70]},
        {"suppressed": {"limit": [2**40]}},
        {"suppressed": []},
        {"input": {}},
        {"release": "no"},
    ],
)
def test_what_is_no_owners_file_is_refused_by_name(changed: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "o.json").write_text(json.dumps({**OWNER.as_json(), **changed}))
    with pytest.raises(DataError, match=r"o\.json is no owner's file of kveil"):
        Owner.load(tmp_path / "o.json")


def test_a_file_that_is_not_there_is_told_without_its_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^gone\.json: the owner's file cannot be read"):
        Owner.load(tmp_path / "gone.json")


@pytest.mark.parametrize("text", ["[1]", "", "{", "[" * 200_000])
def test_a_file_of_something_else_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "o.json").write_text(text)
    with pytest.raises(DataError, match="no owner's file"):
        Owner.load(tmp_path / "o.json")
