"""Group equal rows of integer columns."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int32]


@njit(cache=True, nogil=True)
def _group(columns: Ints, bits: int) -> tuple[Ints, Ints]:
    """Give distinct rows numbers by first appearance, with an open-addressing table of row hashes.

    Equal hashes are compared cell by cell: no packed key, which for nine columns need not be injective.
    """
    width, rows = columns.shape
    size = 1 << bits
    mask = np.uint64(size - 1)
    slot_hash = np.zeros(size, dtype=np.uint64)
    slot_group = np.full(size, -1, dtype=np.int32)
    member = np.empty(rows, dtype=np.int32)
    first = np.empty(rows, dtype=np.int32)
    groups = 0
    for row in range(rows):
        h = np.uint64(0x9E3779B97F4A7C15)
        for c in range(width):
            h ^= np.uint64(columns[c, row]) + np.uint64(1)
            h *= np.uint64(0xFF51AFD7ED558CCD)
            h ^= h >> np.uint64(32)
        slot = h & mask
        while True:
            group = slot_group[slot]
            if group < 0:
                slot_group[slot] = groups
                slot_hash[slot] = h
                first[groups] = row
                member[row] = groups
                groups += 1
                break
            if slot_hash[slot] == h:
                other = first[group]
                same = True
                for c in range(width):
                    if columns[c, row] != columns[c, other]:
                        same = False
                        break
                if same:
                    member[row] = group
                    break
            slot = (slot + np.uint64(1)) & mask
    return member, first[:groups].copy()


def group_rows(columns: Ints) -> tuple[Ints, Ints]:
    """Return every row's group and every group's first row; ``columns`` is (columns, rows).

    Groups are numbered by first appearance. O(rows · columns) time, 24 bytes a row at the most beside the
    result.
    """
    rows = columns.shape[1]
    bits = max(4, int(rows * 1.5).bit_length())
    return _group(np.ascontiguousarray(columns, dtype=np.int32), bits)
