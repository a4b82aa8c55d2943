"""Tuples, trees and parts as the loops that split them read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kveil.arrays import Bools, Floats, Ints, Longs


class SplitTuples(NamedTuple):
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


class SplitParts(NamedTuple):
    """Tuples in the order of their parts, where the parts start (the end last), attribute × part spans of leaves."""

    order: Ints
    ends: Longs
    low: Ints
    high: Ints


class SplitRoom(NamedTuple):
    """Room to split in.

    Per attribute: the part's first, last and last known leaf, and its width. Per bin: where it starts, where the next
    tuple of it goes, its weight, whether it stands alone, and the ends of parts, now and at best. Per tuple: its bin,
    the tuples sorted by bin, the best such order, and room to rearrange them. Per leaf: counts, or pairs to sort. Then
    the parts that wait and where the final ones begin.
    """

    low: Ints
    high: Ints
    top: Ints
    width: Floats
    place: Longs
    fill: Longs
    weight: Longs
    good: Bools
    ends: Longs
    best_ends: Longs
    bin_of: Ints
    sorted_rows: Ints
    best_rows: Ints
    moved: Ints
    counts: Longs
    leaves: Longs
    stack: Longs
    final: Longs


def new_split_room(attributes: int, tuples: int, parts: int, trees: Trees) -> SplitRoom:
    """Return room to split so many tuples, which are in so many parts to begin with."""
    bins = max(int(np.diff(trees.child_start).max(initial=0)) + 1, 4) + 2
    span = int(np.diff(trees.leaf_offset).max(initial=1))
    each, fan, every = (3, attributes), (5, bins), (4, tuples)
    low, high, top = np.empty(each, dtype=np.int32)
    place, fill, weight, ends, best_ends = np.empty(fan, dtype=np.int64)
    bin_of, sorted_rows, best_rows, moved = np.empty(every, dtype=np.int32)
    return SplitRoom(
        low,
        high,
        top,
        np.empty(attributes),
        place,
        fill,
        weight,
        np.empty(bins, dtype=np.bool_),
        ends,
        best_ends,
        bin_of,
        sorted_rows,
        best_rows,
        moved,
        np.empty(min(4 * tuples + 64, span), dtype=np.int64),
        np.empty((2, min(tuples, span // 4 + 1)), dtype=np.int64),
        np.empty((tuples + parts + 1, 2), dtype=np.int64),
        np.empty(tuples + 1, dtype=np.int64),
    )
