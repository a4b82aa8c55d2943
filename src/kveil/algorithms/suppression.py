"""Rows that a search leaves out, within the suppression limit, and the error beyond it."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Bools, Ints
from kveil.errors import Unmeetable
from kveil.policy.components import most_suppressed
from kveil.table.table import Table
from kveil.words import count

LEFT_BEHIND = "too rare, or too much alike, once others were left out"  # the reason that owners are told
WAYS_OUT = "raise suppression.limit, ask for less, or move boundaries up."


def beyond_limit(table: Table, name: str, lost: int, allowed: int) -> Unmeetable:
    """Return the error about so many records, or people, that an algorithm could not keep."""
    return Unmeetable(
        f"{name} cannot meet the policy: {count(lost, table.noun)} of {table.records:,} would have to be suppressed "
        f"and the limit allows {allowed:,}; {WAYS_OUT}",
        lost=lost,
    )


class LeftOut:
    """Who is left out so far, and why; leaving out more than the limit allows is an error."""

    def __init__(self, table: Table, name: str) -> None:
        self.table = table
        self.name = name
        self.allowed = most_suppressed(table.policy, table.records)
        self.kept: Bools = np.ones(table.rows, dtype=bool)
        self.reasons: dict[str, Ints] = {}

    @property
    def remaining(self) -> int:
        """How many more may be left out."""
        return self.allowed - self.table.count(~self.kept)

    def leave_out(self, who: Bools, reason: str) -> None:
        """Leave rows out for a reason; raise Unmeetable beyond the limit."""
        self.kept = self.kept & ~who
        lost = self.table.count(~self.kept)
        if lost > self.allowed:
            raise beyond_limit(self.table, self.name, lost, self.allowed)
        before = self.reasons.get(reason, np.zeros(0, dtype=np.int32))
        self.reasons[reason] = np.append(before, np.flatnonzero(who)).astype(np.int32)
