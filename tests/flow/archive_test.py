"""What an archive holds, told without a word about anybody in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kveil.archive import Archive
from kveil.errors import DataError
from kveil.flow.archive import check_releases, list_releases, release_of, show_release
from small_archives import KEYED, archived
from support import ROWS, write_policy, write_rows


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    write_rows(tmp_path / "t.csv")
    write_policy(tmp_path, data=KEYED)
    archived(tmp_path)
    return archived(tmp_path)


def test_releases_are_listed_shown_and_checked_without_a_name(kept: Path) -> None:
    listed = list_releases(kept)
    assert [(r["number"], r["released"], r["suppressed"]) for r in listed["releases"]] == [(1, 8, 1), (2, 8, 1)]
    assert listed["releases"][0]["promises"] == ["k-anonymity (k 2)"]
    shown = show_release(kept, None)
    assert (shown["number"], shown["key"]) == (2, "name")
    assert shown["sentences"][0].startswith("Release 2 of kept, made ")
    assert "people are known by name" in shown["sentences"][1]
    assert not any(row[0] in str((listed, shown)) for row in ROWS)
    assert check_releases(kept) == {"archive": "kept", "holds": True, "releases": 2, "findings": []}


@pytest.mark.parametrize("number", [0, 3, -1])
def test_a_number_that_no_release_has_is_told(kept: Path, number: int) -> None:
    archive = Archive.open(kept)
    assert [release_of(archive, which).number for which in (None, 1, 2)] == [2, 1, 2]
    with pytest.raises(DataError, match=f"2 releases, and none with the number {number}"):
        release_of(archive, number)


def test_what_is_wrong_is_counted_with_no_release(kept: Path) -> None:
    (kept / "key").unlink()
    found = check_releases(kept)
    assert (found["holds"], found["releases"], len(found["findings"])) == (False, 0, 1)
