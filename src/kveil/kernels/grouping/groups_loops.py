"""The compiled loops behind `groups`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs, Words
from kveil.kernels.jit import door, inner


@door
def hash_rows(columns: Ints) -> Words:
    """Return a 64-bit hash of every row, column by column."""
    width, rows = columns.shape
    hashes = np.full(rows, np.uint64(0x9E3779B97F4A7C15))
    for c in range(width):
        for row in range(rows):
            h = hashes[row] ^ (np.uint64(columns[c, row]) + np.uint64(1))
            h *= np.uint64(0xFF51AFD7ED558CCD)
            hashes[row] = h ^ (h >> np.uint64(32))
    return hashes


@door
def pack_rows(columns: Ints, lowest: Ints, sizes: Words) -> Words:
    """Return a word of its own for every distinct row, spread over all bits; ``sizes`` multiply to less than 2⁶⁴."""
    width, rows = columns.shape
    words = np.zeros(rows, dtype=np.uint64)
    for c in range(width):
        size, low = sizes[c], lowest[c]
        for row in range(rows):
            words[row] = words[row] * size + np.uint64(columns[c, row] - low)
    for row in range(rows):
        h = words[row]
        h = (h ^ (h >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)  # each of these steps can be undone
        h = (h ^ (h >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
        words[row] = h ^ (h >> np.uint64(33))
    return words


@inner
def same_row(columns: Ints, one: int, other: int) -> bool:
    """Tell whether two rows are equal."""
    same = True
    for c in range(columns.shape[0]):
        same = same and columns[c, one] == columns[c, other]
    return same


@door
def group_hashed(columns: Ints, hashes: Words, parts: int, exact: bool) -> tuple[Ints, Ints]:
    """Give distinct rows numbers, part by part of the hash space, so that every table fits the cache.

    Where hashes are not ``exact``, rows of equal hashes are compared cell by cell.
    """
    rows = len(hashes)
    shift = np.uint64(64 - parts)
    starts = np.zeros((1 << parts) + 1, dtype=np.int64)
    order = np.empty(rows, dtype=np.int32)
    near = hashes  # the hashes in the order of the parts
    if parts == 0:
        starts[1] = rows
        for row in range(rows):
            order[row] = row
    else:
        for row in range(rows):
            starts[(hashes[row] >> shift) + np.uint64(1)] += 1
        for part in range(1 << parts):
            starts[part + 1] += starts[part]
        place = starts[:-1].copy()
        near = np.empty(rows, dtype=np.uint64)
        for row in range(rows):
            h = hashes[row]
            part = h >> shift
            order[place[part]] = row
            near[place[part]] = h
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
    words = np.empty(size, dtype=np.uint64)
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
            h = near[at]
            row = order[at]
            slot = h & mask
            while True:
                group = slots[slot]
                if group < 0:
                    slots[slot] = groups
                    words[slot] = h
                    first[groups] = row
                    member[row] = groups
                    groups += 1
                    break
                if words[slot] == h and (exact or same_row(columns, row, first[group])):
                    member[row] = group
                    break
                slot = (slot + np.uint64(1)) & mask
    return member, first[:groups].copy()


@door
def pick_groups(hashes: Words, bits: int) -> Ints:
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


@door
def add_weights(group: Ints, weights: Longs, totals: Longs) -> Longs:
    """Add every row's weight to the total of its group."""
    for row in range(len(group)):
        totals[group[row]] += weights[row]
    return totals
