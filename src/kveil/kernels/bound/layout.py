"""What the bound's loops walk over: tuples with all that may cover them, and the nodes that are kept."""

from __future__ import annotations

from typing import NamedTuple

from kveil.arrays import Ints, Longs


class CoverLattice(NamedTuple):
    """Distinct tuples and all that may cover them: node ``above[at[a] + d, t]`` of attribute a at depth d.

    -1 where a tuple has no node at that depth, or may not show it. ``cost`` is what the node costs a row, ``weight``
    how many rows have the tuple. Attribute a has the depths from ``at[a]`` to ``at[a + 1]``. A node over whose tuples
    another one lies at most ``ahead`` depths below is left out.
    """

    at: Longs
    above: Ints
    cost: Longs
    weight: Longs
    ahead: int


class KeptNodes(NamedTuple):
    """Nodes that are kept, with the tuples they cover: node i has ``member[start[i] : start[i + 1]]``."""

    number: int
    start: Longs
    member: Ints
    cost: Longs
