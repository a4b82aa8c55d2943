"""The compiled loop that groups equal runs of values; behind `partition.group_sets`."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs, Words
from kveil.kernels.grouping.hash_slots_loops import empty_slots, mix, seek
from kveil.kernels.jit import door, inner


@inner
def same_run(start: Longs, values: Ints, one: int, other: int) -> bool:
    """Tell whether two runs have equal values."""
    length = start[one + 1] - start[one]
    same = start[other + 1] - start[other] == length
    i = 0
    while same and i < length:
        same = values[start[one] + i] == values[start[other] + i]
        i += 1
    return bool(same)


@door
def group_runs(start: Longs, values: Ints, slots: Ints, hashes: Words, member: Ints, first: Ints) -> int:
    """Group equal runs of values; return how many groups. Equal hashes are compared value by value."""
    runs = len(start) - 1
    mask = empty_slots(slots, runs)
    groups = 0
    for run in range(runs):
        h = np.uint64(start[run + 1] - start[run])
        for i in range(start[run], start[run + 1]):
            h = mix(h, values[i])
        slot = h
        for _ in range(len(slots)):
            slot = seek(slots, hashes, h, slot, mask)
            if slots[slot] < 0:
                slots[slot] = groups
                hashes[groups] = h
                first[groups] = run
                groups += 1
                break
            if same_run(start, values, first[slots[slot]], run):
                break
            slot += np.uint64(1)
        member[run] = slots[slot]
    return groups
