"""Partition: He, Naughton 2009.

As Gong et al. 2017 use it, on fingerprints: all items start at their root. In a part, the node that gains most is
opened, and people go to the sub-part named by the set of its children they have. Sub-parts below k merge into one
that is left over, in which the node stays closed; if that is below k it takes people from the others, or one of them
dissolves. Where no node can be opened, the one child that gains most is taken out of its node. Departures from the
papers are in docs/decisions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from kveil.algorithms.costs import in_common_units
from kveil.algorithms.forest import children_of, end_to_end, starts_of
from kveil.arrays import Ints
from kveil.kernels.items.layout import Forest, LaidSets
from kveil.kernels.items.partition import generalize_sets
from kveil.models.fingerprints import run_starts
from kveil.policy.model import Policy
from kveil.policy.privacy import KLDiversity, sensitive_of
from kveil.table.table import Table
from kveil.table.tree import Tree

LARGEST = 2**62  # that a sum of costs may reach


@dataclass(frozen=True)
class Bucketing:
    """Sensitive attributes whose items are generalized together, so that k people share what they show."""

    names: tuple[str, ...]
    k: int


def bucketings(policy: Policy) -> list[Bucketing]:
    """Return which attributes are generalized together: those of models that share one, with the largest k.

    Whoever shares a fingerprint over all of them shares it over some.
    """
    found: list[Bucketing] = []
    for model in policy.privacy:
        if not isinstance(model, KLDiversity):
            continue
        names, k = set(sensitive_of(model)), model.k
        apart = []
        for other in found:
            if names.intersection(other.names):
                names, k = names.union(other.names), max(k, other.k)
            else:
                apart.append(other)
        found = [*apart, Bucketing(tuple(name for name in policy.generalized if name in names), k)]
    return sorted(found, key=lambda bucketing: policy.generalized.index(bucketing.names[0]))


def generalize_items(table: Table, order: Ints, *, patient: bool) -> dict[str, Ints]:
    """Return the shown node of every pair of a generalized attribute, so that k people share every fingerprint.

    ``order`` are the people who take part, in the order that ties are broken; the items of others show their root.
    ``patient``: no child is taken out of its node while any node can be opened.
    """
    found: dict[str, Ints] = {}
    for bucketing in bucketings(table.policy):
        found |= _partition(table, bucketing, order, patient=patient)
    return found


def _partition(table: Table, bucketing: Bucketing, order: Ints, *, patient: bool) -> dict[str, Ints]:
    trees = [tree for name in bucketing.names if (tree := table.sensitive[name].tree) is not None]
    rows, leaves = joined_sets(table, bucketing.names)
    by_row = np.argsort(rows.astype(np.int64) * (int(leaves.max(initial=0)) + 1) + leaves, kind="stable")
    sets = LaidSets(run_starts(rows, table.rows), leaves[by_row])
    forest = lay_items(trees, len(rows))
    nodes = np.empty(len(rows), dtype=np.int32)
    nodes[by_row] = generalize_sets(forest, sets, order, bucketing.k, patient)
    found = {}
    begin = base = 0
    for name, tree in zip(bucketing.names, trees, strict=True):
        end = begin + len(table.sensitive[name].row)
        found[name] = nodes[begin:end] - base
        begin, base = end, base + len(tree.labels)
    return found


def finest(table: Table, name: str) -> Ints:
    """Return the leaf's node for every pair of an attribute: items as they are."""
    sensitive = table.sensitive[name]
    assert sensitive.tree is not None
    found: Ints = sensitive.tree.leaf_nodes[sensitive.leaves[sensitive.code]]
    return found


def joined_sets(table: Table, names: tuple[str, ...]) -> tuple[Ints, Ints]:
    """Return the pairs of a row and a leaf of some attributes one after another, leaves numbered over all of them."""
    rows, leaves, offset = [], [], 0
    for name in names:
        sensitive = table.sensitive[name]
        assert sensitive.tree is not None
        rows.append(sensitive.row)
        leaves.append(sensitive.leaves[sensitive.code] + offset)
        offset += sensitive.tree.leaves
    return np.concatenate(rows), np.concatenate(leaves).astype(np.int32)


def lay_items(trees: list[Tree], items: int) -> Forest:
    """Lay the trees of items end to end; ``items`` is how many costs will be added up at most."""
    node_base = starts_of([len(tree.labels) for tree in trees]).tolist()
    leaf_base = starts_of([tree.leaves for tree in trees]).tolist()
    ways = [_ways(tree) for tree in trees]
    children = [children_of(tree) for tree in trees]
    ncp = np.concatenate([tree.ncp for tree in trees])
    room = LARGEST // max(items, 1)
    (cost,), _, _ = in_common_units([ncp], [Fraction(1)], most=room, otherwise=room // 2)
    return Forest(
        first=end_to_end([tree.first + base for tree, base in zip(trees, leaf_base, strict=False)], np.int32),
        last=end_to_end([tree.last + base for tree, base in zip(trees, leaf_base, strict=False)], np.int32),
        cost=cost,
        way_start=starts_of(np.concatenate([length for _, length in ways])),
        way=end_to_end([way + base for (way, _), base in zip(ways, node_base, strict=False)], np.int32),
        children=end_to_end([own.fan for own in children], np.int32),
        sibling=end_to_end([own.rank for own in children], np.int32),
    )


def _ways(tree: Tree) -> tuple[Ints, Ints]:
    """Return the nodes from the root to every leaf, laid end to end, and how many each way has."""
    length = tree.depth[tree.leaf_nodes] + 1
    end = np.cumsum(length)
    way = np.empty(int(end[-1]) if len(end) else 0, dtype=np.int32)
    node, place = tree.leaf_nodes.copy(), end - 1
    while len(node):
        way[place] = node
        up = node > 0
        node, place = tree.parent[node[up]], place[up] - 1
    return way, length
