"""Where things stand in the arrays of the clusterings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kveil.arrays import Bools, Ints, Longs

SMALL = 256  # leaves that a tree has at most for which it is kept what covering a box and each of them costs
BUCKET = 8  # tuples a node of the search tree holds before it is split
DEAD = 2**31 - 1  # in the place of a tuple's number: none is left


class CostNodes(NamedTuple):
    """The nodes of all attributes' trees, numbered over all attributes: what is above and below, and what one costs."""

    parent: Longs
    first: Longs  # leaf below it
    last: Longs
    cost: Longs


class CostLeaves(NamedTuple):
    """The leaves of all attributes: of a tree their nodes, of numbers where a span that begins or ends there lies."""

    node: Longs
    bottom: Longs
    top: Longs


class CostAttributes(NamedTuple):
    """Attributes: whether there is a tree, where its leaves start, what a span costs at most."""

    is_tree: Longs
    base: Longs
    full: Longs
    missing: Longs  # the leaf of missing, or -1


class Costs(NamedTuple):
    """What cells cost, in whole numbers: the attributes' trees and scales, laid end to end.

    A span of numbers costs its top − bottom; one that ends at missing the most.
    """

    nodes: CostNodes
    leaves: CostLeaves
    attributes: CostAttributes


class DistinctTuples(NamedTuple):
    """Distinct tuples, group by group, in canonical order inside each: tuple × attribute spans of leaves.

    ``start`` is where a tuple's rows start among all rows in that order, with the end as last entry.
    """

    low: Ints
    high: Ints
    start: Longs


class TreeLinks(NamedTuple):
    """How the nodes of a search tree hang together, and which tuples are below each."""

    first_live: Ints  # tuple below it, DEAD where none is
    left: Ints  # child, -1 for a bucket; the right one is the next node
    up: Ints
    begin: Ints  # of its tuples in the tree's order
    end: Ints


class SearchTree(NamedTuple):
    """A tree over the tuples of one group at a time; node 0 is its root.

    ``low`` and ``high`` are what is below a node, ``bucket`` is every tuple's. In the tree's ``order`` lie the tuples'
    leaves once more, so that a search finds them side by side, and who is live. Where no tuple ``is_span``, the
    highest leaves are the same array as the lowest.
    """

    low: Ints
    high: Ints
    link: TreeLinks
    order: Ints
    bucket: Ints
    lowest: Ints
    highest: Ints
    live: Bools
    is_span: bool


class Heap(NamedTuple):
    """A binary heap by key, then by the lowest tuple that an entry stands for.

    An entry refers to a tuple, or as -1 - n to tree node n. Its version is that of the cluster that its key holds for.
    """

    key: Longs
    lowest: Ints
    ref: Ints
    version: Ints


class ClusterArrays(NamedTuple):
    """Every row's cluster, and every cluster's span of leaves (cluster × attribute), size and group."""

    label: Ints
    low: Ints
    high: Ints
    size: Longs
    group: Ints


class ClusterBox(NamedTuple):
    """What a cluster covers: per attribute a node, the first and the last leaf.

    ``reach`` is what it costs to cover the box and one leaf, for every leaf of an attribute with a small tree; where
    these start there is ``at``, -1 for other attributes.
    """

    node: Ints
    first: Ints
    last: Ints
    at: Longs
    reach: Longs


class ClusterRoom(NamedTuple):
    """Room to cluster in: how many rows of each tuple are left, the tree and the heap of its search, two boxes.

    ``origin`` is that of the seed, ``box`` that of the cluster. Work ends where the flag ``halt`` is raised.
    """

    left: Longs
    forest: SearchTree
    heap: Heap
    origin: ClusterBox
    box: ClusterBox
    halt: Bools


def no_costs() -> Costs:
    """Return the costs of no attribute, for loops that are compiled by clustering nothing."""
    far = np.zeros(0, dtype=np.int64)
    return Costs(CostNodes(far, far, far, far), CostLeaves(far, far, far), CostAttributes(far, far, far, far))


def new_heap(entries: int) -> Heap:
    """Return room for so many entries."""
    return Heap(np.empty(entries, dtype=np.int64), *(np.empty(entries, dtype=np.int32) for _ in range(3)))


def new_clusters(distinct: DistinctTuples, number: int) -> ClusterArrays:
    """Return room for so many clusters; no row is in any."""
    width = distinct.low.shape[1]
    return ClusterArrays(
        np.full(distinct.start[-1], -1, dtype=np.int32),
        np.empty((number, width), dtype=np.int32),
        np.empty((number, width), dtype=np.int32),
        np.empty(number, dtype=np.int64),
        np.empty(number, dtype=np.int32),
    )


def new_box(costs: Costs, width: int) -> ClusterBox:
    """Return room for what a cluster covers in so many attributes."""
    leaves = np.diff(costs.attributes.base, append=len(costs.leaves.node))
    kept = (costs.attributes.is_tree > 0) & (leaves <= SMALL)
    at = np.full(width, -1, dtype=np.int64)
    at[: len(kept)] = np.where(kept, np.cumsum(np.where(kept, leaves, 0)) - leaves, -1)
    node, first, last = (np.zeros(width, dtype=np.int32) for _ in range(3))
    return ClusterBox(node, first, last, at, np.zeros(int(leaves[kept].sum()), dtype=np.int64))


def new_cluster_room(costs: Costs, distinct: DistinctTuples, groups: Longs, entries: int, halt: Bools) -> ClusterRoom:
    """Return room for the largest group, with a heap of so many entries for each of its tuples; all rows are left."""
    largest, width = int(np.diff(groups).max(initial=1)), distinct.low.shape[1]
    lowest, is_span = np.empty((largest, width), dtype=np.int32), distinct.low is not distinct.high
    forest = SearchTree(  # cuts need not be even: a bucket may hold one tuple
        np.empty((2 * largest, width), dtype=np.int32),
        np.empty((2 * largest, width), dtype=np.int32),
        TreeLinks(*(np.empty(2 * largest, dtype=np.int32) for _ in range(5))),
        np.empty(largest, dtype=np.int32),
        np.empty(len(distinct.low), dtype=np.int32),
        lowest,
        np.empty_like(lowest) if is_span else lowest,
        np.empty(largest, dtype=np.bool_),
        is_span,
    )
    heap = new_heap(entries * largest + 4)
    return ClusterRoom(np.diff(distinct.start), forest, heap, new_box(costs, width), new_box(costs, width), halt)


class DiverseRoom(NamedTuple):
    """Room to plan which values a cluster may take.

    Per need: clusters that come later, rows they can spare, the most frequent value. Then what the heap sets aside, and
    the tuples that the cluster in the making has taken.
    """

    later: Longs
    spare: Longs
    frequent: Longs
    aside: Heap
    taken: Ints
