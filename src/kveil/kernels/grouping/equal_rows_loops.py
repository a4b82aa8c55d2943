"""The compiled loops behind `equal_rows`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Bools, Ints, Longs, Words
from kveil.kernels.grouping.hash_slots_loops import empty_slots, mix
from kveil.kernels.grouping.layout import GroupingRoom
from kveil.kernels.jit import door, inner


@door
def hash_rows(columns: Ints, chosen: Longs, hashes: Words) -> None:
    """Find a 64-bit hash of every row, chosen column by chosen column."""
    rows = columns.shape[1]
    for row in range(rows):
        hashes[row] = np.uint64(0x9E3779B97F4A7C15)
    for i in range(len(chosen)):
        c = chosen[i]
        for row in range(rows):
            hashes[row] = mix(hashes[row], columns[c, row])


@door
def pack_rows(columns: Ints, chosen: Longs, lowest: Ints, sizes: Words, words: Words) -> None:
    """Find a word of its own for every row that is distinct in the chosen columns, spread over all bits.

    ``sizes``, of these columns, multiply to less than 2⁶⁴.
    """
    rows = columns.shape[1]
    for row in range(rows):
        words[row] = np.uint64(0)
    for i in range(len(chosen)):
        c, size, low = chosen[i], sizes[i], lowest[i]
        for row in range(rows):
            words[row] = words[row] * size + np.uint64(columns[c, row] - low)
    for row in range(rows):
        h = words[row]
        h = (h ^ (h >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)  # each of these steps can be undone
        h = (h ^ (h >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
        words[row] = h ^ (h >> np.uint64(33))


@inner
def same_row(columns: Ints, chosen: Longs, one: int, other: int) -> bool:
    """Tell whether two rows are equal in the chosen columns."""
    same = True
    for i in range(len(chosen)):
        same = same and columns[chosen[i], one] == columns[chosen[i], other]
    return same


@door
def group_hashed(columns: Ints, chosen: Longs, hashes: Words, exact: bool, room: GroupingRoom, member: Ints) -> int:
    """Give distinct rows numbers, part by part of the hash space, so that every table fits the cache.

    Returns how many there are, -1 where the room is too small. Where hashes are not ``exact``, rows of equal hashes are
    compared cell by cell.
    """
    rows, parts = len(hashes), room.parts
    shift = np.uint64(64 - parts)
    starts, place, order, first = room.starts, room.place, room.order, room.first
    slots, words = room.slots, room.words
    near = hashes if parts == 0 else room.near  # the hashes in the order of the parts
    if parts == 0:
        starts[1] = rows
        for row in range(rows):
            order[row] = row
    else:
        for row in range(rows):
            starts[(hashes[row] >> shift) + np.uint64(1)] += 1
        for part in range(1 << parts):
            starts[part + 1] += starts[part]
            place[part] = starts[part]
        for row in range(rows):
            h = hashes[row]
            part = h >> shift
            order[place[part]] = row
            near[place[part]] = h
            place[part] += 1
    groups = 0
    for part in range(1 << parts):
        begin, end = starts[part], starts[part + 1]
        if begin == end:
            continue
        if len(slots) < max(16, 2 * (end - begin)):
            return -1
        mask = empty_slots(slots, end - begin)
        for at in range(begin, end):
            h = near[at]
            row = order[at]
            slot = h & mask
            # Half of the slots are empty, so that one is found; counting the steps up to ``used`` took 5 % of all time.
            # So did `seek`, which other loops share: here hashes stand by slot, and rows are seldom compared.
            group = slots[slot]
            while group >= 0 and not (words[slot] == h and (exact or same_row(columns, chosen, row, first[group]))):
                slot = (slot + np.uint64(1)) & mask
                group = slots[slot]
            if group < 0:
                slots[slot] = groups
                words[slot] = h
                first[groups] = row
                groups += 1
            member[row] = slots[slot]
    return groups


@door
def add_weights(group: Ints, weights: Longs, totals: Longs) -> None:
    """Add every row's weight to the total of its group."""
    for row in range(len(group)):
        totals[group[row]] += weights[row]


@door
def drop_rows(group: Ints, weights: Longs, k: int, sizes: Longs, alive: Bools) -> int:
    """Drop the rows of small groups; see `equal_rows.drop_rare`. ``sizes`` are zero."""
    for row in range(len(group)):
        sizes[group[row]] += weights[row] * np.int64(alive[row])
    dropped = 0
    for row in range(len(group)):
        if alive[row] and 0 < sizes[group[row]] < k:
            alive[row] = False
            dropped += 1
    return dropped
