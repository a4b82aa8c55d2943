"""Attributes as Mondrian's loops read them: a line of numbers to cut, or a tree whose nodes are opened."""

from __future__ import annotations

import numpy as np

from kveil.algorithms.costs import Reading, node_losses, weights_of
from kveil.algorithms.forest import children_of, end_to_end, starts_of
from kveil.arrays import Floats
from kveil.kernels.splitting.layout import Trees
from kveil.policy.attributes import Dates
from kveil.policy.numbers import parse_number
from kveil.table.scale import Scale
from kveil.table.table import Table
from kveil.table.tree import Tree


def _numbers(table: Table, position: int) -> Floats | None:
    """Return every leaf's number where an attribute is cut like a line, None where it is split like a tree."""
    tree = table.trees[position]
    spec = table.policy.attributes[table.names[position]].hierarchy
    if isinstance(tree, Scale):
        numbers = np.array([float(number) for number in tree.numbers])
    elif spec is not None and spec.form in {"intervals", "dates"}:
        texts = [tree.labels[node] for node in tree.leaf_nodes.tolist()]
        if tree.missing is not None:
            texts.pop(tree.missing)
        if isinstance(spec, Dates):
            days = np.array([text[:10] for text in texts], dtype="datetime64[D]")
            numbers = days.astype(np.int64).astype(np.float64)
        else:  # what lies beyond an open end is one with the end
            numbers = np.array([float(parse_number(text) or 0) for text in texts])
            numbers = numbers.clip(float(spec.from_), float(spec.to))
    else:
        return None
    return np.append(numbers, np.nan) if tree.missing is not None else numbers


def _extent(table: Table, position: int, numbers: Floats) -> float:
    """Return the width of the whole domain of numbers."""
    tree = table.trees[position]
    spec = table.policy.attributes[table.names[position]].hierarchy
    if isinstance(tree, Scale):
        extent = float(tree.width)
    elif spec is not None and spec.form == "intervals":
        extent = float(spec.to - spec.from_)
    else:
        extent = float(np.nanmax(numbers) - np.nanmin(numbers)) if np.isfinite(numbers).any() else 0.0
    return extent or 1.0


def lay_trees(table: Table, positions: list[int]) -> Trees:
    """Lay the trees of some attributes end to end; losses of nodes are those of the policy's measure."""
    hierarchies = [table.trees[position] for position in positions]
    trees = [tree for tree in hierarchies if isinstance(tree, Tree)]
    with_tree = [position for position in positions if isinstance(table.trees[position], Tree)]
    numbers = [_numbers(table, position) for position in positions]
    children = [children_of(tree) for tree in trees]
    nodes = [len(tree.labels) if isinstance(tree, Tree) else 0 for tree in hierarchies]
    leaf_nodes = [
        tree.leaf_nodes if isinstance(tree, Tree) else np.zeros(tree.leaves, dtype=np.int32) for tree in hierarchies
    ]
    filled = [np.zeros(tree.leaves) if own is None else own for tree, own in zip(hierarchies, numbers, strict=True)]
    missing = [
        -1 if tree.missing is None or own is None else tree.missing
        for tree, own in zip(hierarchies, numbers, strict=True)
    ]
    extents = [
        1.0 if own is None else _extent(table, position, own) for position, own in zip(positions, numbers, strict=True)
    ]
    weights = weights_of(table)
    return Trees(
        numeric=np.array([own is not None for own in numbers]),
        node_offset=starts_of(nodes),
        leaf_offset=starts_of([tree.leaves for tree in hierarchies]),
        parent=end_to_end([tree.parent for tree in trees], np.int32),
        first=end_to_end([tree.first for tree in trees], np.int32),
        last=end_to_end([tree.last for tree in trees], np.int32),
        leaf_node=end_to_end(leaf_nodes, np.int32),
        child_start=starts_of(end_to_end([own.fan for own in children], np.int64)),
        child=end_to_end([own.child for own in children], np.int32),
        cost=end_to_end([node_losses(table, position, Reading.DEEPEST) for position in with_tree], np.float64),
        number=end_to_end(filled, np.float64),
        extent=np.array(extents, dtype=np.float64),
        importance=np.array([float(weights[position]) for position in positions], dtype=np.float64),
        missing=np.array(missing, dtype=np.int32),
    )
