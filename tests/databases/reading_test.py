"""Tables of databases as a reader sees them."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote

import pytest

from kveil.databases import read_database
from kveil.errors import DataError
from made_databases import duckdb_file, table_of
from running_postgres import Server
from support import refused, run


def test_types_of_postgresql_are_read_as_a_reader_sees_them(server: Server) -> None:
    source = read_database(
        table_of(
            server.address(
                "query=SELECT 3.50::numeric(6,2) n, 7::numeric m, true b, date '2020-01-02' d, 0.1::real f, "
                "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid u, 'NaN'::numeric x, 'é' t, NULL::int i".replace(
                    " ", "%20"
                )
            )
        )
    )
    assert [source.texts(name)[0] for name in source.frame.columns] == [
        "3.5", "7", "true", "2020-01-02", "0.1", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", None, "é", None,
    ]  # fmt: skip


def test_a_query_cannot_change_the_database(server: Server) -> None:
    deleted = "DELETE%20FROM%20patients%20RETURNING%20*"
    with pytest.raises(DataError, match=r"^the query could not be read, since it must be one statement that reads"):
        read_database(table_of(server.address(f"query={deleted}")))
    with pytest.raises(DataError, match=r"^the query could not be read \(SQLSTATE 25006\)"):
        read_database(table_of(server.address(f"query=WITH%20gone%20AS%20({deleted})%20SELECT%20*%20FROM%20gone")))
    assert server.sql("SELECT count(*) FROM patients") == [(9,)]


def test_columns_of_sqlite_whose_values_have_several_types_are_texts(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("CREATE TABLE t (a, b)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(i, i) for i in range(2000)] + [("x", 1.5)])
    connection.close()
    source = read_database(table_of(f"sqlite:///{tmp_path}/t.db?table=t"))
    assert source.texts("a").to_list()[-2:] == ["1999", "x"]
    assert source.texts("b").to_list()[-2:] == ["1999", "1.5"]


TYPES = ("INTERVAL '1 day'", "array[INTERVAL '1 day']")


@pytest.mark.parametrize("value", TYPES)
def test_types_that_frames_do_not_have_are_told(server: Server, value: str) -> None:
    address = server.address(f"query={quote(f'SELECT {value} AS v')}")
    with pytest.raises(DataError, match=r"^the column 'v' is of type .*interval.*, which kveil cannot read as text"):
        read_database(table_of(address))


@pytest.mark.parametrize("value", [*TYPES, "{'a': INTERVAL '1 day'}", "union_value(k := 1)"])
def test_types_of_duckdb_that_frames_do_not_have_are_told(tmp_path: Path, value: str) -> None:
    address = duckdb_file(tmp_path / "t.duckdb").replace("table=patients", f"query={quote(f'SELECT {value} AS v')}")
    told = refused(run("init", address, "-o", tmp_path / "new.yaml"), "the column 'v' is of type")
    assert "--columns" not in told
