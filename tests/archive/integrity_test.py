"""Whether an archive is whole, unchanged and private: whatever is lost or changed is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kveil.archive import Archive, check_archive
from kveil.errors import DataError
from small_archives import archived
from support import names_in, run


def _flip(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


def _swap(folder: Path) -> None:
    one, two = folder / "release-0001.zip", folder / "release-0002.zip"
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


HARM: dict[str, tuple[Callable[[Path], object], str]] = {
    "no key": (lambda f: (f / "key").unlink(), "lost its key"),
    "another key": (lambda f: (f / "key").write_text("00" * 32 + "\n"), "key of kept was changed"),
    "no ledger": (lambda f: (f / "archive.json").unlink(), "archive.json"),
    "a changed ledger": (lambda f: _flip(f / "archive.json"), "kept"),
    "no first release": (lambda f: (f / "release-0001.zip").unlink(), "release 1 of kept is lost"),
    "no last release": (lambda f: (f / "release-0002.zip").unlink(), "release 2 of kept is lost"),
    "a changed release": (lambda f: _flip(f / "release-0001.zip"), "release 1 of kept was changed"),
    "releases in another order": (_swap, "release 1 of kept was changed"),
    "a stranger": (lambda f: (f / "notes.txt").write_text("x"), "notes.txt"),
    "a folder that others read": (lambda f: f.chmod(0o755), "chmod 700"),
    "a file that others read": (lambda f: (f / "key").chmod(0o644), "chmod 600"),
}


@pytest.mark.parametrize("harm", HARM)
def test_what_is_lost_or_changed_is_found(small: Path, harm: str) -> None:
    folder = archived(small)
    archived(small)
    do, told = HARM[harm]
    do(folder)
    checked = run("archive", "check", folder, "--json")
    assert checked.code == 1
    assert any(told in finding for finding in checked.json["findings"]), checked.json
    with pytest.raises(DataError, match=r"."):
        Archive.open(folder)
    before = names_in(folder)
    again = run("anonymize", small / "policy.yaml", "-o", small / "r.csv", "--archive", folder, "-q")
    assert again.code == 2
    assert names_in(folder) == before


def test_a_release_that_a_killed_run_did_not_list_counts(small: Path) -> None:
    folder = archived(small)
    ledger = (folder / "archive.json").read_bytes()
    archived(small)
    (folder / "archive.json").write_bytes(ledger)
    assert check_archive(folder) == []
    assert len(Archive.open(folder).listed) == 2
    archived(small)
    assert len(Archive.open(folder).listed) == 3
    assert check_archive(folder) == []
