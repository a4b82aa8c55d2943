"""The compiled loop that groups equal runs of values; behind `partition.group_sets`."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs, Words
from kveil.kernels.jit import door


@door
def group_runs(start: Longs, values: Ints, slots: Ints, hashes: Words, member: Ints, first: Ints) -> int:
    """Group equal runs of values; return how many groups. Equal hashes are compared value by value."""
    runs = len(start) - 1
    mask = np.uint64(len(slots) - 1)
    groups = 0
    for run in range(runs):
        length = start[run + 1] - start[run]
        h = np.uint64(length)
        for i in range(start[run], start[run + 1]):
            h = (h ^ (np.uint64(values[i]) + np.uint64(1))) * np.uint64(0xFF51AFD7ED558CCD)
            h ^= h >> np.uint64(32)
        hashes[run] = h
        slot = h & mask
        for _ in range(len(slots)):  # half of the slots are empty, so that one is found
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
    return groups
