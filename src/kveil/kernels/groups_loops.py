"""The compiled loops behind `groups`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Hashes = NDArray[np.uint64]


@njit(cache=True, nogil=True)
def hash_rows(columns: Ints) -> Hashes:
    """Return a 64-bit hash of every row, column by column."""
    width, rows = columns.shape
    hashes = np.full(rows, np.uint64(0x9E3779B97F4A7C15))
    for c in range(width):
        for row in range(rows):
            h = hashes[row] ^ (np.uint64(columns[c, row]) + np.uint64(1))
            h *= np.uint64(0xFF51AFD7ED558CCD)
            hashes[row] = h ^ (h >> np.uint64(32))
    return hashes


@njit(cache=True, nogil=True)
def group_hashed(columns: Ints, hashes: Hashes, parts: int) -> tuple[Ints, Ints]:
    """Give distinct rows numbers, part by part of the hash space, so that every table fits the cache.

    Equal hashes are compared cell by cell: no packed key, which for nine columns need not be injective.
    """
    width, rows = columns.shape
    shift = np.uint64(64 - parts)
    starts = np.zeros((1 << parts) + 1, dtype=np.int64)
    if parts == 0:
        starts[1] = rows
    else:
        for row in range(rows):
            starts[(hashes[row] >> shift) + np.uint64(1)] += 1
        for part in range(1 << parts):
            starts[part + 1] += starts[part]
    order = np.empty(rows, dtype=np.int32)
    if parts == 0:
        for row in range(rows):
            order[row] = row
    else:
        place = starts[:-1].copy()
        for row in range(rows):
            part = hashes[row] >> shift
            order[place[part]] = row
            place[part] += 1
    member = np.empty(rows, dtype=np.int32)
    first = np.empty(rows, dtype=np.int32)
    groups = 0
    largest = 0
    for part in range(1 << parts):
        largest = max(largest, starts[part + 1] - starts[part])
    size = 16
    while size < 2 * largest:
        size *= 2
    slots = np.empty(size, dtype=np.int32)
    for part in range(1 << parts):
        begin, end = starts[part], starts[part + 1]
        if begin == end:
            continue
        used = 16
        while used < 2 * (end - begin):
            used *= 2
        mask = np.uint64(used - 1)
        slots[:used] = -1
        for at in range(begin, end):
            row = order[at]
            h = hashes[row]
            slot = h & mask
            while True:
                group = slots[slot]
                if group < 0:
                    slots[slot] = groups
                    first[groups] = row
                    member[row] = groups
                    groups += 1
                    break
                other = first[group]
                if hashes[other] == h:
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


@njit(cache=True, nogil=True)
def pick_groups(hashes: Hashes, bits: int) -> Ints:
    """Return the rows whose hash has its lowest ``bits`` zero: all of a group's rows, or none."""
    mask = np.uint64((1 << bits) - 1)
    found = 0
    for row in range(len(hashes)):
        if hashes[row] & mask == 0:
            found += 1
    rows = np.empty(found, dtype=np.int32)
    at = 0
    for row in range(len(hashes)):
        if hashes[row] & mask == 0:
            rows[at] = row
            at += 1
    return rows
