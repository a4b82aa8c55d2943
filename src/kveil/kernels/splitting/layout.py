"""Tuples, trees and parts as the loops that split them read them."""

from __future__ import annotations

from typing import NamedTuple

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
