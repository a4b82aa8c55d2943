"""Rows in the space of some attributes, and clusters of them: what cells cost there, and greedy k-member clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kveil.algorithms.costs import whole_costs
from kveil.algorithms.limits import MamGroups, mam_groups
from kveil.algorithms.stars import star_spans
from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.clustering.greedy import blocks, cluster
from kveil.kernels.clustering.layout import Costs, DistinctTuples
from kveil.kernels.grouping.members import members_by_group
from kveil.table.solution import Shown
from kveil.table.table import Table
from kveil.table.tree import Tree


@dataclass
class RowClusters:
    """Clusters of rows: every row's cluster (-1: none), every cluster's span of leaves (attribute × cluster), size."""

    label: Ints
    low: Ints
    high: Ints
    size: Longs
    group: Ints  # every cluster's MAM group

    def add(self, low: Ints, high: Ints, group: int) -> int:
        """Add a cluster without rows that shows a span of leaves per attribute; return its number."""
        self.low, self.high = np.column_stack([self.low, low]), np.column_stack([self.high, high])
        self.size = np.append(self.size, 0)
        self.group = np.append(self.group, np.int32(group))
        return len(self.size) - 1


@dataclass(frozen=True)
class Offers:
    """Clusters that a row may join: what each would show then, and how much the loss of all its rows would grow."""

    cluster: Longs
    low: Ints  # attribute × offer
    high: Ints
    growth: Longs
    is_star: Bools  # shows nothing but `*` then


class Space:
    """The rows of a table in some of its attributes, with what cells cost there."""

    def __init__(self, table: Table, positions: list[int]) -> None:
        self.table = table
        self.positions = positions
        self.trees = [table.trees[p] for p in positions]
        self.whole = whole_costs(table, positions)
        distinct = table.distinct
        self.low, self.high = distinct.low[positions], distinct.high[positions]
        self.is_point = distinct.low is distinct.high

    @property
    def costs(self) -> Costs:
        """What cells cost, in whole numbers."""
        return self.whole.costs

    def mam_groups(self, k: int, *, kept: Bools | None = None) -> MamGroups:
        """Return the groups of equal maximum allowed values, as they are without the rows that are not kept."""
        distinct = self.table.distinct
        weights = distinct.weights
        if kept is not None and not kept.all():
            weights = np.bincount(distinct.member[kept], minlength=len(weights)).astype(np.int64)
        return mam_groups(self.table, self.positions, self.low, self.high, weights, k)

    def tuples(self, rows: Ints) -> DistinctTuples:
        """Return runs of equal neighbours among rows as tuples; the rows are sorted."""
        member = self.table.distinct.member[rows]
        new = np.flatnonzero(np.append(True, member[1:] != member[:-1])) if len(rows) else np.zeros(0, dtype=np.int64)
        tuples = member[new]
        low = np.ascontiguousarray(self.low[:, tuples].T)
        high = low if self.is_point else np.ascontiguousarray(self.high[:, tuples].T)
        return DistinctTuples(low, high, np.append(new, len(rows)).astype(np.int64))

    def is_star(self, low: Ints, high: Ints) -> Bools:
        """Tell which spans of leaves (attribute × span) show nothing but `*`."""
        return star_spans(self.trees, low, high)

    def price(self, low: Ints, high: Ints) -> Longs:
        """Return what a row costs that shows spans of leaves (attribute × span)."""
        nodes, leaves, attributes = self.costs
        total = np.zeros(low.shape[1], dtype=np.int64)
        for a, tree in enumerate(self.trees):
            base, full = int(attributes.base[a]), int(attributes.full[a])
            if isinstance(tree, Tree):
                offset = int(leaves.node[base]) - int(tree.leaf_nodes[0])
                total += nodes.cost[offset + tree.lca(low[a], high[a])]
                continue
            width = np.minimum(leaves.top[base + high[a]] - leaves.bottom[base + low[a]], full)
            if tree.missing is not None:
                width[high[a] == tree.missing] = full
            total += np.where(low[a] == high[a], 0, width)
        return total

    def shown(self, clusters: RowClusters) -> list[Shown]:
        """Return what every row shows in each attribute; rows in no cluster show anything."""
        low, high = clusters.low, clusters.high
        return [Shown.covering(tree, low[a], high[a], clusters.label) for a, tree in enumerate(self.trees)]

    def offers(self, clusters: RowClusters, member: int, group: int) -> Offers:
        """Return what clusters of a MAM group offer to a row, given by its tuple; those without rows offer nothing."""
        open_to = np.flatnonzero((clusters.group == group) & (clusters.size > 0))
        own_low, own_high, size = clusters.low[:, open_to], clusters.high[:, open_to], clusters.size[open_to]
        low = np.minimum(own_low, self.low[:, member : member + 1])
        high = np.maximum(own_high, self.high[:, member : member + 1])
        growth = self.price(low, high) * (size + 1) - self.price(own_low, own_high) * size
        return Offers(open_to, low, high, growth, self.is_star(low, high))


def sort_by_group(table: Table, group: Ints, kept: Bools) -> tuple[Ints, Ints]:
    """Return the kept rows by group, in canonical order inside each, and the groups of those rows."""
    rows = table.canonical[kept[table.canonical]]
    of_row = group[table.distinct.member[rows]]
    order = members_by_group(of_row).rows
    return rows[order].astype(np.int32), of_row[order]


def clusters_of(space: Space, group: Ints, kept: Bools, k: int, *, most: int | None = None) -> tuple[RowClusters, int]:
    """Return greedy k-member clusters of the kept rows inside every group of tuples, and how many blocks there were.

    Every group with a kept row has at least k of them.
    """
    rows, of_row = sort_by_group(space.table, group, kept)
    tuples = space.tuples(rows)
    first = of_row[tuples.start[:-1]]
    groups = np.append(np.flatnonzero(np.append(True, first[1:] != first[:-1])), len(first)).astype(np.int64)
    if not len(rows):
        groups = np.zeros(1, dtype=np.int64)
    blocks_made = 0
    if most is not None and len(rows):
        rows, tuples, groups = _in_blocks(space, rows, tuples, groups, k, most)
        blocks_made = len(groups) - 1
    made = cluster(space.costs, tuples, groups, k)
    label = np.full(space.table.rows, -1, dtype=np.int32)
    label[rows] = made.label
    of_cluster = np.zeros(len(made.size), dtype=np.int32)
    of_cluster[made.label] = group[space.table.distinct.member[rows]]
    low, high = np.ascontiguousarray(made.low.T), np.ascontiguousarray(made.high.T)
    return RowClusters(label, low, high, made.size, of_cluster), blocks_made


def _in_blocks(
    space: Space, rows: Ints, tuples: DistinctTuples, groups: Longs, k: int, most: int
) -> tuple[Ints, DistinctTuples, Longs]:
    """Return rows, tuples and groups after groups were split into blocks; a block below k stays with the next one."""
    order, starts = blocks(space.costs, tuples, groups, most)
    weight = np.diff(tuples.start)[order]
    inside = np.add.reduceat(weight, starts[:-1])
    of_block = np.searchsorted(groups, starts[:-1], side="right") - 1  # the group each block is in
    ahead = np.bincount(of_block, weights=inside)  # rows of every group from a block on
    merged = np.zeros(len(inside), dtype=np.int64)
    number, size = -1, 0
    for block, group in enumerate(of_block.tolist()):
        if block == 0 or group != of_block[block - 1] or (size >= k and ahead[group] >= k):
            number, size = number + 1, 0
        merged[block] = number
        size += int(inside[block])
        ahead[group] -= inside[block]
    of_tuple = np.empty(len(order), dtype=np.int64)
    of_tuple[order] = np.repeat(merged, np.diff(starts))
    of_row = np.repeat(of_tuple, np.diff(tuples.start))
    by_block = members_by_group(of_row).rows
    tuples = space.tuples(rows[by_block])
    return rows[by_block], tuples, members_by_group(of_tuple).starts
