"""The compiled steps of hash tables with open addressing, for other loops; importing this module imports Numba.

A table is an array of slots: -1, or the number of an entry, whose hash stands in another array. Whoever asks compares
entries of equal hashes itself, and seeks on behind the slot where they differ. Hashes, slots and masks are words, since
Numba asks of every signed index whether it counts from the end.
"""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Words
from kveil.kernels.jit import inner


@inner
def mix(h: int, value: int) -> int:
    """Return a hash with one more value in it."""
    mixed = (h ^ (np.uint64(value) + np.uint64(1))) * np.uint64(0xFF51AFD7ED558CCD)
    return mixed ^ (mixed >> np.uint64(32))  # type: ignore[no-any-return]


@inner
def seek(slots: Ints, hashes: Words, h: int, slot: int, mask: int) -> int:
    """Return the first slot, from one on and around, that is empty or whose entry has a hash.

    ``mask`` is one less than the number of slots in use, a power of two; some of them are empty.
    """
    slot &= mask
    for _ in range(len(slots)):
        g = slots[slot]
        if g < 0 or hashes[np.uint64(g)] == h:
            break
        slot = (slot + np.uint64(1)) & mask
    return slot


@inner
def empty_slots(slots: Ints, entries: int) -> int:
    """Empty as many slots as a table for so many entries has (see `slots_for`), and return their mask."""
    used = 16
    while used < 2 * entries:
        used *= 2
    for i in range(used):
        slots[i] = -1
    return np.uint64(used - 1)  # type: ignore[return-value]
