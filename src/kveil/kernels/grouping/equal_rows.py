"""Group equal rows of integer columns. Numba is imported when the first group is asked for, not before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.grouping.layout import new_grouping_room
from kveil.kernels.threads import threads
from kveil.stopping import check_cancelled

ROWS_WORTH_A_THREAD = 50_000  # to be grouped: below, starting one takes longer than what it does


def group_rows(columns: Ints) -> tuple[Ints, Ints]:
    """Return every row's group and every group's first row; ``columns`` is (columns, rows).

    The numbers of the groups depend on the rows' contents and order alone. O(rows · columns) time, 20 bytes per
    row beside the result.
    """
    from kveil.kernels.grouping.equal_rows_loops import group_hashed, hash_rows, pack_rows

    check_cancelled()
    columns = np.ascontiguousarray(_varying(columns), dtype=np.int32)
    rows = columns.shape[1]
    lowest = columns.min(axis=1, initial=0)
    sizes = columns.max(axis=1, initial=0).astype(np.int64) - lowest + 1
    exact = math.prod(sizes.tolist()) < 2**64
    hashes, member = np.empty(rows, dtype=np.uint64), np.empty(rows, dtype=np.int32)
    if exact:
        pack_rows(columns, lowest, sizes.astype(np.uint64), hashes)
    else:
        hash_rows(columns, hashes)
    parts = min(max(rows.bit_length() - 14, 0), 10)
    room = new_grouping_room(rows, parts)
    groups = group_hashed(columns, hashes, parts, exact, room, member)
    if groups < 0:
        raise RuntimeError("the room to group rows in is too small for them")
    if groups == rows:  # all different: then in their own order, which is the fastest to follow
        return np.arange(rows, dtype=np.int32), np.arange(rows, dtype=np.int32)
    return member, room.first[:groups].copy()


def group_each(several: Sequence[Ints]) -> list[tuple[Ints, Ints]]:
    """Return the groups of each of several matrices, as `group_rows` does; in threads where they have many rows."""
    at_once = min(threads(), len(several))
    if at_once < 2 or max(columns.shape[1] for columns in several) < ROWS_WORTH_A_THREAD:
        return [group_rows(columns) for columns in several]
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(group_rows, several))


def add_up(group: Ints, weights: Longs, groups: int) -> Longs:
    """Return the sum of the weights of each group's rows."""
    from kveil.kernels.grouping.equal_rows_loops import add_weights

    rows, counted = np.ascontiguousarray(group, dtype=np.int32), np.ascontiguousarray(weights, dtype=np.int64)
    totals = np.zeros(groups, dtype=np.int64)
    add_weights(rows, counted, totals)
    return totals


def sample_of_groups(columns: Ints, bits: int) -> Ints:
    """Return about one row in ``2**bits``, chosen so that equal rows are taken all together or not at all."""
    from kveil.kernels.grouping.equal_rows_loops import hash_rows

    hashes = np.empty(columns.shape[1], dtype=np.uint64)
    hash_rows(np.ascontiguousarray(_varying(columns), dtype=np.int32), hashes)
    return np.flatnonzero(hashes & np.uint64((1 << bits) - 1) == 0).astype(np.int32)


def _varying(columns: Ints) -> Ints:
    """Return the columns that tell rows apart: after much generalizing many show the same in all rows."""
    rows = columns.shape[1]
    if not rows:
        return columns
    # Most columns differ in their first rows: the whole of one is looked at only where those are equal.
    varying = [c for c in columns if (c[:64] != c[0]).any() or (c != c[0]).any()]
    return columns if len(varying) == len(columns) else np.array(varying, dtype=np.int32).reshape(-1, rows)


def group_nothing() -> None:
    """Group a few rows, which compiles the loops for the types they are called with."""
    rows = np.arange(6, dtype=np.int32).reshape(2, 3)
    group_rows(rows)
    sample_of_groups(rows, 1)
    add_up(rows[0], np.ones(3, dtype=np.int64), 3)
