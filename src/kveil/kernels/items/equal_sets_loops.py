"""The compiled loop that groups equal runs of values; behind `partition.group_sets`."""

from __future__ import annotations

import numpy as np
from numba import njit

from kveil.arrays import Ints, Longs


@njit(cache=True, nogil=True)
def group_runs(start: Longs, values: Ints) -> tuple[Ints, Ints]:
    """Group equal runs of values; equal hashes are compared value by value."""
    runs = len(start) - 1
    size = 16
    while size < 2 * runs:
        size *= 2
    mask = np.uint64(size - 1)
    slots = np.full(size, -1, dtype=np.int32)
    hashes = np.empty(runs, dtype=np.uint64)
    member = np.empty(runs, dtype=np.int32)
    first = np.empty(runs, dtype=np.int32)
    groups = 0
    for run in range(runs):
        length = start[run + 1] - start[run]
        h = np.uint64(length)
        for i in range(start[run], start[run + 1]):
            h = (h ^ (np.uint64(values[i]) + np.uint64(1))) * np.uint64(0xFF51AFD7ED558CCD)
            h ^= h >> np.uint64(32)
        hashes[run] = h
        slot = h & mask
        while True:
            g = slots[slot]
            if g < 0:
                slots[slot] = groups
                first[groups] = run
                member[run] = groups
                groups += 1
                break
            other = first[g]
            same = hashes[other] == h and start[other + 1] - start[other] == length
            i = 0
            while same and i < length:
                same = values[start[other] + i] == values[start[run] + i]
                i += 1
            if same:
                member[run] = g
                break
            slot = (slot + np.uint64(1)) & mask
    return member, first[:groups].copy()
