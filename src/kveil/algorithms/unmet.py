"""The error of a search that would have to suppress more than the policy allows."""

from __future__ import annotations

from kveil.errors import Unmeetable
from kveil.table.encode import Table
from kveil.words import count


def beyond_limit(table: Table, name: str, lost: int, allowed: int) -> Unmeetable:
    """Return the error about so many records, or people, that an algorithm could not keep."""
    noun = "record" if table.persons is None else "individual"
    return Unmeetable(
        f"{name} cannot meet the policy: {count(lost, noun)} of {table.records:,} would have to be suppressed and the "
        f"limit allows {allowed:,}; raise suppression.limit, ask for less, or move boundaries up.",
        lost,
    )
