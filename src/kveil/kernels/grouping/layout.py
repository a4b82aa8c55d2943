"""What the loops that group rows work in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kveil.arrays import Ints, Longs, Words
from kveil.kernels.grouping.hash_slots import slots_for


class GroupingRoom(NamedTuple):
    """Room to group rows in.

    The hash space has ``2**parts`` parts. Where these start, and where the next row of each goes; rows and their hashes
    in the order of the parts; every group's first row; a hash table, of which a part uses as much as it needs.
    """

    parts: int
    starts: Longs
    place: Longs
    order: Ints
    near: Words
    first: Ints
    slots: Ints
    words: Words


def new_grouping_room(rows: int, parts: int) -> GroupingRoom:
    """Return room for so many rows, in ``2**parts`` parts. What is not used of it takes no memory."""
    table = slots_for(rows)
    return GroupingRoom(
        parts,
        np.zeros((1 << parts) + 1, dtype=np.int64),
        np.empty(1 << parts, dtype=np.int64),
        np.empty(rows, dtype=np.int32),
        np.empty(rows if parts else 0, dtype=np.uint64),
        np.empty(rows, dtype=np.int32),
        np.empty(table, dtype=np.int32),
        np.empty(table, dtype=np.uint64),
    )
