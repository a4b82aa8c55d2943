"""The compiled loops behind `width_cells`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.jit import door, inner


@inner
def best_ends(leaf: Ints, count: Longs, reach: Ints, k: int, room: Longs) -> None:
    """Find for every value where the cell that begins there ends (exclusive), in the best division of the rest.

    From the last value down. Ends that leave a cell below k and ends that fill it are two windows which only move
    down; each keeps its candidates in a queue whose oldest is the best one, so that every end is looked at once.
    """
    number = len(leaf)
    ends, upto, best, below, filled = room[0], room[1], room[2], room[3], room[4]
    upto[0] = 0
    for i in range(number):
        upto[i + 1] = upto[i] + count[i]
    unit = number + 1
    best[number] = 0  # rows below k × unit + cells, from a value on
    below_first, below_last, filled_first, filled_last = 0, 0, 0, 0
    furthest, full, entered = number, number + 1, number + 1
    for i in range(number - 1, -1, -1):
        while leaf[furthest - 1] > reach[leaf[i]]:
            furthest -= 1
        while full > i + 1 and upto[full - 1] - upto[i] >= k:
            full -= 1  # the first end that fills the cell; past the last one where none does
        end = i + 1
        value = best[end] + upto[end] * unit
        while below_last > below_first and best[below[below_last - 1]] + upto[below[below_last - 1]] * unit >= value:
            below_last -= 1
        below[below_last] = end
        below_last += 1
        while below_last > below_first and (below[below_first] >= full or below[below_first] > furthest):
            below_first += 1
        while entered > full:
            entered -= 1
            while filled_last > filled_first and best[filled[filled_last - 1]] >= best[entered]:
                filled_last -= 1
            filled[filled_last] = entered
            filled_last += 1
        while filled_last > filled_first and filled[filled_first] > furthest:
            filled_first += 1
        best[i] = np.int64(2**62)
        if below_last > below_first:
            end = below[below_first]
            best[i] = best[end] + (upto[end] - upto[i]) * unit + 1
            ends[i] = end
        if filled_last > filled_first and best[filled[filled_first]] + 1 < best[i]:
            ends[i] = filled[filled_first]
            best[i] = best[ends[i]] + 1


@door
def choose_all(starts: Longs, leaf: Ints, count: Longs, reach: Ints, k: int, room: Longs, cell: Ints) -> None:
    """Choose the cells of every group; see `kveil.kernels.limits.width_cells.choose_cells`."""
    ends = room[0]
    number = 0
    for g in range(len(starts) - 1):
        begin, end = starts[g], starts[g + 1]
        if begin == end:
            continue
        best_ends(leaf[begin:end], count[begin:end], reach, k, room)
        at = np.int64(0)
        while at < end - begin:
            for i in range(at, ends[at]):
                cell[begin + i] = number
            at = ends[at]
            number += 1
