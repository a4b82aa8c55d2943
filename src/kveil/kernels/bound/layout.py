"""What the bound's loops walk over: tuples with all that may cover them, and the nodes that are kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kveil.arrays import Ints, Longs, Words

_FIRST_WORD = 0x9E3779B97F4A7C15  # the fraction of the golden ratio: any odd number with mixed bits does


class CoverLattice(NamedTuple):
    """Distinct tuples and all that may cover them: node ``above[at[a] + d, t]`` of attribute a at depth d.

    -1 where a tuple has no node at that depth, or may not show it. ``cost`` is what the node costs a row, ``weight``
    how many rows have the tuple. Attribute a has the depths from ``at[a]`` to ``at[a + 1]``. A node counts
    only if no other one, at most ``ahead`` depths below it, covers all of its tuples, too.
    """

    at: Longs
    above: Ints
    cost: Longs
    weight: Longs
    ahead: int


class LatticeWalk(NamedTuple):
    """Where a walk over all vectors of levels stands, an attribute per row, and room for grouping what lies there.

    ``level`` is the row of ``above`` that each attribute is at. Row a of ``tuples``, of which the first ``number[a]``
    count, has the tuples that are left once a attributes have been gone down, ``cost`` and ``words`` what each of them
    costs so far and a hash of its nodes. ``slots``, ``first`` and ``of`` are a hash table over nodes, every group's
    first tuple, and every tuple's group; ``members`` and ``start`` are the tuples group by group.
    """

    level: Longs
    tuples: Ints
    number: Longs
    cost: Longs
    words: Words
    slots: Ints
    first: Ints
    of: Ints
    members: Ints
    start: Longs


def new_walk(lattice: CoverLattice) -> LatticeWalk:
    """Return a walk that has not begun: all tuples, at no cost."""
    depth, number = len(lattice.at), lattice.above.shape[1]
    tuples, count = np.zeros((depth, number), dtype=np.int32), np.zeros(depth, dtype=np.int64)
    tuples[0], count[0] = np.arange(number), number
    return LatticeWalk(
        np.zeros(depth - 1, dtype=np.int64),
        tuples,
        count,
        np.zeros((depth, number), dtype=np.int64),
        np.full((depth, number), _FIRST_WORD, dtype=np.uint64),
        np.zeros(max(16, 4 << max(number - 1, 0).bit_length()), dtype=np.int32),
        np.zeros(number, dtype=np.int32),
        np.zeros(number, dtype=np.int32),
        np.zeros(number, dtype=np.int32),
        np.zeros(number + 1, dtype=np.int64),
    )


class KeptNodes(NamedTuple):
    """Nodes that are kept, with the tuples they cover: node i has ``member[start[i] : start[i + 1]]``."""

    number: int
    start: Longs
    member: Ints
    cost: Longs
