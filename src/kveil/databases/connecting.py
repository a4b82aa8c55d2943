"""Connections to databases, and what is said where they fail: never what a driver says, since that quotes data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from kveil.databases.address import Address
from kveil.databases.servers import connection_words, is_trusted
from kveil.databases.statements import sqlite_uri
from kveil.errors import DataError, FileError
from kveil.files.extras import import_extra

NO_TABLE = ("42P01", "3F000")  # PostgreSQL's numbers for a table or schema that is not there
NO_RIGHT = "42501"
EXISTS = "42P07"
DRIVERS = ("adbc_driver", "pyarrow", "sqlite3", "duckdb", "_duckdb")
# A database of DuckDB stands for itself: no other file, no extension, no place in the net, and no way to change that.
CLOSED = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_persistent_secrets": "false",
    "lock_configuration": "true",
}


def _postgresql() -> Any:
    import adbc_driver_postgresql.dbapi
    import pyarrow  # noqa: F401 (the drivers hand tables over in its classes)

    return adbc_driver_postgresql.dbapi


def _sqlite() -> Any:
    import adbc_driver_sqlite.dbapi
    import pyarrow  # noqa: F401 (as above)

    return adbc_driver_sqlite.dbapi


def _duckdb() -> Any:
    import adbc_driver_duckdb
    import adbc_driver_manager.dbapi
    import pyarrow  # noqa: F401 (as above)

    return partial(adbc_driver_manager.dbapi.connect, adbc_driver_duckdb.driver_path(), entrypoint="duckdb_adbc_init")


@contextmanager
def open_connection(address: Address, *, writing: bool = False) -> Iterator[Any]:
    """Give a connection to a database, in a transaction that is taken back unless it is committed."""
    if address.system == "postgresql":
        library = import_extra(_postgresql, "PostgreSQL's tables", "adbc-driver-postgresql", extra="databases")
        connect = partial(library.connect, connection_words(address))
    elif address.system == "sqlite":
        library = import_extra(_sqlite, "SQLite's tables", "adbc-driver-sqlite", extra="databases")
        connect = partial(_connect_to_sqlite, library, address, writing=writing)
    else:
        library = import_extra(_duckdb, "DuckDB's tables", "duckdb", extra="databases")
        # DuckDB takes what stands before a colon for the name of an extension; an absolute path has none.
        words = {"path": str(address.file.resolve()), "access_mode": "READ_WRITE" if writing else "READ_ONLY"}
        connect = partial(library, db_kwargs=words | CLOSED)
    if address.system != "postgresql" and not writing and not address.file.is_file():
        raise FileError(f"{address.file.name}: the database cannot be read (there is no such file); check the path.")
    try:
        connection = connect()
    except Exception as error:  # of the drivers' own kinds
        raise _unreachable(address, str(error)) from None
    try:
        yield connection
    except Exception as error:
        if not type(error).__module__.startswith(DRIVERS):
            raise
        raise _refused(address, error, writing=writing) from None  # a driver's texts quote queries and rows
    finally:
        close_connection(connection)


def _connect_to_sqlite(library: Any, address: Address, *, writing: bool) -> Any:
    if writing:
        return library.connect(str(address.file))
    connection = library.connect(sqlite_uri(address))
    with connection.cursor() as cursor:
        for setting in ("query_only = ON", "trusted_schema = OFF"):
            cursor.execute(f"PRAGMA {setting}")
    return connection


def close_connection(connection: Any) -> None:
    """Close a connection; what was not committed is gone."""
    with suppress(Exception):  # a server that is gone has taken everything back itself
        connection.rollback()
    with suppress(Exception):
        connection.close()


def _unreachable(address: Address, told: str) -> DataError:
    if address.system == "postgresql":
        if 'option "require_auth"' in told or 'option "sslcertmode"' in told:
            return DataError(
                "the library of PostgreSQL that is installed cannot keep a password from a server that asks for it; "
                "update adbc-driver-postgresql."
            )
        if not is_trusted(address):
            return DataError(
                "the PostgreSQL server cannot be reached, or asks for a password, which no server gets that only a "
                "policy names; set PGHOST and PGPORT to it, or give the whole address with --input."
            )
        return DataError(
            "the PostgreSQL server cannot be reached, or refuses the user; check the address, that the server runs, "
            "and the password in PGPASSWORD or ~/.pgpass. It must ask for the password by SCRAM, and elsewhere show a "
            "certificate of its name; PGREQUIREAUTH and PGSSLMODE say otherwise."
        )
    return FileError(
        f"{address.file.name}: this database cannot be opened; check that it is one, and that nobody else holds it."
    )


def _refused(address: Address, error: Exception, *, writing: bool) -> DataError:
    """Return what to say of a driver's error: by its number, not by its text."""
    number = getattr(error, "sqlstate", None)
    told = str(error)
    if number == NO_RIGHT:
        return DataError(
            f"{address.name}: the database refuses it; ask for the right to {'write' if writing else 'read'} it."
        )
    if number == EXISTS or (writing and "already exists" in told):
        return DataError(f"{address.name} exists already and is not replaced; name another, or drop it first.")
    if (
        not writing
        and address.table is not None
        and (number in NO_TABLE or "no such table" in told or "does not exist" in told)
    ):
        return DataError(f"{address.name} is not in the database; check its name, and its schema as in schema.table.")
    what = "written" if writing else "read"
    return DataError(
        f"{address.name} could not be {what}{f' (SQLSTATE {number})' if number else ''}; "
        f"{'nothing was written. Check the database and its space' if writing else 'try it in the database itself'}."
    )
