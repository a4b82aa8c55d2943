"""Which files the page may name: those below the root, and nothing hidden."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from kveil.studio.answers import Told
from kveil.studio.files import (
    fresh_folder,
    fresh_name,
    is_table,
    list_folder,
    path_below,
    release_suffix,
    stem_of,
    table_name,
)


@pytest.mark.parametrize(
    "named", ["..", "../x", "/etc/passwd", "a/../../x", "link/x", ".hidden", "a/.git/config", "\0"]
)
def test_what_lies_outside_or_is_hidden_is_refused(tmp_path: Path, named: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    with pytest.raises(Told) as told:
        path_below(root.resolve(), named)
    assert told.value.status == 403
    assert path_below(root.resolve(), "a/b.csv") == root.resolve() / "a" / "b.csv"


def test_a_folder_lists_what_can_be_opened(tmp_path: Path) -> None:
    for name in ("b.csv", "A.yaml", "c.db", "notes.doc", ".hidden.csv"):
        (tmp_path / name).write_text("x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "gone.csv").symlink_to(tmp_path / "nothing.csv")
    found = list_folder(tmp_path.resolve(), "")
    kinds = {entry["name"]: entry["kind"] for entry in found["entries"]}
    assert kinds == {"A.yaml": "policy", "b.csv": "table", "c.db": "database", "folder": "folder"}
    assert (found["under"], found["up"], found["one_table"]) == ("", None, False)
    assert list_folder(tmp_path.resolve(), "folder")["up"] == "."
    with pytest.raises(Told, match="no folder any more"):
        list_folder(tmp_path.resolve(), "b.csv")


def test_a_folder_of_parquet_files_is_one_table(tmp_path: Path) -> None:
    for name in ("a.parquet", "b.parquet"):
        (tmp_path / name).touch()
    found = list_folder(tmp_path.resolve(), "")
    assert (found["parts"], found["one_table"]) == (2, True)
    (tmp_path / "b.parquet").unlink()
    assert not list_folder(tmp_path.resolve(), "")["one_table"]
    (tmp_path / "year=2020").mkdir()
    assert list_folder(tmp_path.resolve(), "")["one_table"]


@pytest.mark.parametrize(
    ("table", "suffix"),
    [
        ("t.csv", ".csv"),
        ("t.csv.gz", ".csv.gz"),
        ("t.xlsx", ".xlsx"),
        ("t.sas7bdat", ".csv"),
        ("t.zsav", ".sav"),
        ("sqlite:///t.db?table=x", ".csv"),
        ("folder", ".parquet"),
    ],
)
def test_a_release_is_written_as_its_table_where_such_files_are(table: str, suffix: str) -> None:
    assert release_suffix(table) == suffix


def test_a_dropped_table_gets_a_plain_name() -> None:
    assert table_name("C:\\my files\\vi<si>ts.csv") == "vi_si_ts.csv"
    assert table_name("../../x.csv") == "x.csv"
    assert stem_of("x.csv.gz") == "x"
    for wrong in ("x.doc", ".csv", "x.db", ""):
        with pytest.raises(Told):
            table_name(wrong)
    assert is_table(Path("x.CSV")) == is_table(Path("x.csv"))


def test_new_folders_and_files_replace_none(tmp_path: Path) -> None:
    first, second = fresh_folder(tmp_path, "visits"), fresh_folder(tmp_path, "visits")
    assert [folder.name for folder in (first, second)] == ["visits", "visits 2"]
    assert stat.S_IMODE(first.stat().st_mode) == 0o700
    (tmp_path / "x.csv").touch()
    assert fresh_name(tmp_path, "x.csv") == "x-2.csv"
    assert fresh_name(tmp_path, "y.csv") == "y.csv"
    with pytest.raises(Told, match="cannot be made here"):
        fresh_folder(tmp_path / "gone", "x")
