"""The compiled loop behind `members`; importing this module imports Numba."""

from __future__ import annotations

from kveil.arrays import Ints, Longs
from kveil.kernels.jit import door


@door
def write_members(group: Ints, place: Longs, rows: Longs) -> None:
    """Write every row to the place of its group, and the place goes on by one; ``place`` is where each group begins."""
    for row in range(len(group)):
        at = place[group[row]]
        rows[at] = row
        place[group[row]] = at + 1
