"""The error of a search that would have to suppress more than the policy allows."""

from __future__ import annotations

from kveil.errors import Unmeetable
from kveil.table.table import Table
from kveil.words import count


def beyond_limit(table: Table, name: str, lost: int, allowed: int) -> Unmeetable:
    """Return the error about so many records, or people, that an algorithm could not keep."""
    return Unmeetable(
        f"{name} cannot meet the policy: {count(lost, table.noun)} of {table.records:,} would have to be suppressed "
        f"and the limit allows {allowed:,}; raise suppression.limit, ask for less, or move boundaries up.",
        lost,
    )
