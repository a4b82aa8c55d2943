"""The members of groups, the slow way: a list per group."""

from __future__ import annotations


def members_by_group(group: list[int], groups: int) -> list[list[int]]:
    """Return the rows of every group, in the order they have."""
    return [[row for row, own in enumerate(group) if own == number] for number in range(groups)]
