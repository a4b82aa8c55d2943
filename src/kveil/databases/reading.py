"""A table or query of a database as a source."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import polars as pl

from kveil.databases.address import Address, check_not_spark
from kveil.databases.connecting import open_connection
from kveil.databases.statements import (
    check_on_duckdb,
    check_on_postgresql,
    check_on_sqlite,
    check_query,
    is_idle,
    sqlite_uri,
)
from kveil.errors import DataError
from kveil.files import Source, check_plain_names, frame_of, write_table

BATCH = "adbc.sqlite.query.batch_rows"  # SQLite's columns have no types: the driver finds them in the first batch
WHOLE = str(2**31 - 2)


def read_database(address: Address, *, hashed: bool = False) -> Source:
    """Return a table, or what a query gives.

    A table of PostgreSQL has no order, so that its records are sorted: the same records are the same rows at any time.
    """
    check_not_spark(address)
    check_query(address)
    sql = address.query if address.query is not None else f"SELECT * FROM {address.quoted}"
    seen = _seen(address)
    with open_connection(address) as connection:
        table = _fetched(connection, address, sql)
    if _seen(address) != seen:  # without a lock, somebody may have written into what was read
        raise DataError(f"{address.file.name} was changed while it was read; try again.")
    if len(set(table.column_names)) < table.num_columns:
        raise DataError(f"{address.name} has two columns of one name; give them names with AS.")
    check_plain_names(table.column_names, address.name)
    frame = frame_of(_column(table, place) for place in range(table.num_columns))
    if address.system == "postgresql" and address.query is None and frame.width:
        frame = frame.sort([name for name, kind in frame.schema.items() if not kind.is_nested()] or frame.columns[:1])
    return Source(address.name, frame.rechunk(), "database", sha256=_digest(frame) if hashed else None)


def _seen(address: Address) -> tuple[int, int] | None:
    """Return when a database was changed that SQLite reads without a lock, and how large it is."""
    if address.system != "sqlite":
        return None
    try:
        stat = address.file.stat()
        return (stat.st_mtime_ns, stat.st_size) if address.file.is_file() and is_idle(address.file) else None
    except OSError:  # opening it tells why
        return None


def _fetched(connection: Any, address: Address, sql: str) -> Any:
    with connection.cursor() as cursor:
        if address.system == "postgresql":
            cursor.execute("SET TRANSACTION READ ONLY")
            check_on_postgresql(cursor, address)
        elif address.system == "duckdb" and address.query is not None:
            check_on_duckdb(sql)
        elif address.system == "sqlite":
            check_on_sqlite(address, sql, sqlite_uri(address))
            cursor.adbc_statement.set_options(**{BATCH: WHOLE})
        cursor.execute(sql)
        return cursor.fetch_arrow_table()


def _column(table: Any, place: int) -> pl.Series:
    """Return a column as Polars has it; types of a database's own become numbers or texts."""
    import pyarrow as pa

    name, column = table.column_names[place], table.column(place)
    if _is_unknown_to_polars(column.type):
        raise DataError(
            f"the column {name!r} is of type {column.type}, which kveil cannot read as text; convert it first, in a "
            "query or a view, or leave it out there."
        )
    if isinstance(column.type, pa.BaseExtensionType):
        if getattr(column.type, "type_name", "") == "numeric":
            return _decimals(pl.Series(name, [value.as_py() for value in column], dtype=pl.String))
        texts = [None if (plain := value.as_py()) is None else str(plain) for value in column]
        return pl.Series(name, texts, dtype=pl.String)
    series = pl.from_arrow(column)
    assert isinstance(series, pl.Series)
    return series.alias(name)


def _is_unknown_to_polars(kind: Any) -> bool:
    """Tell whether a type is, or holds, spans of months and days or values of several types."""
    import pyarrow as pa

    inside = (kind.field(number).type for number in range(kind.num_fields))
    return pa.types.is_interval(kind) or pa.types.is_union(kind) or any(map(_is_unknown_to_polars, inside))


def _decimals(texts: pl.Series) -> pl.Series:
    """Return exact numbers, which the driver gives as texts, as decimals; texts where one is infinite or too long."""
    texts = texts.replace(["NaN", "nan"], [None, None])
    digits = texts.str.split(".").list.get(1, null_on_oob=True).str.len_chars().max()
    try:
        decimals = texts.str.to_decimal(scale=int(str(digits or 0)))
    except pl.exceptions.PolarsError:
        return texts
    return decimals if decimals.null_count() == texts.null_count() else texts


def _digest(frame: pl.DataFrame) -> str:
    """Return a hash of a table's cells."""
    written = io.BytesIO()
    write_table(frame, written, Path("table.csv"))
    return hashlib.sha256(written.getvalue()).hexdigest()
