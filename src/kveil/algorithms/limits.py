"""Limits: how far values may be generalized, and the groups of rows that may be generalized together.

Miller, Campan, Truta 2008 call a table with every value at its limit the maximum allowed microdata (MAM); rows that are
equal there form a MAM group, and no group of a release reaches beyond one. A leaf's limit is the first marked node on
its way up (`Tree.limit_of`; `Tree.limit_of_node` for any node). Where a number has a largest width instead, cells are
chosen so that as few rows as possible fall into cells below k: the paper's future work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.kernels.limits.width_cells import choose_cells
from kveil.policy.attributes import MaxWidth
from kveil.table.scale import Scale
from kveil.table.solution import Shown
from kveil.table.table import Table
from kveil.table.tree import Tree


@dataclass(frozen=True)
class MamGroups:
    """Every tuple's group of equal maximum allowed values, and what those are: spans of leaves, attribute × group."""

    group: Ints
    number: int
    low: Ints
    high: Ints


def is_bounded(table: Table, position: int) -> bool:
    """Tell whether an attribute has a boundary that keeps some value from its root."""
    tree = table.trees[position]
    if isinstance(tree, Tree):
        return bool(tree.limit_of.any())
    return isinstance(table.policy.attributes[table.names[position]].boundary, MaxWidth)


def limit_groups(table: Table, positions: list[int], low: Ints) -> tuple[Ints, Ints]:
    """Group tuples that share all their limits in the trees among some attributes.

    ``low`` are the tuples' leaves (attribute × tuple). Returns every tuple's group and the first tuple of each.
    """
    trees = [(a, tree) for a, p in enumerate(positions) if isinstance(tree := table.trees[p], Tree)]
    limits = [tree.limit_of[low[a]] for a, tree in trees if tree.limit_of.any()]
    if not limits:
        return np.zeros(low.shape[1], dtype=np.int32), np.zeros(min(low.shape[1], 1), dtype=np.int32)
    return group_rows(np.array(limits, dtype=np.int32))


def codes_at_limits(trees: Sequence[Tree | Scale], low: Ints, groups: MamGroups) -> Ints:
    """Return what tuples show in some attributes with every value at its limit, as codes per attribute and tuple.

    ``low`` are the tuples' leaves, ``groups`` their groups of maximum allowed values.
    """
    shown = np.zeros(low.shape, dtype=np.int32)
    for a, tree in enumerate(trees):
        if isinstance(tree, Tree):
            shown[a] = tree.limit_of[low[a]]
        else:
            shown[a] = Shown.spans(tree, groups.low[a], groups.high[a]).codes[groups.group]
    return shown


def mam_groups(table: Table, positions: list[int], low: Ints, high: Ints, weights: Longs, k: int) -> MamGroups:
    """Group tuples that share all their maximum allowed values on some attributes.

    ``low`` and ``high`` are attribute × tuple spans of leaves. First by marked nodes, then, in policy order, by cells
    of the attributes with a largest width, inside the groups there are by then. Only tuples of some weight have a say
    in the cells; others are in groups of their own where no cell covers them. O(tuples · attributes).
    """
    group, first = limit_groups(table, positions, low)
    number = max(len(first), 1)
    cells: dict[int, tuple[Ints, Ints]] = {}
    for a, position in enumerate(positions):
        if isinstance(table.trees[position], Scale) and is_bounded(table, position):
            tuples = _BoundedSpans(low[a], high[a], weights, group)
            cells[a] = _cells(table, position, tuples, k)
            group, first = group_rows(np.array([group, *cells[a]], dtype=np.int32))
            number = len(first)
    lowest = np.zeros((len(positions), number), dtype=np.int32)
    highest = np.zeros((len(positions), number), dtype=np.int32)
    for a, position in enumerate(positions):
        tree = table.trees[position]
        if isinstance(tree, Tree) and not tree.limit_of.any():
            highest[a] = tree.leaves - 1
        elif isinstance(tree, Tree):
            limit = tree.limit_of[low[a]]
            lowest[a, group], highest[a, group] = tree.first[limit], tree.last[limit]
        elif a in cells:
            lowest[a, group], highest[a, group] = cells[a]
        else:
            lowest[a], highest[a] = low[a].min(initial=0), high[a].max(initial=0)
    return MamGroups(group, number, lowest, highest)


def reach_of(table: Table, position: int) -> Ints:
    """Return for every leaf of a bounded scale the last one that a span from it may show. O(leaves)."""
    scale = table.trees[position]
    boundary = table.policy.attributes[table.names[position]].boundary
    assert isinstance(scale, Scale)
    assert isinstance(boundary, MaxWidth)
    reach = np.arange(scale.leaves, dtype=np.int32)
    end = 0
    for at in range(len(scale.numbers)):
        end = max(end, at)
        while end + 1 < len(scale.numbers) and not scale.shows_more(at, end + 1, boundary.max_width):
            end += 1
        reach[at] = end
    return reach


class _BoundedSpans(NamedTuple):
    """One attribute of all tuples: spans of leaves, weights, and the group that each is in so far."""

    low: Ints
    high: Ints
    weights: Longs
    group: Ints


def _cells(table: Table, position: int, tuples: _BoundedSpans, k: int) -> tuple[Ints, Ints]:
    """Return the cell of every tuple as the span of leaves it may show.

    Missing is a cell of its own. A person whose records disagree takes no part in the choice; it is in the cell that
    covers all of its values, else in one of its own.
    """
    low, high, weights, group = tuples
    tree = table.trees[position]
    reach = reach_of(table, position)
    from_, to = low.copy(), high.copy()
    single = (low == high) & (weights > 0)
    if tree.missing is not None:
        single &= low != tree.missing
    rows = np.flatnonzero(single)
    if not len(rows):
        return from_, to
    key = group[rows].astype(np.int64) * tree.leaves + low[rows]
    keys, inverse = np.unique(key, return_inverse=True)
    counts = np.bincount(inverse.reshape(-1), weights=weights[rows], minlength=len(keys)).astype(np.int64)
    of_group, leaf = np.divmod(keys, tree.leaves)
    starts = np.flatnonzero(np.append(True, of_group[1:] != of_group[:-1]))
    cell = choose_cells(np.append(starts, len(keys)), leaf.astype(np.int32), counts, reach, k)
    begins = np.flatnonzero(np.append(True, cell[1:] != cell[:-1]))
    first = leaf[begins].astype(np.int32)
    last = leaf[np.append(begins[1:], len(keys)) - 1].astype(np.int32)
    from_[rows], to[rows] = first[cell[inverse.reshape(-1)]], last[cell[inverse.reshape(-1)]]
    others = np.flatnonzero(~single & (low < (len(reach) if tree.missing is None else tree.missing)))
    if len(others):
        own = group[others].astype(np.int64) * tree.leaves
        at = np.searchsorted(of_group[begins] * tree.leaves + first, own + low[others], side="right") - 1
        inside = (at >= 0) & (of_group[begins][at] == group[others]) & (last[at] >= high[others])
        from_[others[inside]], to[others[inside]] = first[at[inside]], last[at[inside]]
    return from_, to
