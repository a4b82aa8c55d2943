"""Top-down partitioning of tuples. Numba is imported when the first table is split, not before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Rows(NamedTuple):
    """The tuples to be split: attribute × tuple spans of leaves, and how many rows have each tuple."""

    low: Ints
    high: Ints
    weight: Longs


class Trees(NamedTuple):
    """The attributes' trees, laid end to end; an attribute's nodes and leaves start at its offsets.

    ``numeric`` attributes are cut between ``number``s, others split into the children of the LCA. Attributes
    without a tree (`ranges`) have no nodes. ``missing`` is the leaf of missing, -1 where there is none.
    """

    numeric: Bools
    node_offset: Longs
    leaf_offset: Longs
    parent: Ints
    first: Ints
    last: Ints
    leaf_node: Ints
    child_start: Longs
    child: Ints
    cost: Floats
    number: Floats
    extent: Floats
    importance: Floats
    missing: Ints


class Needs(NamedTuple):
    """What every part must satisfy; see the constants of `mondrian_loops` for the kinds."""

    kind: Ints
    sensitive: Ints
    k: Longs
    numerator: Longs
    denominator: Longs
    bound: Floats


class Values(NamedTuple):
    """The sensitive values of tuples, per attribute in CSR form laid end to end, and the whole's distribution.

    ``start`` is attribute × (tuple + 1) into ``code`` and ``times``; ``known`` the code of missing; ``whole``
    attribute × code the reference shares; ``ancestor`` attribute × code × depth the nodes above a value, -1 past
    the root; ``edge`` attribute × node the weight of the edge above; ``mass`` the reference share below a node.
    """

    start: Longs
    code: Ints
    times: Longs
    known: Ints
    whole: Floats
    ancestor: Ints
    edge: Floats
    mass: Floats


def split(
    rows: Rows, trees: Trees, needs: Needs, values: Values, order: Ints, starts: Longs, by_gain: bool
) -> tuple[Ints, Longs]:
    """Return tuples in the order of their parts, and where the parts start (with the end as last entry).

    ``order`` and ``starts`` give the parts to begin with, each of which satisfies all needs. O(tuples ·
    attributes) a level of the recursion.
    """
    from kveil.kernels.mondrian_loops import split_parts

    return split_parts(rows, trees, needs, values, order, starts, by_gain)


def split_nothing() -> None:
    """Split an empty table, which compiles the loops for the types they are called with."""
    none, far, real = np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64), np.zeros(0)
    flat = np.zeros((1, 1))
    split(
        Rows(np.zeros((1, 0), dtype=np.int32), np.zeros((1, 0), dtype=np.int32), far[:0]),
        Trees(np.zeros(1, dtype=np.bool_), far, far, none, none, none, none, far, none, real, real, real, real, none),
        Needs(none, none, far[:0], far[:0], far[:0], real),
        Values(
            np.zeros((1, 1), dtype=np.int64), none, far[:0], none, flat, np.zeros((1, 1, 1), dtype=np.int32), flat, flat
        ),
        none,
        far,
        False,
    )
