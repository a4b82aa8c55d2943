"""The members of groups: rows group by group, when every row's group is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kveil.arrays import Ints, Longs

ROWS_WORTH_A_LOOP = 1 << 14  # fewer NumPy sorts in less than a millisecond; loading the loop takes a hundred times that


class Members(NamedTuple):
    """Rows group by group, in each group in the order they have, and where each begins, with the end as last entry."""

    rows: Longs
    starts: Longs

    def of(self, group: int) -> Longs:
        """Return the rows of a group."""
        return self.rows[self.starts[group] : self.starts[group + 1]]

    def split(self) -> list[Longs]:
        """Return the rows of every group."""
        return np.split(self.rows, self.starts[1:-1]) if len(self.starts) > 1 else []

    def without_empty(self) -> Members:
        """Return the same rows without the groups that have none; those left keep their order, not their numbers."""
        begins = self.starts[:-1]
        return Members(self.rows, np.append(begins[begins < self.starts[1:]], self.starts[-1]))


def members_by_group(group: Ints | Longs, groups: int | None = None) -> Members:
    """Return the members of every group, from 0 to ``groups``, or to the largest number that occurs. O(rows + groups).

    That is what a stable sort by group gives; for many rows it is counted instead, in a twentieth of the time.
    """
    number = int(group.max(initial=-1)) + 1 if groups is None else groups
    starts = np.zeros(number + 1, dtype=np.int64)
    np.cumsum(np.bincount(group, minlength=number), out=starts[1:])  # refuses groups below 0 and beyond the last
    if len(group) < ROWS_WORTH_A_LOOP:
        return Members(np.argsort(group, kind="stable"), starts)
    from kveil.kernels.grouping.members_loops import write_members

    rows = np.empty(len(group), dtype=np.int64)
    write_members(np.ascontiguousarray(group, dtype=np.int32), starts[:-1].copy(), rows)
    return Members(rows, starts)


def group_no_members() -> None:
    """Group as many rows as are counted, which compiles the loop for the types it is called with."""
    members_by_group(np.zeros(ROWS_WORTH_A_LOOP, dtype=np.int32))
