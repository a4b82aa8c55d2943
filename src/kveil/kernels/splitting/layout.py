"""Tuples, trees and parts as the loops that split them read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kveil.arrays import Bools, Floats, Ints, Longs

# Parts of at most so many tuples are copied, so that their cells lie side by side: where a large cache has room for all
# of them, then once more where a small one has.
MOST_NEAR, MOST_CLOSE = 1 << 15, 1 << 11
NO_LEAF = 2147483647  # the lowest leaf of nobody: above all there are, the largest number of 32 bits


class SplitTuples(NamedTuple):
    """The tuples to be split: tuple × attribute spans of leaves, and how many rows have each tuple.

    ``tuple`` is the number a tuple has outside, where its sensitive values are found.
    """

    low: Ints
    high: Ints
    weight: Longs
    tuple: Ints


def new_copies(largest: int, attributes: int, *, spans: bool) -> SplitTuples:
    """Return room for copies of so many tuples; where these are no spans, the highest leaves are the lowest ones."""
    low = np.empty((largest, attributes), dtype=np.int32)
    high = np.empty_like(low) if spans else low
    return SplitTuples(low, high, np.empty(largest, dtype=np.int64), np.empty(largest, dtype=np.int32))


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

    Per attribute: the part's first, last and last known leaf, its width, whether that was measured, and a width that it
    does not exceed. Per bin: where it starts, where the next tuple of it goes, its weight, whether it stands alone, and
    the ends of parts and how many rows these have, now and at best. Per tuple: its bin, the tuples sorted by bin, the
    best such order, and room to rearrange them. Per leaf: counts, or pairs to sort. Then the parts that wait, with
    their ends and rows, and widths that these do not exceed, where the final ones begin and the spans of these, part ×
    attribute, whether counting tuples is counting rows, and the flag that ends the work.
    """

    low: Ints
    high: Ints
    top: Ints
    width: Floats
    measured: Bools
    most_width: Floats
    place: Longs
    fill: Longs
    weight: Longs
    good: Bools
    ends: Longs
    best_ends: Longs
    part_weights: Longs
    best_weights: Longs
    bin_of: Ints
    sorted_rows: Ints
    best_rows: Ints
    moved: Ints
    counts: Longs
    leaves: Longs
    stack: Longs
    most_waiting: Floats
    final: Longs
    final_low: Ints
    final_high: Ints
    alike: Bools
    halt: Bools


class OrderRoom(NamedTuple):
    """Room for tuples in the order of their parts, which several loops share: each works in its own parts."""

    bin_of: Ints
    sorted_rows: Ints
    best_rows: Ints


def new_order_room(tuples: int) -> OrderRoom:
    """Return room for so many tuples."""
    return OrderRoom(*np.empty((3, tuples), dtype=np.int32))


def new_split_room(attributes: int, starts: Longs, trees: Trees, shared: OrderRoom, halt: Bools) -> SplitRoom:
    """Return room to split the parts that start there, the end of the last one being the last entry."""
    bins = max(int(np.diff(trees.child_start).max(initial=0)) + 1, 4) + 2
    span = int(np.diff(trees.leaf_offset).max(initial=1))
    tuples = int(starts[-1] - starts[0])
    largest = int(np.diff(starts).max(initial=0))
    low, high, top = np.empty((3, attributes), dtype=np.int32)
    final_low, final_high = np.empty((2, tuples, attributes), dtype=np.int32)
    place, fill, weight, ends, best_ends, part_weights, best_weights = np.empty((7, bins), dtype=np.int64)
    return SplitRoom(
        low,
        high,
        top,
        np.empty(attributes),
        np.empty(attributes, dtype=np.bool_),
        np.empty(attributes),
        place,
        fill,
        weight,
        np.empty(bins, dtype=np.bool_),
        ends,
        best_ends,
        part_weights,
        best_weights,
        shared.bin_of,
        shared.sorted_rows,
        shared.best_rows,
        np.empty(largest, dtype=np.int32),
        np.empty(min(4 * largest + 64, span), dtype=np.int64),
        np.empty((2, min(largest, span // 4 + 1)), dtype=np.int64),
        np.empty((tuples + len(starts), 3), dtype=np.int64),
        np.empty((tuples + len(starts), attributes)),
        np.empty(tuples + 1, dtype=np.int64),
        final_low,
        final_high,
        np.zeros(1, dtype=np.bool_),
        halt,
    )
