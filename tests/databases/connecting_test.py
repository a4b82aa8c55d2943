"""Connections: what is not there is told, and no password is repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from kveil.databases import read_database
from kveil.errors import DataError
from made_databases import other_table, table_of
from running_postgres import Server
from support import refused, run, write_policy


def test_what_is_not_there_is_told(tmp_path: Path, address: str) -> None:
    policy = write_policy(tmp_path)
    absent = run("anonymize", policy, "--input", other_table(address, "nothing"), "-o", tmp_path / "r.csv")
    assert "the table nothing is not in the database; check its name" in refused(absent)
    wrong = address.replace("table=patients", "query=SELEKT")
    told = refused(run("anonymize", policy, "--input", wrong, "-o", tmp_path / "r.csv"))
    assert told.startswith("kveil: the query could not be read")
    assert "SELEKT" not in told
    assert "give --output" in refused(run("anonymize", policy, "--input", address))


def test_a_schema_and_rights_are_told(tmp_path: Path, server: Server) -> None:
    server.sql("CREATE SCHEMA s", "CREATE TABLE s.t AS SELECT * FROM patients", "CREATE ROLE stranger LOGIN")
    try:
        assert read_database(table_of(server.address("table=s.t"))).rows == 9
        policy = write_policy(tmp_path)
        stranger = server.address("table=patients", user="stranger")
        told = refused(run("anonymize", policy, "--input", stranger, "-o", tmp_path / "r.csv"))
        assert told == "kveil: the table patients: the database refuses it; ask for the right to read it.\n"
        done = run(
            "anonymize", policy, "--input", server.address("table=s.t"), "-o", server.address("table=s.released")
        )
        assert done.code == 0
        assert "exists already" in refused(
            run("anonymize", policy, "--input", server.address("table=s.t"), "-o", server.address("table=s.released"))
        )
    finally:
        server.sql("DROP SCHEMA s CASCADE", "DROP ROLE stranger")


def test_the_password_of_the_environment_stands_in_nothing_that_is_written(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "Geheim9")
    policy = write_policy(tmp_path, data={"path": server.address("table=patients")})
    written = {name: tmp_path / f"{name}.out" for name in ("receipt", "account", "owner", "report")}
    options = [part for name, path in written.items() for part in (f"--{name}", path)]
    done = run("anonymize", policy, "-o", tmp_path / "r.csv", *options, "--json")
    assert done.code == 0
    for text in (done.out, done.err, *(path.read_text() for path in written.values())):
        assert "Geheim9" not in text
        assert str(server.folder) not in text


@pytest.mark.parametrize(
    ("library", "address", "what"),
    [
        (
            "adbc_driver_postgresql",
            "postgresql:///db?table=t",
            "PostgreSQL's tables need the library adbc-driver-postgresql",
        ),
        ("adbc_driver_sqlite", "sqlite:///t.db?table=t", "SQLite's tables need the library adbc-driver-sqlite"),
        ("adbc_driver_duckdb", "duckdb:///t.db?table=t", "DuckDB's tables need the library duckdb"),
    ],
)
def test_a_driver_that_is_not_there_is_named_with_its_install_line(
    library: str, address: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, library, None)
    with pytest.raises(DataError) as told:
        read_database(table_of(address))
    assert str(told.value) == f"{what}, which is not installed; install it with pip install 'kveil[databases]'."
