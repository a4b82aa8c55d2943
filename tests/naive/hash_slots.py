"""Hash tables with open addressing, the slow way."""

from __future__ import annotations

WORD = 2**64


def mix(h: int, value: int) -> int:
    """Return a hash with one more value in it, in words of 64 bits."""
    mixed = (h ^ ((value + 1) % WORD)) * 0xFF51AFD7ED558CCD % WORD
    return mixed ^ (mixed >> 32)


def seek(slots: list[int], hashes: list[int], h: int, slot: int) -> int:
    """Return the first slot, from one on and around, that is empty or whose entry has a hash."""
    around = [(slot + step) % len(slots) for step in range(len(slots))]
    return next(at for at in around if slots[at] < 0 or hashes[slots[at]] == h)
