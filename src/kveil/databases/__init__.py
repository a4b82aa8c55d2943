"""Tables of databases: read and written through Arrow, in one transaction, without ever showing a password."""

from __future__ import annotations

from kveil.databases.address import Address, Place, parse_place
from kveil.databases.reading import read_database
from kveil.databases.writing import StagedTable, check_new_table

__all__ = ["Address", "Place", "StagedTable", "check_new_table", "parse_place", "read_database"]
