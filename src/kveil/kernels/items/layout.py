"""Sets of items and the trees above them, as the loops read them."""

from __future__ import annotations

from typing import NamedTuple

from kveil.arrays import Ints, Longs


class Forest(NamedTuple):
    """Trees laid end to end, nodes in depth-first order, and the way from the root to every leaf.

    ``first`` and ``last`` are the leaves under a node; ``cost`` is what showing it costs an item. The nodes from the
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
