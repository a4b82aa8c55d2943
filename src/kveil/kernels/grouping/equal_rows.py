"""Group equal rows of integer columns. Numba is imported when the first group is asked for, not before."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.grouping.layout import new_grouping_room
from kveil.kernels.threads import each_in_threads
from kveil.stopping import check_cancelled


def group_rows(columns: Ints, over: Sequence[int] | None = None) -> tuple[Ints, Ints]:
    """Return every row's group and every group's first row; ``columns`` is (columns, rows).

    ``over`` are the columns in which equal rows are equal, by default all. The numbers of the groups depend on what
    rows have there and on their order alone. O(rows · columns) time, 20 bytes per row beside the result.
    """
    from kveil.kernels.grouping.equal_rows_loops import group_hashed, hash_rows, pack_rows

    check_cancelled()
    columns = np.ascontiguousarray(columns, dtype=np.int32)
    chosen = _varying(columns, range(len(columns)) if over is None else over)
    rows = columns.shape[1]
    lowest = np.array([columns[c].min(initial=0) for c in chosen], dtype=np.int32)
    highest = np.array([columns[c].max(initial=0) for c in chosen], dtype=np.int64)
    sizes = highest - lowest + 1
    exact = math.prod(sizes.tolist()) < 2**64
    hashes, member = np.empty(rows, dtype=np.uint64), np.empty(rows, dtype=np.int32)
    if exact:
        pack_rows(columns, chosen, lowest, sizes.astype(np.uint64), hashes)
    else:
        hash_rows(columns, chosen, hashes)
    room = new_grouping_room(rows, min(max(rows.bit_length() - 14, 0), 10))
    groups = group_hashed(columns, chosen, hashes, exact, room, member)
    if groups < 0:
        raise RuntimeError("the room to group rows in is too small for them")
    if groups == rows:  # all different: then in their own order, which is the fastest to follow
        return np.arange(rows, dtype=np.int32), np.arange(rows, dtype=np.int32)
    return member, room.first[:groups].copy()


def group_each(columns: Ints, several: Sequence[Sequence[int]]) -> list[tuple[Ints, Ints]]:
    """Return the groups of rows over each of several choices of columns; in threads where there are many rows."""
    columns = np.ascontiguousarray(columns, dtype=np.int32)
    return each_in_threads(lambda over: group_rows(columns, over), several, columns.shape[1])


def add_up(group: Ints, weights: Longs, groups: int) -> Longs:
    """Return the sum of the weights of each group's rows."""
    from kveil.kernels.grouping.equal_rows_loops import add_weights

    rows, counted = np.ascontiguousarray(group, dtype=np.int32), np.ascontiguousarray(weights, dtype=np.int64)
    totals = np.zeros(groups, dtype=np.int64)
    add_weights(rows, counted, totals)
    return totals


def drop_rare(group: Ints, groups: int, weights: Longs, k: int, alive: Bools) -> int:
    """Drop the rows that are alive in groups that have less than ``k`` of their weight; return how many these are.

    Groups without any weight stay. O(rows + groups).
    """
    from kveil.kernels.grouping.equal_rows_loops import drop_rows

    rows, counted = np.ascontiguousarray(group, dtype=np.int32), np.ascontiguousarray(weights, dtype=np.int64)
    return int(drop_rows(rows, counted, k, np.zeros(groups, dtype=np.int64), alive))


def sample_of_groups(columns: Ints, bits: int) -> Ints:
    """Return about one row in ``2**bits``, chosen so that equal rows are taken all together or not at all."""
    from kveil.kernels.grouping.equal_rows_loops import hash_rows

    hashes, columns = np.empty(columns.shape[1], dtype=np.uint64), np.ascontiguousarray(columns, dtype=np.int32)
    hash_rows(columns, _varying(columns, range(len(columns))), hashes)
    return np.flatnonzero(hashes & np.uint64((1 << bits) - 1) == 0).astype(np.int32)


def _varying(columns: Ints, over: Sequence[int]) -> Longs:
    """Return, of some columns, those that tell rows apart: after much generalizing many show the same in all rows."""
    # Most columns differ in their first rows: the whole of one is looked at only where those are equal.
    varying = [c for c in over if (columns[c][:64] != columns[c][:1]).any() or (columns[c] != columns[c][:1]).any()]
    return np.array(varying, dtype=np.int64)


def group_nothing() -> None:
    """Group a few rows, which compiles the loops for the types they are called with."""
    rows = np.arange(6, dtype=np.int32).reshape(2, 3)
    group_rows(rows)
    sample_of_groups(rows, 1)
    add_up(rows[0], np.ones(3, dtype=np.int64), 3)
    drop_rare(rows[0], 3, np.ones(3, dtype=np.int64), 2, np.ones(3, dtype=bool))
