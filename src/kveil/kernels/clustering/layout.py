"""Where things stand in the arrays of the clusterings."""

from __future__ import annotations

from typing import NamedTuple

from kveil.arrays import Ints, Longs

BUCKET = 8  # tuples a node of the search tree holds before it is split
DEAD = 2**31 - 1  # in the place of a tuple's number: none is left
PARENT, FIRST, LAST, COST = range(4)  # of Costs.nodes
NODE, BOTTOM, TOP = range(3)  # of Costs.leaves
IS_TREE, BASE, FULL, MISSING = range(4)  # of Costs.attributes
LOWEST, LEFT, UP, BEGIN, END = range(5)  # of SearchTree.link
INDEX, REF, VERSION = range(3)  # of Heap.entry


class Costs(NamedTuple):
    """What cells cost, in whole numbers: the attributes' trees and scales, laid end to end.

    ``nodes``: parent, first leaf, last leaf, cost; nodes are numbered over all attributes. ``leaves``: node, and for
    an attribute without a tree where a span that begins or ends there begins or ends. ``attributes``: whether there
    is a tree, where its leaves start, what a span costs at most, the leaf of missing or -1. A span of numbers costs
    end − begin; one that ends at missing the most.
    """

    nodes: Longs
    leaves: Longs
    attributes: Longs


class DistinctTuples(NamedTuple):
    """Distinct tuples, group by group, in canonical order inside each: tuple × attribute spans of leaves.

    ``start`` is where a tuple's rows start among all rows in that order, with the end as last entry.
    """

    low: Ints
    high: Ints
    start: Longs
