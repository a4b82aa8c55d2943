"""The key and the ledger of an archive's folder."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from kveil.archive.entry import JSON_PARTS, PEOPLE_FILE, POLICY, Damaged, pack
from kveil.archive.ledger import (
    KEY_FILE,
    LEDGER,
    Listed,
    has_releases,
    read_key,
    read_ledger,
    read_releases,
    release_file,
)

PARTS = {POLICY: b"p", PEOPLE_FILE: b"", "release.csv": b"", **dict.fromkeys(JSON_PARTS, b"{}\n")}
FIRST = {"file": release_file(1), "sha256": "abc", "made": "yesterday"}


def write_ledger(folder: Path, *releases: dict[str, str]) -> None:
    (folder / LEDGER).write_text(json.dumps({"key": "check", "releases": list(releases)}))


def test_files_are_numbered_so_that_they_sort() -> None:
    assert [release_file(number) for number in (1, 12, 12345)] == [
        "release-0001.zip",
        "release-0012.zip",
        "release-12345.zip",
    ]


def test_key_and_ledger_are_read(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).write_text("00ff\n")
    write_ledger(tmp_path, FIRST)
    assert read_key(tmp_path) == b"\x00\xff"
    assert read_ledger(tmp_path) == ("check", [Listed("release-0001.zip", "abc", "yesterday")])


def test_a_release_that_was_written_and_not_listed_counts(tmp_path: Path) -> None:
    write_ledger(tmp_path, FIRST)
    raw = pack(PARTS, {"number": 2, "made": "today"})
    (tmp_path / release_file(2)).write_bytes(raw)
    assert read_releases(tmp_path)[1] == Listed("release-0002.zip", sha256(raw).hexdigest(), "today")
    (tmp_path / release_file(2)).write_bytes(raw[:-30])
    with pytest.raises(Damaged):
        read_releases(tmp_path)


def test_a_folder_with_a_release_or_a_ledger_that_says_so_is_an_archive(tmp_path: Path) -> None:
    assert not has_releases(tmp_path)
    write_ledger(tmp_path)
    assert not has_releases(tmp_path)
    write_ledger(tmp_path, FIRST)
    assert has_releases(tmp_path)
    (tmp_path / LEDGER).write_text("{")  # cannot be told: then it may hold releases
    assert has_releases(tmp_path)
    (tmp_path / LEDGER).unlink()
    (tmp_path / "release-1.zip").touch()
    assert not has_releases(tmp_path)
    (tmp_path / release_file(7)).touch()
    assert has_releases(tmp_path)
