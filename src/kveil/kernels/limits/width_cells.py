"""Cells of numbers: as few rows as possible in cells below k. Numba is imported with the first call, not before."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs


def choose_cells(starts: Longs, leaf: Ints, count: Longs, reach: Ints, k: int) -> Ints:
    """Return the cell of every value, numbered over all groups.

    Values are sorted by group, then by leaf; ``starts`` is where groups start, with the end as last entry. A cell that
    begins at a leaf may go up to ``reach`` of it. Of all divisions the one with the fewest rows in cells below k, then
    the fewest cells, then the lowest cuts, the first one first. O(values).
    """
    from kveil.kernels.limits.width_cells_loops import choose_all

    cell = np.empty(len(leaf), dtype=np.int32)
    room = np.empty((5, int(np.diff(starts).max(initial=0)) + 1), dtype=np.int64)
    choose_all(starts, leaf, count, reach, k, room, cell)
    return cell


def choose_nothing() -> None:
    """Divide no values into cells, which compiles the loop for the types it is called with."""
    none, far = np.zeros(3, dtype=np.int32), np.zeros(1, dtype=np.int64)
    choose_cells(far, none[:0], far[:0], none, 1)
