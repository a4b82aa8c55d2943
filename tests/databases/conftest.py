"""A server of PostgreSQL, and the address of a table in each system."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from made_databases import duckdb_file, sqlite_file
from running_postgres import REASON, Server, programs, running
from support import ROWS


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    found = programs()
    if found is None:
        pytest.skip(REASON)
    with running(found) as started:
        values = ", ".join(str((*row[:1], int(row[1]), *row[2:])) for row in ROWS)
        started.sql(
            "CREATE TABLE patients (name text, age int, sex char(1), diagnosis text, ward text)",
            f"INSERT INTO patients VALUES {values}",
        )
        yield started


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Give the address of the table in each system, without a name of what is to be written."""
    if request.param == "postgresql":
        server = request.getfixturevalue("server")
        yield server.address("table=patients")
        for table in server.tables() - {"patients"}:
            server.sql(f'DROP TABLE "{table}"')
    else:
        yield (sqlite_file if request.param == "sqlite" else duckdb_file)(tmp_path / "t.db")
