"""Tables of databases: read and written through Arrow, in one transaction, without ever showing a password.

What reads and writes is imported on first use: the studio's server only asks what an address names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kveil.databases.address import Address, Place, parse_place

if TYPE_CHECKING:
    from kveil.databases.reading import read_database
    from kveil.databases.writing import StagedTable, check_new_table

__all__ = ["Address", "Place", "StagedTable", "check_new_table", "parse_place", "read_database"]


def __getattr__(name: str) -> Any:
    if name == "read_database":
        from kveil.databases.reading import read_database

        return read_database
    if name in ("StagedTable", "check_new_table"):
        from kveil.databases import writing

        return writing.StagedTable if name == "StagedTable" else writing.check_new_table
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
