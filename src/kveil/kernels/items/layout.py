"""Sets of items and the trees above them, as the loops read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kveil.arrays import Bools, Ints, Longs, Words
from kveil.kernels.grouping.hash_slots import slots_for


class Forest(NamedTuple):
    """Trees laid end to end, nodes in depth-first order, and the way from the root to every leaf.

    ``first`` and ``last`` are the leaves under a node; ``cost`` is what showing it costs per item. The nodes from the
    root down to a leaf stand in ``way`` from ``way_start[leaf]`` on. ``children`` is how many a node has, ``sibling``
    which of its parent's children it is.
    """

    first: Ints
    last: Ints
    cost: Longs
    way_start: Longs
    way: Ints
    children: Ints
    sibling: Ints


class LaidSets(NamedTuple):
    """Every record's items as leaves in growing order, laid end to end."""

    start: Longs
    leaf: Ints


class ClusterItems(NamedTuple):
    """The different items of every cluster as leaves in growing order, with how many members have each.

    ``start`` is where a cluster's items start, with the end as last entry; ``level`` is how many steps below its root
    each is shown.
    """

    start: Longs
    leaf: Ints
    members: Longs
    level: Ints


class RecordRun(NamedTuple):
    """A run of records that show the same set; ``place`` is where on its leaf's way down each item is shown."""

    order: Ints
    begin: int
    end: int
    place: Longs


class Room(NamedTuple):
    """Arrays to work in: for every record of a part its hash, group and gain; for every group its size and gain.

    ``kept`` has the groups of the node that gains most when opened, of those weighed so far; ``gains`` and ``who`` are
    records to be sorted by gain.
    """

    hashes: Words
    slots: Ints
    group: Ints
    kept: Ints
    gain: Longs
    first: Ints
    size: Longs
    won: Longs
    one: Ints
    other: Ints
    tally: Longs
    found: Ints
    gains: Longs
    who: Longs


class Board(NamedTuple):
    """The inner nodes a part shows: what opening each would gain, and taking out which child (-1: none)."""

    nodes: Ints
    opened: Longs
    taken: Longs
    child: Ints


class DividingRoom(NamedTuple):
    """Room to divide parts in: numbers of groups, where they begin, their records; parts to do, and parts to leave."""

    number: Ints
    bounds: Longs
    into: Ints
    stack: Longs
    later: Longs
    halt: Bools


def make_room(records: int, longest: int, nodes: int) -> Room:
    """Return arrays to work in for parts of so many records with so many items, over so many nodes."""
    return Room(
        np.empty(records, dtype=np.uint64),
        np.empty(slots_for(records), dtype=np.int32),
        np.empty(records, dtype=np.int32),
        np.empty(records, dtype=np.int32),
        np.empty(records, dtype=np.int64),
        np.empty(records + 2, dtype=np.int32),
        np.empty(max(records, longest) + 2, dtype=np.int64),
        np.empty(records + 2, dtype=np.int64),
        np.empty(longest, dtype=np.int32),
        np.empty(longest, dtype=np.int32),
        np.zeros((nodes, 4), dtype=np.int64),
        np.empty(nodes, dtype=np.int32),
        np.empty(records, dtype=np.int64),
        np.empty(records, dtype=np.int64),
    )


def new_board(nodes: int) -> Board:
    """Return a board for so many nodes."""
    return Board(
        np.empty(nodes, dtype=np.int32),
        np.empty(nodes, dtype=np.int64),
        np.empty(nodes, dtype=np.int64),
        np.empty(nodes, dtype=np.int32),
    )


def new_dividing_room(records: int, parts: int, halt: Bools) -> DividingRoom:
    """Return room for parts of so many records, and so many parts at a time."""
    return DividingRoom(
        np.empty(records + 2, dtype=np.int32),
        np.empty(records + 3, dtype=np.int64),
        np.empty(records, dtype=np.int32),
        np.empty((parts, 2), dtype=np.int64),
        np.empty((parts, 2), dtype=np.int64),
        halt,
    )
