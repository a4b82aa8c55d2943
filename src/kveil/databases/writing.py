"""A release as a new table of a database: whole, or not at all."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

import polars as pl

from kveil.databases.address import Address, check_not_spark
from kveil.databases.connecting import open_connection
from kveil.errors import DataError
from kveil.files import frame_of, joined_items, strip_column


def check_new_table(address: Address) -> None:
    """Raise DataError where a release cannot go to an address: it is a query, or a table that is there already.

    A database that cannot be reached should not cost a whole run.
    """
    check_not_spark(address)
    if address.table is None:
        raise DataError("a release goes to a table, not to a query; write table=… in the address of --output.")
    if address.system != "postgresql" and not address.file.exists():
        if not address.file.parent.is_dir():
            raise DataError(f"{address.file.name} cannot be written, since its folder is not there; check the path.")
        return
    schema, table = address.schema_and_table
    if address.system == "sqlite":
        sql = f"SELECT 1 FROM sqlite_master WHERE name = {_text(table)}"
    elif schema is None and address.system == "postgresql":
        sql = f"SELECT 1 WHERE to_regclass({_text(address.quoted)}) IS NOT NULL"
    else:
        inside = "current_schema()" if schema is None else _text(schema)
        sql = f"SELECT 1 FROM information_schema.tables WHERE table_name = {_text(table)} AND table_schema = {inside}"
    with open_connection(address) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        there = cursor.fetchall()
    if there:
        raise DataError(f"{address.name} exists already and is not replaced; name another, or drop it first.")


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


class StagedTable:
    """A new table inside of a transaction: nobody sees it before ``commit``, and nobody ever if that does not come."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._around = ExitStack()
        self._connection: Any = None
        self._is_new = False

    def write(self, frame: pl.DataFrame) -> None:
        """Create the table and lay the release into it; sets of items become texts."""
        address = self.address
        columns = [
            joined_items(column) if column.dtype == pl.List else strip_column(column) for column in frame.get_columns()
        ]
        plain = frame_of(columns).with_columns(pl.selectors.categorical().cast(pl.String))
        plain = plain.with_columns(pl.selectors.enum().cast(pl.String))
        self._is_new = address.system != "postgresql" and not address.file.exists()
        self._connection = self._around.enter_context(open_connection(address, writing=True))
        schema, table = address.schema_and_table
        with self._connection.cursor() as cursor:
            arrow = plain.to_arrow(compat_level=pl.CompatLevel.oldest())
            cursor.adbc_ingest(table, arrow, mode="create", db_schema_name=schema)

    def commit(self) -> None:
        """Let others see the table."""
        self._connection.commit()
        self._is_new = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        try:
            return self._around.__exit__(kind, error, trace)
        finally:
            if self._is_new:  # a database that was made for this table, and did not get it
                for suffix in ("", "-journal", "-wal", ".wal"):
                    self.address.file.with_name(self.address.file.name + suffix).unlink(missing_ok=True)
