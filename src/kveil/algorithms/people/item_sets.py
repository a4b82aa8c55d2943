"""Partition: He and Naughton, "Anonymization of set-valued data via top-down, local generalization" (2009).

As seed 002 uses it, on fingerprints: all items start at their root. In a part, the node that gains most is opened, and
people go to the sub-part named by the set of its children they have. Sub-parts below k merge into one that is left
over, in which the node stays closed; if that is below k it takes people from the others, or one of them dissolves.
Where no node can be opened, the one child that gains most is taken out of its node. Departures from the papers are in
docs/decisions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from kveil.arrays import Bools, Floats, Ints, Longs
from kveil.kernels.items.partition import Forest, Sets, refine
from kveil.models.fingerprints import run_starts
from kveil.policy.model import Policy
from kveil.policy.privacy import sensitive_of
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
        if model.model != "kl-diversity":
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


def generalize_items(table: Table, order: Ints, patient: bool) -> dict[str, Ints]:
    """Return the shown node of every pair of a generalized attribute, so that k people share every fingerprint.

    ``order`` are the people who take part, in the order that ties are broken; the items of others show their root.
    ``patient``: no child is taken out of its node while any node can be opened.
    """
    found: dict[str, Ints] = {}
    for bucketing in bucketings(table.policy):
        found |= _partition(table, bucketing, order, patient)
    return found


def _partition(table: Table, bucketing: Bucketing, order: Ints, patient: bool) -> dict[str, Ints]:
    trees = [tree for name in bucketing.names if (tree := table.sensitive[name].tree) is not None]
    rows, leaves = joined_sets(table, bucketing.names)
    by_row = np.argsort(rows.astype(np.int64) * (int(leaves.max(initial=0)) + 1) + leaves, kind="stable")
    sets = Sets(run_starts(rows, table.records), leaves[by_row])
    forest = grow(trees, len(rows))
    nodes = np.empty(len(rows), dtype=np.int32)
    nodes[by_row] = refine(forest, sets, order, bucketing.k, patient)
    found = {}
    begin = base = 0
    for name, tree in zip(bucketing.names, trees, strict=True):
        end = begin + len(table.sensitive[name].row)
        found[name] = nodes[begin:end] - base
        begin, base = end, base + len(tree.labels)
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


def grow(trees: list[Tree], items: int) -> Forest:
    """Lay trees end to end; ``items`` is how many costs will be added up at most."""
    node_base = np.cumsum([0, *(len(tree.labels) for tree in trees)])
    leaf_base = np.cumsum([0, *(tree.leaves for tree in trees)])
    ways, lengths = [], []
    for tree, base in zip(trees, node_base.tolist(), strict=False):
        way, length = _ways(tree)
        ways.append(way + base)
        lengths.append(length)
    return Forest(
        first=_laid([tree.first + base for tree, base in zip(trees, leaf_base.tolist(), strict=False)]),
        last=_laid([tree.last + base for tree, base in zip(trees, leaf_base.tolist(), strict=False)]),
        cost=whole_costs(np.concatenate([tree.ncp for tree in trees]), items),
        way_start=np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64),
        way=_laid(ways),
        children=_laid([np.bincount(tree.parent[1:], minlength=len(tree.labels)) for tree in trees]),
        sibling=_laid([_siblings(tree) for tree in trees]),
    )


def _siblings(tree: Tree) -> Ints:
    """Return which of its parent's children every node is, from 0 on; nodes stand in depth-first order."""
    parent = tree.parent[1:]
    by_parent = np.argsort(parent, kind="stable")
    begins = np.append(True, np.diff(parent[by_parent]) != 0)[: len(parent)]
    place = np.arange(len(parent))
    found = np.zeros(len(tree.parent), dtype=np.int32)
    found[1 + by_parent] = place - np.maximum.accumulate(np.where(begins, place, 0))
    return found


def _laid(arrays: list[Ints]) -> Ints:
    return np.concatenate(arrays).astype(np.int32)


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


def whole_costs(ncp: Floats, items: int) -> Longs:
    """Return NCP as whole numbers, so that sums and ties are exact: over a common denominator, if there is room."""
    values, place = np.unique(ncp, return_inverse=True)
    fractions = [Fraction(value).limit_denominator(10**7) for value in values.tolist()]
    common = 1
    for fraction in fractions:
        common = lcm(common, fraction.denominator)
        if common * max(items, 1) > LARGEST:
            common = LARGEST // (2 * max(items, 1))
            break
    costs: Longs = np.array([round(fraction * common) for fraction in fractions], dtype=np.int64)
    return costs.take(place.reshape(-1))


def canonical_people(table: Table) -> Ints:
    """Return people by their leaf numbers in policy order, their sets of sensitive values, and what else is shown."""
    rank = np.zeros(table.records, dtype=np.int64)
    _rank_by_leaves(rank, table)
    _rank_by_items(rank, table)
    _rank_by_others(rank, table)
    return np.argsort(rank, kind="stable").astype(np.int32)


def canonical_fingerprints(table: Table) -> Ints:
    """Return people by their sets of sensitive values, those with equal ones by leaf numbers and what else is shown."""
    rank = np.zeros(table.records, dtype=np.int64)
    _rank_by_items(rank, table)
    _rank_by_leaves(rank, table)
    _rank_by_others(rank, table)
    return np.argsort(rank, kind="stable").astype(np.int32)


# A rank is where the group of those who are equal so far begins; it is refined until nobody is tied.


def _rank_by_leaves(rank: Longs, table: Table) -> None:
    _rank_by_keys(rank, [*table.leaves] if table.low is table.high else [*table.leaves, *table.low, *table.high])


def _rank_by_others(rank: Longs, table: Table) -> None:
    if table.ties and len(_tied(rank)):
        _rank_by_keys(rank, table.tie_ranks())


def _rank_by_keys(rank: Longs, whole: list[Ints]) -> None:
    tied = _tied(rank)
    keys = [column[tied] for column in whole]
    order = np.lexsort((*reversed(keys), rank[tied]))
    changes = np.zeros(len(tied), dtype=bool)
    for column in keys:
        changes[1:] |= np.diff(column[order]) != 0
    _split_ranks(rank, tied[order], changes)


def _rank_by_items(rank: Longs, table: Table) -> None:
    for name in table.policy.with_role("sensitive"):
        sensitive = table.sensitive[name]
        code = sensitive.code if sensitive.tree is None else sensitive.leaves[sensitive.code]
        by_row = np.argsort(sensitive.row.astype(np.int64) * (int(code.max(initial=0)) + 1) + code, kind="stable")
        _refine_ranks(rank, run_starts(sensitive.row, table.records), code[by_row])


def _split_ranks(rank: Longs, sorted_rows: Longs, changes: Bools) -> Bools:
    """Give new ranks to rows that are sorted by their old ones; ``changes`` marks those unlike the one before.

    Returns which of them are still tied.
    """
    old = rank[sorted_rows]
    place = np.arange(len(sorted_rows))
    group = np.append(True, old[1:] != old[:-1])[: len(old)]
    new = group | changes
    begin = np.maximum.accumulate(np.where(group, place, 0))
    rank[sorted_rows] = old + np.maximum.accumulate(np.where(new, place, 0)) - begin
    return np.asarray(~(new & np.append(new[1:], True)[: len(new)]))


def _refine_ranks(rank: Longs, start: Longs, code: Ints) -> None:
    """Break ties among ranks by sets of codes, item after item; a set that ends comes before one that goes on."""
    at = 0
    width = int(code.max(initial=0)) + 2
    tied = _tied(rank)
    while len(tied):
        place = start[tied] + at
        more = place < start[tied + 1]
        key = rank[tied] * width
        key[more] += code[place[more]] + 1
        order = np.argsort(key, kind="stable")
        tied, key, more = tied[order], key[order], more[order]
        still = _split_ranks(rank, tied, np.append(True, key[1:] != key[:-1]))
        tied = tied.compress(still & more)
        at += 1


def _tied(rank: Longs) -> Longs:
    """Return the rows that share their rank with another."""
    return np.flatnonzero(np.bincount(rank)[rank] > 1)
