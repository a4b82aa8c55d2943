"""Addresses of tables: what they name, and that no password stands in one."""

from __future__ import annotations

from pathlib import Path

import pytest

import kveil
from kveil.databases import parse_place
from kveil.errors import DataError
from made_databases import sqlite_file
from support import refused, run, write_policy


def test_a_password_is_refused_and_never_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = write_policy(tmp_path)
    for address in (
        "postgresql://ann:Geheim9@localhost/db?table=t",
        "postgresql://localhost/db?password=Geheim9&table=t",
        "postgres://ann:Geheim9@localhost/db?query=SELECT",
    ):
        told = refused(run("anonymize", policy, "--input", address, "-o", tmp_path / "r.csv"))
        assert "Geheim9" not in told
        assert "set PGPASSWORD" in told
        assert "PGPASSWORD" in refused(run("anonymize", policy, "--input", tmp_path / "t.csv", "-o", address))
    unreachable = "postgresql://ann@/db?host=/nowhere&table=t"
    monkeypatch.setenv("PGPASSWORD", "Geheim9")
    told = run("anonymize", policy, "--input", unreachable, "-o", tmp_path / "r.csv")
    assert "the PostgreSQL server cannot be reached" in refused(told)
    assert "Geheim9" not in told.err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("mysql://host/db?table=t", "mysql:// is no database that kveil knows"),
        ("sqlite:///t.db", "names one table or one query"),
        ("sqlite:///t.db?table=a&query=b", "names one table or one query"),
        ("sqlite://t.db?table=a", "has the file behind three slashes"),
        ("sqlite:///t.db?table=a&mode=rw", "takes table or query, not mode"),
    ],
)
def test_an_address_that_is_none_is_told(text: str, told: str) -> None:
    with pytest.raises(DataError, match=told):
        parse_place(text)


def test_files_of_a_database_start_from_the_policys_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sqlite_file(tmp_path / "t.db")
    policy = write_policy(tmp_path, data={"path": "sqlite:///t.db?table=patients"})
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert run("anonymize", policy, "-o", "r.csv").code == 0
    assert run("init", "sqlite:///../t.db?table=patients", "-o", tmp_path / "suggested.yaml").code == 0
    assert kveil.Policy.load(tmp_path / "suggested.yaml").data.path == "sqlite:///t.db?table=patients"
    assert "cannot be read (there is no such file)" in refused(run("init", "sqlite:///no.db?table=t"))
    (tmp_path / "no.db").write_text("no database at all, but long enough to have a header of its own")
    for system in ("sqlite", "duckdb"):
        assert "no.db" in refused(run("init", f"{system}:///../no.db?table=t")) or system == "sqlite"
