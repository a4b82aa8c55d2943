"""Where a table of a database stands, as `data.path`, `--input` and `--output` write it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl, quote, unquote, urlencode

from kveil.errors import DataError
from kveil.words import listing

System = Literal["postgresql", "sqlite", "duckdb", "spark"]
SYSTEMS: dict[str, System] = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "sqlite": "sqlite",
    "duckdb": "duckdb",
}
SECRETS = ("password", "sslpassword", "passfile_password")
SPARK = "table:"  # before the name of a table in the catalog of Spark
FORMS = "postgresql://host/database?table=…, sqlite:///file?table=… or duckdb:///file?table=…"


@dataclass(frozen=True)
class Address:
    """A table of a database, or a query; never with a password. The database may be the catalog of Spark.

    ``server`` is what PostgreSQL's library needs to connect, ``file`` the file of an SQLite or DuckDB database.
    ``named`` says that the user gave it, and not a policy, which may come from elsewhere.
    """

    system: System
    server: str = ""
    file: Path = Path()
    table: str | None = None
    query: str | None = None
    named: bool = field(default=False, compare=False)

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"the table {self.table}" if self.table is not None else "the query"

    @property
    def quoted(self) -> str:
        """The table's name as SQL writes it; a schema in front of it is one in PostgreSQL and DuckDB."""
        assert self.table is not None
        parts = [self.table] if self.system == "sqlite" else self.table.split(".", 1)
        return ".".join('"' + part.replace('"', '""') + '"' for part in parts)

    @property
    def schema_and_table(self) -> tuple[str | None, str]:
        """The schema, if one is named, and the table."""
        assert self.table is not None
        if self.system == "sqlite" or "." not in self.table:
            return None, self.table
        schema, table = self.table.split(".", 1)
        return schema, table

    def written_from(self, folder: Path) -> str:
        """Return the address as a policy in a folder writes it."""
        if self.system == "spark":
            return f"{SPARK}{self.table}"
        asked = {"table": self.table} if self.table is not None else {"query": self.query or ""}
        if self.system == "postgresql":
            joint = "&" if "?" in self.server else "?"
            return f"{self.server}{joint}{urlencode(asked, quote_via=quote)}"
        file = Path(os.path.relpath(self.file.resolve(), folder.resolve())).as_posix()
        return f"{self.system}:///{quote(file)}?{urlencode(asked, quote_via=quote)}"


Place = Path | Address


def parse_place(text: str, *, folder: Path = Path(), named: bool = False) -> Place:
    """Return the file or the database's table that a text names; relative files start from a folder.

    ``named`` says that the user gave it: only then may a server have a secret of theirs.

    No message repeats the text: somebody may have written a password into it.
    """
    if text.startswith(SPARK) and len(text) > len(SPARK):
        return Address("spark", table=text.removeprefix(SPARK))
    match = re.match(r"(\w+)://", text)
    if match is None:
        return folder / text
    system = SYSTEMS.get(match[1].lower())
    if system is None:
        raise DataError(f"{match[1]}:// is no database that kveil knows; use {FORMS}, or the path of a file.")
    where, _, asked = text[match.end() :].partition("?")
    options = parse_qsl(asked, keep_blank_values=True)
    wanted = {key: value for key, value in options if key in {"table", "query"}}
    if len(wanted) != 1 or not all(wanted.values()):
        raise DataError(f"an address of a database names one table or one query; write it as {FORMS}.")
    others = [(key, value) for key, value in options if key not in wanted]
    address = Address(system, table=wanted.get("table"), query=wanted.get("query"), named=named)
    if system == "postgresql":
        _check_no_password(where, others)
        more = f"?{urlencode(others, quote_via=quote, safe='/')}" if others else ""
        return replace(address, server=f"postgresql://{where}{more}")
    if others:
        raise DataError(f"an address of {system} takes table or query, not {listing([key for key, _ in others])}.")
    if not where.startswith("/") or len(where) < 2:
        raise DataError(
            f"an address of {system} has the file behind three slashes; write it as {system}:///file?table=…."
        )
    return replace(address, file=folder / unquote(where[1:]))


def _check_no_password(where: str, options: list[tuple[str, str]]) -> None:
    user = where.split("/", 1)[0].rpartition("@")[0]
    if ":" in user or any(key in SECRETS for key, _ in options):
        raise DataError(
            "a password does not belong into an address, where others can read it; take it out, and set PGPASSWORD or "
            "write it into the file ~/.pgpass."
        )


def check_not_spark(address: Address) -> None:
    """Raise DataError where only Spark can read or write a table."""
    if address.system == "spark":
        raise DataError(
            f"{address.name} is one of Spark's catalog; read it with engine spark, and name a folder for a release."
        )
