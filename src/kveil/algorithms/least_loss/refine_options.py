"""Options that every algorithm has: how much refining is asked for, and how long all of it may take."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from kveil.policy.fields import Number, PolicyPart

NORMAL, BEST = 1.7, 12.0  # tries per row
# What these efforts stand for in the search in groups, where a try takes less time than one of items or of overlaps.
# Large tables have fewer, since they take long enough; see search_groups.LARGE.
IN_GROUPS = {NORMAL: 3.0, BEST: 20.0}
IN_LARGE_TABLES = {NORMAL: 2.3, BEST: 15.6}
COLD, HOT = 3.0, 12.0  # tries per row in groups up to which nothing dearer is kept, and from which on heat is full
# And under overlapping constraints, where tries that cannot be mended end early.
IN_OVERLAPS = {NORMAL: 3.2, BEST: 20.0}


def tries_in_groups(tries_per_row: float, *, large: bool) -> float:
    """Return the tries per row in groups: other numbers than those of `normal` and `best` stand for themselves."""
    return (IN_LARGE_TABLES if large else IN_GROUPS).get(tries_per_row, tries_per_row)


def heat_of(tries_per_row: float) -> float:
    """Return the share of the full heat that so many tries per row in groups are worth: few had better only go down."""
    return min(max((tries_per_row - COLD) / (HOT - COLD), 0.0), 1.0)


def tries_in_overlaps(tries_per_row: float) -> float:
    """Return the tries per row under overlapping constraints: other numbers stand for themselves, too."""
    return IN_OVERLAPS.get(tries_per_row, tries_per_row)


def _effort(value: object) -> object:
    return "off" if value is False else value


class RefineOptions(PolicyPart):
    """What every algorithm can be asked for after it is done.

    refine: `off`, `normal`, `best`, or a number of tries per record. refine_seconds: stop after so many seconds; the
    release then depends on the machine, and the receipt has the tries that were done. seconds: end after so many
    seconds in all, with the best so far, or with none.
    """

    refine: Annotated[
        Literal["off", "normal", "best"] | Annotated[Number, Field(ge=0)] | None, BeforeValidator(_effort)
    ] = None
    refine_seconds: Annotated[Number, Field(gt=0)] | None = None
    seconds: Annotated[Number, Field(gt=0)] | None = None

    def tries_per_row(self, default: str) -> float:
        """Return the tries per row that are asked for."""
        effort = default if self.refine is None else self.refine
        if isinstance(effort, Decimal):
            return float(effort)
        return {"off": 0.0, "normal": NORMAL, "best": BEST}[effort]
