"""The compiled loop that sorts, for other loops: Numba's own sorting takes a second to compile for every use."""

from __future__ import annotations

from kveil.arrays import Longs
from kveil.kernels.jit import inner

LARGEST_GAP = 701  # of those that Ciura (2001) gives; each larger one is 9/4 of the one before
GAPS = (LARGEST_GAP, 301, 132, 57, 23, 10, 4, 1)


@inner
def sort_pairs(keys: Longs, others: Longs, number: int) -> None:
    """Sort the first so many pairs of a key and another number, by the key and then by the other (Shell's sort)."""
    gap = LARGEST_GAP
    while gap * 9 // 4 < number:
        gap = gap * 9 // 4
    while gap > 0:
        for i in range(gap, number):
            key, other = keys[i], others[i]
            at = i
            while at >= gap and (keys[at - gap] > key or (keys[at - gap] == key and others[at - gap] > other)):
                keys[at], others[at] = keys[at - gap], others[at - gap]
                at -= gap
            keys[at], others[at] = key, other
        if gap > LARGEST_GAP:
            gap = gap * 4 // 9
            continue
        smaller = 0
        for step in GAPS:
            if step < gap:
                smaller = step
                break
        gap = smaller
