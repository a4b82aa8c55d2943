"""The small table of `support` in databases of several systems; no test."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import duckdb
import polars as pl

from kveil.databases import Address, parse_place
from support import ROWS, columns_of, run, write_rows


def sqlite_file(path: Path) -> str:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE patients (name TEXT, age INTEGER, sex TEXT, diagnosis TEXT, ward TEXT)")
        connection.executemany("INSERT INTO patients VALUES (?, ?, ?, ?, ?)", ROWS)
    connection.close()
    return f"sqlite:///{path}?table=patients"


def duckdb_file(path: Path) -> str:
    frame = pl.DataFrame(columns_of()).with_columns(pl.col("age").cast(pl.Int64)).to_arrow()
    with duckdb.connect(path) as connection:
        connection.register("given", frame)
        connection.execute("CREATE TABLE patients AS SELECT * FROM given")
    return f"duckdb:///{path}?table=patients"


def other_table(address: str, name: str) -> str:
    return address.replace("table=patients", f"table={name}")


def release_of_csv(folder: Path) -> bytes:
    write_rows(folder / "t.csv")
    assert run("anonymize", folder / "policy.yaml", "--input", folder / "t.csv", "-o", folder / "csv.csv").code == 0
    return (folder / "csv.csv").read_bytes()


def table_of(address: str) -> Address:
    place = parse_place(address)
    assert isinstance(place, Address)
    return place
