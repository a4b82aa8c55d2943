"""What a query may do: read the database it is asked of, and nothing else. A policy comes from anywhere.

That a query begins with SELECT makes the sentence of a refusal clear; what holds it is each system itself: DuckDB with
no access outside its file, SQLite's compiler and a file that is opened to be read, PostgreSQL's read-only transaction
and its own list of functions.
"""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kveil.databases.address import Address
from kveil.errors import DataError

# Systems differ in where a comment ends: one within another, or with a carriage return in it, is none here.
BEGINNING = re.compile(
    r"(?:[ \t\r\n\f(]|--[^\r\n]*(?:\r?\n|$)|/\*(?:(?!/\*).)*?\*/)*(?P<word>[a-z]*)", re.DOTALL | re.IGNORECASE
)
# Functions that some builds of SQLite have, and that reach outside of the file.
OUTSIDE_OF_SQLITE = (
    "edit",
    "fts3_tokenizer",
    "fsdir",
    "load_extension",
    "lsmode",
    "readfile",
    "sqlite_log",
    "writefile",
)
INNER_PRAGMAS = ("data_version", "page_size")  # which full-text and spatial indexes look up in their own tables
# Volatile, since they answer otherwise each time; they look at nothing but the clock and dice.
HARMLESS = ("clock_timestamp", "gen_random_uuid", "random", "timeofday")
# All others that are volatile may do anything: the built-in ones that read files, run a text as a query, change
# settings or end sessions are among them, and so are functions of a database's own that nobody declared otherwise. A
# few that run texts, or read views by a text, are declared to be stable. What takes internal things cannot be called.
FUNCTIONS = r"""
    SELECT DISTINCT p.proname::text FROM pg_catalog.pg_proc p
    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace JOIN pg_catalog.pg_type t ON t.oid = p.prorettype
    WHERE (
        p.provolatile = 'v' AND NOT (n.nspname = 'pg_catalog' AND p.proname IN ({harmless}))
        OR p.proname ~ '^((table|schema|database|query|cursor)_to_xml|crosstab|connectby$|xpath_table$)'
    )
    AND t.typname NOT IN ('trigger', 'event_trigger')
    AND pg_catalog.oidvectortypes(p.proargtypes) NOT LIKE '%internal%'
"""
SYSTEM_VIEWS = "SELECT viewname::text, definition FROM pg_catalog.pg_views WHERE schemaname = 'pg_catalog'"


def check_query(address: Address) -> None:
    """Raise DataError where an address asks for something that does not begin as a query does."""
    if address.query is None:
        return
    match = BEGINNING.match(address.query)
    if "\0" in address.query or match is None or match["word"].upper() not in ("SELECT", "WITH"):
        raise DataError(
            "the query could not be read, since it must be one statement that reads and begins with SELECT or WITH; "
            "write it so, or name a table with table=."
        )


def check_on_sqlite(address: Address, sql: str, uri: str) -> None:
    """Raise DataError where a statement does more than read tables of its file, as SQLite itself compiles it.

    The driver has no hook for that, so that the standard library compiles the statement first, on the same file. An
    error of its own is told as one of the driver's.
    """
    forbidden: list[str] = []

    def allow(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        what = _outside_of_sqlite(action, str(first).lower(), second)
        if what is not None:
            forbidden.append(what)
        return sqlite3.SQLITE_OK if what is None else sqlite3.SQLITE_DENY

    connection = sqlite3.connect(uri, uri=True)
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.set_authorizer(allow)
        try:
            steps = connection.execute(f"EXPLAIN {sql}").fetchall()
        except (sqlite3.Error, sqlite3.Warning) as error:
            if not forbidden and "one statement" in str(error):
                forbidden.append("is more than one statement")
            if forbidden:
                raise _forbidden(forbidden[0]) from None
            raise
    finally:
        connection.close()
    names = {name for _, name, *_ in steps}
    if "ResultRow" not in names or "Vacuum" in names or any(step[1] == "Transaction" and step[3] for step in steps):
        raise _forbidden("changes the database")


def _outside_of_sqlite(action: int, first: str, second: str | None) -> str | None:
    """Return what an action that SQLite asks about does, None where it reads the tables of the file."""
    if action == sqlite3.SQLITE_FUNCTION and str(second).lower() in OUTSIDE_OF_SQLITE:
        return f"calls {second}"
    if action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH):
        return "opens another file"
    table_of_settings = action == sqlite3.SQLITE_READ and first.startswith("pragma_")
    setting = action == sqlite3.SQLITE_PRAGMA and (first not in INNER_PRAGMAS or second is not None)
    return "looks at settings" if table_of_settings or setting else None


def is_idle(file: Path) -> bool:
    """Tell whether a database of SQLite that writes ahead into a log is open nowhere: there is no log then."""
    with file.open("rb") as head:
        logs = head.read(20)[18:20] == b"\x02\x02"
    return logs and not file.with_name(file.name + "-wal").exists()


def sqlite_uri(address: Address) -> str:
    """Return how SQLite opens a file that is only read: it takes back no half-done change and leaves no file behind.

    One that is open nowhere would get a log beside it, so that it is read as a file that nobody changes.
    """
    file = address.file.resolve()
    return f"file:{quote(str(file))}?mode=ro{'&immutable=1' if is_idle(file) else ''}"


def check_on_duckdb(sql: str) -> None:
    """Raise DataError where a text is not one statement that reads; files and settings are closed to it anyway."""
    import duckdb

    statements = duckdb.extract_statements(sql)
    if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
        raise _forbidden("is not one SELECT")


def check_on_postgresql(cursor: Any, address: Address) -> None:
    """Raise DataError where a query, or a view of the system, may do more than read the database.

    The server says which functions may: any of their names in a query is one too many, wherever it stands, so that no
    comment, quotation mark or schema hides it. Texts that become queries are run by such functions only.
    """
    if address.query is None and not address.schema_and_table[1].lower().startswith("pg_"):
        return
    if address.query is not None:  # whatever is no query has no plan, by the server's own grammar
        cursor.execute(f"PREPARE kveil_query AS {address.query}")
        cursor.execute("DEALLOCATE kveil_query")
    cursor.execute(FUNCTIONS.format(harmless=", ".join(f"'{name}'" for name in HARMLESS)))
    functions = _named(name for (name,) in cursor.fetchall())
    cursor.execute(SYSTEM_VIEWS)
    views = {name.lower() for name, definition in cursor.fetchall() if functions.search(definition or "")}
    if address.query is None:
        if address.schema_and_table[1].lower() in views:
            raise _forbidden(f"reads {address.schema_and_table[1]}")
        return
    # Some Turkish servers fold the one letter into the other.
    text = address.query.replace("\u0130", "i").lower()
    if 'u&"' in text:
        raise DataError('the query writes a name as U&"…", which hides it; write it in plain letters.')
    for pattern, verb in ((functions, "calls"), (_named(views), "reads")):
        found = pattern.search(text)
        if found:
            raise _forbidden(f"{verb} {found[0]}")


def _named(names: Any) -> re.Pattern[str]:
    """Return what finds any of some names, in lower case and not within a longer one."""
    ordered = sorted({name.lower() for name in names}, key=len, reverse=True)
    return re.compile(rf"(?<![a-z_])(?:{'|'.join(map(re.escape, ordered)) or '(?!)'})(?![a-z0-9_$])")


def _forbidden(what: str) -> DataError:
    return DataError(
        f"the query could not be read, since it {what}, and a query reads tables and does nothing else; write it "
        "without, or make a view of it in the database and name that with table=."
    )
