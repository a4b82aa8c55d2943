"""Greedy k-member clustering, free and inside boundaries.

Byun, Kamra, Bertino, Li, "Efficient k-anonymization using clustering techniques" (2006); GreedyCKA: Miller, Campan,
Truta, "Constrained k-anonymity" (2008), seed 004: the same inside every group of equal maximum allowed values. Where
the papers are silent: ties go to the first record in canonical order; rows that would show nothing but `*` count as
suppressed, so their clusters are dissolved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kveil.algorithms.costs import whole_costs
from kveil.algorithms.limits import Mam, least_size, mam
from kveil.arrays import Bools, Ints, Longs
from kveil.errors import Unmeetable
from kveil.kernels.clustering.greedy import Costs, Items, blocks, cluster
from kveil.policy.components import most_suppressed
from kveil.policy.fields import Count, PolicyPart
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table
from kveil.table.tree import Tree
from kveil.words import count

STARS = "nothing but * would be left to show"
EXTREME = np.iinfo(np.int64).max


class KMemberOptions(PolicyPart):
    """Options of k-member and greedy-cka.

    blocks: split every group into blocks of at most so many distinct tuples first, and cluster inside the blocks: two
    to three times as fast and not the same clusters; records near the edge of a block miss neighbours beyond it, which
    usually raises the loss. Left out: exact.
    """

    blocks: Count | None = None


@dataclass
class Found:
    """Clusters of rows: every row's cluster (-1: none), every cluster's span of leaves (attribute × cluster), size."""

    label: Ints
    low: Ints
    high: Ints
    size: Longs
    group: Ints  # every cluster's MAM group


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

    def mam(self, k: int, kept: Bools | None = None) -> Mam:
        """Return the groups of equal maximum allowed values, as they are without the rows that are not kept."""
        distinct = self.table.distinct
        weights = distinct.weights
        if kept is not None and not kept.all():
            weights = np.bincount(distinct.member[kept], minlength=len(weights)).astype(np.int64)
        return mam(self.table, self.positions, self.low, self.high, weights, k)

    def items(self, rows: Ints) -> Items:
        """Return runs of equal neighbours among rows as tuples; the rows are sorted."""
        member = self.table.distinct.member[rows]
        new = np.flatnonzero(np.append(True, member[1:] != member[:-1])) if len(rows) else np.zeros(0, dtype=np.int64)
        tuples = member[new]
        low = np.ascontiguousarray(self.low[:, tuples].T)
        high = low if self.is_point else np.ascontiguousarray(self.high[:, tuples].T)
        return Items(low, high, np.append(new, len(rows)).astype(np.int64))

    def is_star(self, low: Ints, high: Ints) -> Bools:
        """Tell which spans of leaves (attribute × span) show nothing but `*`."""
        found = np.ones(low.shape[1], dtype=bool)
        for a, tree in enumerate(self.trees):
            if isinstance(tree, Tree):
                found &= tree.is_star[tree.lca(low[a], high[a])]
            elif tree.missing is None:
                found[:] = False
            else:
                found &= (high[a] == tree.missing) & (low[a] != high[a])
        return found

    def price(self, low: Ints, high: Ints) -> Longs:
        """Return what a row costs that shows spans of leaves (attribute × span)."""
        nodes, leaves, attributes = self.costs
        total = np.zeros(low.shape[1], dtype=np.int64)
        for a, tree in enumerate(self.trees):
            base, full = int(attributes[a, 1]), int(attributes[a, 2])
            if isinstance(tree, Tree):
                offset = int(leaves[base, 0]) - int(tree.leaf_nodes[0])
                total += nodes[offset + tree.lca(low[a], high[a]), 3]
                continue
            width = np.minimum(leaves[base + high[a], 2] - leaves[base + low[a], 1], full)
            if tree.missing is not None:
                width[high[a] == tree.missing] = full
            total += np.where(low[a] == high[a], 0, width)
        return total

    def shown(self, found: Found) -> list[Shown]:
        """Return what every row shows in each attribute; rows in no cluster show anything."""
        return [Shown.covering(tree, found.low[a], found.high[a], found.label) for a, tree in enumerate(self.trees)]


def sorted_by_group(table: Table, group: Ints, kept: Bools) -> tuple[Ints, Ints]:
    """Return the kept rows by group, in canonical order inside each, and the groups of those rows."""
    rows = table.canonical[kept[table.canonical]]
    of_row = group[table.distinct.member[rows]]
    order = np.argsort(of_row, kind="stable")
    return rows[order].astype(np.int32), of_row[order]


def clusters_of(space: Space, group: Ints, kept: Bools, k: int, most: int | None) -> tuple[Found, int]:
    """Return greedy k-member clusters of the kept rows inside every group of tuples, and how many blocks there were.

    Every group with a kept row has at least k of them.
    """
    rows, of_row = sorted_by_group(space.table, group, kept)
    items = space.items(rows)
    first = of_row[items.start[:-1]]
    groups = np.append(np.flatnonzero(np.append(True, first[1:] != first[:-1])), len(first)).astype(np.int64)
    if not len(rows):
        groups = np.zeros(1, dtype=np.int64)
    made = 0
    if most is not None and len(rows):
        rows, items, groups = _in_blocks(space, rows, items, groups, k, most)
        made = len(groups) - 1
    found = cluster(space.costs, items, groups, k)
    label = np.full(space.table.records, -1, dtype=np.int32)
    label[rows] = found.label
    of_cluster = np.zeros(len(found.size), dtype=np.int32)
    of_cluster[found.label] = group[space.table.distinct.member[rows]]
    low, high = np.ascontiguousarray(found.low.T), np.ascontiguousarray(found.high.T)
    return Found(label, low, high, found.size, of_cluster), made


def _in_blocks(space: Space, rows: Ints, items: Items, groups: Longs, k: int, most: int) -> tuple[Ints, Items, Longs]:
    """Return rows, tuples and groups after groups were split into blocks; a block below k stays with the next one."""
    order, starts = blocks(space.costs, items, groups, most)
    weight = np.diff(items.start)[order]
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
    of_item = np.empty(len(order), dtype=np.int64)
    of_item[order] = np.repeat(merged, np.diff(starts))
    of_row = np.repeat(of_item, np.diff(items.start))
    by_block = np.argsort(of_row, kind="stable")
    items = space.items(rows[by_block])
    sorted_blocks = np.sort(of_item)
    new = np.flatnonzero(np.append(True, sorted_blocks[1:] != sorted_blocks[:-1]))
    return rows[by_block], items, np.append(new, len(order)).astype(np.int64)


def dissolve_stars(space: Space, found: Found, least: int) -> Bools:
    """Give the rows of clusters that would show nothing but `*` to other clusters; return the rows that cannot.

    A row of stars counts as suppressed, so a wider neighbour is better. Row by row in canonical order: to the cluster
    of its MAM group whose total loss grows least and that shows something still; of equals the first. Rows that fit
    nowhere become clusters as they are where so many are equal, to which others may then go.
    """
    table = space.table
    gone = np.zeros(table.records, dtype=bool)
    star = space.is_star(found.low, found.high)
    if table.stars_take_part or not star.any():
        return gone
    waiting = [int(row) for row in table.canonical if found.label[row] >= 0 and star[found.label[row]]]
    groups = {row: int(found.group[found.label[row]]) for row in waiting}
    found.size[star] = 0
    for row in waiting:
        found.label[row] = -1
    while waiting:
        rest = [row for row in waiting if not _join(space, found, row, groups[row])]
        fresh = _alone(space, found, rest, groups, least)
        waiting = [row for row in rest if found.label[row] < 0]
        if not fresh:
            break
    gone[waiting] = True
    return gone


def _join(space: Space, found: Found, row: int, group: int) -> bool:
    member = int(space.table.distinct.member[row])
    open_to = np.flatnonzero((found.group == group) & (found.size > 0))
    if not len(open_to):
        return False
    low = np.minimum(found.low[:, open_to], space.low[:, member : member + 1])
    high = np.maximum(found.high[:, open_to], space.high[:, member : member + 1])
    size = found.size[open_to]
    growth = space.price(low, high) * (size + 1) - space.price(found.low[:, open_to], found.high[:, open_to]) * size
    growth[space.is_star(low, high)] = EXTREME
    best = int(np.argmin(growth))
    if growth[best] == EXTREME:
        return False
    chosen = open_to[best]
    found.label[row] = chosen
    found.low[:, chosen], found.high[:, chosen] = low[:, best], high[:, best]
    found.size[chosen] += 1
    return True


def _alone(space: Space, found: Found, rows: list[int], groups: dict[int, int], least: int) -> bool:
    """Make clusters of equal rows that are enough by themselves; tell whether there is any."""
    equal: dict[int, list[int]] = {}
    for row in rows:
        equal.setdefault(int(space.table.distinct.member[row]), []).append(row)
    made = False
    for member, mine in equal.items():
        low, high = space.low[:, member : member + 1], space.high[:, member : member + 1]
        if len(mine) < least or space.is_star(low, high)[0]:
            continue
        found.label[mine] = len(found.size)
        found.low, found.high = np.column_stack([found.low, low]), np.column_stack([found.high, high])
        found.size = np.append(found.size, len(mine))
        found.group = np.append(found.group, np.int32(groups[mine[0]]))
        made = True
    return made


def k_member(table: Table, options: KMemberOptions, rng: np.random.Generator) -> Solution:
    """Cluster the whole table. O(records²) at worst, far less where a search tree of the tuples helps."""
    return _solve(table, options, "k-member")


def greedy_cka(table: Table, options: KMemberOptions, rng: np.random.Generator) -> Solution:
    """Suppress what boundaries keep from any group of k (OUT, the least there can be); cluster inside the others."""
    return _solve(table, options, "greedy-cka")


def _solve(table: Table, options: KMemberOptions, name: str) -> Solution:
    (component,) = table.components
    k = least_size(table, component)
    space = Space(table, table.positions(component.attributes))
    groups = space.mam(k)
    sizes = np.bincount(groups.group, weights=table.distinct.weights, minlength=groups.number)
    kept = (sizes >= k)[groups.group][table.distinct.member]
    found, made = clusters_of(space, groups.group, kept, k, options.blocks)
    starred = dissolve_stars(space, found, k)
    lost, allowed = int((~kept | starred).sum()), most_suppressed(table.policy, table.records)
    if lost > allowed:
        raise unmeetable(table, name, int((~kept).sum()), int(starred.sum()), allowed)
    reasons = {
        f"its group within the boundaries has fewer than {k} members": np.flatnonzero(~kept).astype(np.int32),
        STARS: np.flatnonzero(starred).astype(np.int32),
    }
    details: dict[str, Any] = {"clusters": len(np.unique(found.label[found.label >= 0]))}
    if name == "greedy-cka":
        small = int(((sizes > 0) & (sizes < k)).sum())
        details["boundaries"] = {"groups": int((sizes > 0).sum()), "groups_out": small, "out": int((~kept).sum())}
    if options.blocks is not None:
        details["blocks"] = made
    if not space.whole.exact:
        details["costs_rounded_to"] = 1 / space.whole.scale
    return Solution(
        tuple(space.shown(found)),
        (~kept | starred)[None, :],
        {reason: rows for reason, rows in reasons.items() if len(rows)},
        details,
        alike=None if lost else found.label,
    )


def unmeetable(table: Table, name: str, out: int, starred: int, allowed: int) -> Unmeetable:
    """Return the error about records that cannot be kept."""
    parts = []
    if out:
        parts.append(f"{count(out, table.noun)} of {table.records:,} cannot be kept within the boundaries")
    if starred:
        parts.append(f"{count(starred, table.noun)} of {table.records:,} would show nothing but `*`")
    return Unmeetable(
        f"{name} cannot meet the policy: {' and '.join(parts)}, and the limit allows {allowed:,}; raise "
        "suppression.limit, ask for less, or move boundaries up.",
        out + starred,
    )
