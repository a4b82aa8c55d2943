"""Queries: what a statement begins with, whatever stands before it; how files of SQLite are opened."""

from __future__ import annotations

import sqlite3
from itertools import product
from pathlib import Path
from urllib.parse import quote

import pytest

from kveil.databases import Address, read_database, reading
from kveil.databases.statements import check_query, is_idle, sqlite_uri
from kveil.errors import DataError
from made_databases import duckdb_file, sqlite_file, table_of
from running_postgres import Server

SPACES = (" ", "\n", "\t", "\r\n", "(", "-- SELECT\n", "-- COPY\r\n", "/* WITH */", "/* ( -- */", "/**/")
WORDS = ("SELECT", "select", "With", "COPY", "ATTACH", "DELETE", "SELECTED", "", "FROM", "1")


def test_the_first_word_of_a_query_is_found_behind_spaces_and_comments() -> None:
    for one, other, word in product(SPACES, SPACES, WORDS):
        address = Address("sqlite", query=f"{one}{other}{word} 1")
        if word.upper() in ("SELECT", "WITH"):
            check_query(address)
        else:
            with pytest.raises(DataError, match=r"^the query could not be read, since it must be one statement"):
                check_query(address)


def test_comments_that_systems_read_differently_are_refused(server: Server) -> None:
    """The first word is SELECT to one reader and COPY to another."""
    for text in (
        "/* /* */ SELECT */ COPY patients TO PROGRAM 'touch ran'",
        "--\rCOPY patients TO PROGRAM 'touch ran' /* \nSELECT 1 */",
        "--\rSELECT 1\nCOPY patients TO PROGRAM 'touch ran'", "/*/ SELECT */ COPY patients TO PROGRAM 'touch ran'",
        "\u2028SELECT 1", "\ufeffSELECT 1", "\vSELECT 1", "/* SELECT 1", "SELECT 1\0",
    ):  # fmt: skip
        with pytest.raises(DataError):
            check_query(Address("postgresql", query=text))
        with pytest.raises(DataError):
            read_database(table_of(server.address(f"query={quote(text)}")))


def test_the_server_itself_refuses_what_is_no_query(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "check_query", lambda _: None)
    for text in ("COPY patients TO PROGRAM 'touch ran'", "DO $$ BEGIN END $$", "SET x = 1", "CALL x()", "SHOW ALL"):
        with pytest.raises(DataError, match=r"^the query could not be read \(SQLSTATE 42601\)"):
            read_database(table_of(server.address(f"query={quote(text)}")))


@pytest.mark.parametrize("system", ["sqlite", "duckdb"])
def test_a_file_itself_refuses_what_is_no_query(tmp_path: Path, system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "check_query", lambda _: None)
    monkeypatch.chdir(tmp_path)
    address = (sqlite_file if system == "sqlite" else duckdb_file)(tmp_path / "t.db").removesuffix("table=patients")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for text in (
        "ATTACH 'x.db' AS x", "VACUUM INTO 'x.db'", "VACUUM", "DELETE FROM patients RETURNING *",
        "PRAGMA user_version = 3",
        "CREATE TEMP TABLE x AS SELECT 1", "DROP TABLE patients", "DETACH main", "COMMIT", "COPY patients TO 'x.csv'",
        "REINDEX", "ANALYZE", "INSTALL httpfs", "CHECKPOINT", "SET lock_configuration = false",
    ):  # fmt: skip
        with pytest.raises(DataError, match=r"^the query could not be read"):
            read_database(table_of(f"{address}query={quote(text)}"))
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before, text


def test_a_long_text_that_never_comes_to_a_word_is_refused_at_once() -> None:
    for text in ("/*" * 20_000, "-- \n" * 20_000, "(" * 100_000, "/* */" * 20_000 + "x", "--" * 50_000):
        with pytest.raises(DataError):
            check_query(Address("duckdb", query=text))


def test_a_name_of_a_file_is_no_more_than_that(tmp_path: Path) -> None:
    for name in ("a b.db", "a?mode=rwc.db", "a#b%20.db"):
        address = sqlite_file(tmp_path / "plain.db").replace("plain.db", quote(name))
        (tmp_path / "plain.db").rename(tmp_path / name)
        assert read_database(table_of(address)).rows == 9
        assert sqlite_uri(table_of(address)).endswith("?mode=ro")


def test_only_a_log_that_nobody_writes_makes_a_database_idle(tmp_path: Path) -> None:
    address = sqlite_file(tmp_path / "t.db")
    assert not is_idle(tmp_path / "t.db")
    connection = sqlite3.connect(tmp_path / "t.db")
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("INSERT INTO patients SELECT * FROM patients LIMIT 1")
    connection.commit()
    assert not is_idle(tmp_path / "t.db")
    assert read_database(table_of(address)).rows == 10  # with what stands in the log alone
    connection.close()
    assert is_idle(tmp_path / "t.db")
    assert read_database(table_of(address)).rows == 10


def test_full_text_and_spatial_tables_are_read(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("CREATE VIRTUAL TABLE notes USING fts5(a)")
        connection.execute("INSERT INTO notes VALUES ('x')")
        connection.execute("CREATE VIRTUAL TABLE places USING rtree(id, low, high)")
        connection.execute("INSERT INTO places VALUES (1, 2, 3)")
    connection.close()
    for asked in ("table=notes", "table=places", "query=SELECT%20*%20FROM%20notes%20WHERE%20notes%20MATCH%20'x'"):
        assert read_database(table_of(f"sqlite:///{tmp_path}/t.db?{asked}")).rows == 1


def test_a_column_may_be_called_as_a_harmless_function_is(server: Server) -> None:
    asked = "query=SELECT%201%20AS%20random,%202%20AS%20system,%203%20AS%20pg_sleepy,%204%20AS%20my_pg_sleep"
    assert read_database(table_of(server.address(asked))).rows == 1
