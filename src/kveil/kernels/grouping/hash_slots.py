"""How large hash tables are; the loops that use them share `hash_slots_loops`."""

from __future__ import annotations


def slots_for(entries: int) -> int:
    """Return how many slots a table for so many entries has: a power of two, and at least half of them stay empty."""
    return max(16, 1 << max(2 * entries - 1, 0).bit_length())
