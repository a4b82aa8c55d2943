"""Top-down partitioning of tuples. Numba is imported when the first table is split, not before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kveil.arrays import Bools, Floats, Ints, Longs


class Rows(NamedTuple):
    """The tuples to be split: tuple × attribute spans of leaves, and how many rows have each tuple.

    ``tuple`` is the number a tuple has outside, where its sensitive values are found.
    """

    low: Ints
    high: Ints
    weight: Longs
    tuple: Ints


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


class Parts(NamedTuple):
    """Tuples in the order of their parts, where the parts start (the end last), attribute × part spans of leaves."""

    order: Ints
    ends: Longs
    low: Ints
    high: Ints


def split(
    low: Ints,
    high: Ints,
    weight: Longs,
    trees: Trees,
    needs: Needs,
    values: Values,
    order: Ints,
    starts: Longs,
    by_gain: bool,
) -> Parts:
    """Return the parts of tuples, given by attribute × tuple spans of leaves and how many rows have each.

    ``order`` and ``starts`` give the parts to begin with, each of which satisfies all needs. O(tuples ·
    attributes) a level of the recursion.
    """
    from kveil.kernels.splitting.mondrian_loops import spans_of, split_parts

    far = _by_tuple(low, high, weight)
    near = Rows(np.empty_like(far.low), far.high, np.empty_like(weight), np.empty_like(far.tuple))
    near = near._replace(high=near.low if low is high else np.empty_like(far.high))
    order, ends = split_parts(far, near, low is not high, trees, needs, values, order, starts, by_gain)
    spans = np.empty((2, len(low), len(ends) - 1), dtype=np.int32)
    spans_of(far, order, ends, spans[0], spans[1])
    return Parts(order, ends, spans[0], spans[1])


def _by_tuple(low: Ints, high: Ints, weight: Longs) -> Rows:
    """Lay the cells of a tuple side by side: a part is scattered over the table, so every tuple is a cache miss."""
    cells = np.ascontiguousarray(low.T)
    return Rows(
        cells,
        cells if low is high else np.ascontiguousarray(high.T),
        weight,
        np.arange(len(weight), dtype=np.int32),
    )


def split_nothing() -> None:
    """Split an empty table, which compiles the loops for the types they are called with."""
    none, far, real = np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64), np.zeros(0)
    flat = np.zeros((1, 1))
    split(
        np.zeros((1, 0), dtype=np.int32),
        np.zeros((1, 0), dtype=np.int32),
        far[:0],
        Trees(np.zeros(1, dtype=np.bool_), far, far, none, none, none, none, far, none, real, real, real, real, none),
        Needs(none, none, far[:0], far[:0], far[:0], real),
        Values(
            np.zeros((1, 1), dtype=np.int64), none, far[:0], none, flat, np.zeros((1, 1, 1), dtype=np.int32), flat, flat
        ),
        none,
        far,
        False,
    )
