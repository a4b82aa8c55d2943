"""Tuples to be split and their trees, laid out as the loops of Mondrian read them."""

from __future__ import annotations

import numpy as np

from kveil.kernels.splitting.layout import SplitRoom, SplitTuples, Trees, new_order_room, new_split_room
from naive.split_parts import EXTENT, SplitCase


def trees_of(case: SplitCase) -> Trees:
    nodes = [0 if own.tree is None else own.tree.nodes for own in case.attributes]
    parent, first, last, leaf_node, child_start, child, cost = [], [], [], [], [0], [], []
    number: list[float] = []
    for own in case.attributes:
        number += own.numbers or [0.0] * own.leaves
        if own.tree is None:
            leaf_node += [0] * own.leaves
            continue
        parent += own.tree.parent
        first += own.tree.first
        last += own.tree.last
        leaf_node += own.tree.leaf_nodes
        cost += [own.node_cost(node) for node in range(own.tree.nodes)]
        for node in range(own.tree.nodes):
            child += own.tree.children(node)
            child_start.append(len(child))
    width = len(case.attributes)
    return Trees(
        np.array([own.numbers is not None for own in case.attributes], dtype=np.bool_),
        np.cumsum([0, *nodes]).astype(np.int64),
        np.cumsum([0, *(own.leaves for own in case.attributes)]).astype(np.int64),
        *(np.array(own, dtype=np.int32) for own in (parent, first, last, leaf_node)),
        np.array(child_start, dtype=np.int64),
        np.array(child, dtype=np.int32),
        np.array(cost, dtype=np.float64),
        np.array(number),
        np.full(width, EXTENT),
        np.array([own.importance for own in case.attributes]),
        np.array([own.missing for own in case.attributes], dtype=np.int32),
    )


def tuples_of(case: SplitCase) -> SplitTuples:
    rows = len(case.weight)
    low, high = (np.array(own, dtype=np.int32).reshape(rows, len(case.attributes)) for own in (case.low, case.high))
    return SplitTuples(low, high, np.array(case.weight, dtype=np.int64), np.arange(rows, dtype=np.int32))


def split_room(case: SplitCase, trees: Trees, starts: list[int]) -> SplitRoom:
    """Return room for the parts of a case that start there; nobody stops the work."""
    going = np.zeros(1, dtype=np.bool_)
    tuples = new_order_room(len(case.weight))
    return new_split_room(len(case.attributes), np.array(starts, dtype=np.int64), trees, tuples, going)
