"""Maximum allowed microdata: groups of rows that boundaries let be generalized together.

Miller, Campan, Truta, "Constrained k-anonymity: privacy with generalization boundaries" (2008), seed 004. A leaf's
limit is the first marked node on its way up. Where a number has a largest width instead, cells are chosen so that as
few rows as possible fall into cells below k: the paper's future work.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.grouping.groups import group_rows
from kveil.kernels.limits.width_cells import choose_cells
from kveil.policy.attributes import MaxWidth
from kveil.policy.components import Component, implied
from kveil.policy.numbers import EXACT
from kveil.policy.privacy import PrivacyModel
from kveil.table.scale import Scale, round_outward
from kveil.table.table import Table
from kveil.table.tree import Tree


@dataclass(frozen=True)
class Mam:
    """Every tuple's group of equal maximum allowed values, and what those are: attribute × group spans of leaves."""

    group: Ints
    number: int
    low: Ints
    high: Ints


def least_members(model: PrivacyModel) -> int:
    """Return how few members a group that satisfies a model can have."""
    if model.model == "p-sensitive":
        return model.p
    if model.model == "l-diversity":
        return int(-(-model.l // 1))
    return int(getattr(model, "k", 1))


def least_size(table: Table, component: Component) -> int:
    """Return how few members any group of a component can have: the largest k, and what l and p ask for."""
    skip = implied(table.policy)
    return max((least_members(table.policy.privacy[i]) for i in component.models if i not in skip), default=1)


def is_bounded(table: Table, position: int) -> bool:
    """Tell whether an attribute has a boundary that keeps some value from its root."""
    tree = table.trees[position]
    if isinstance(tree, Tree):
        return bool(tree.limit_of.any())
    return isinstance(table.policy.attributes[table.names[position]].boundary, MaxWidth)


def mam(table: Table, positions: list[int], low: Ints, high: Ints, weights: Longs, k: int) -> Mam:
    """Group tuples that share all their maximum allowed values on some attributes.

    ``low`` and ``high`` are attribute × tuple spans of leaves. First by marked nodes, then, in policy order, by cells
    of the attributes with a largest width, inside the groups there are by then. Only tuples of some weight have a say
    in the cells; others are in groups of their own where no cell covers them. O(tuples · attributes).
    """
    tuples = low.shape[1]
    group, number = np.zeros(tuples, dtype=np.int32), 1
    marked = [(a, tree) for a, p in enumerate(positions) if isinstance(tree := table.trees[p], Tree)]
    limits = [tree.limit_of[low[a]] for a, tree in marked if tree.limit_of.any()]
    if limits:
        group, first = group_rows(np.array(limits, dtype=np.int32))
        number = len(first)
    cells: dict[int, tuple[Ints, Ints]] = {}
    for a, position in enumerate(positions):
        if isinstance(table.trees[position], Scale) and is_bounded(table, position):
            cells[a] = _cells(table, position, low[a], high[a], weights, group, k)
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
    return Mam(group, number, lowest, highest)


def reach_of(table: Table, position: int) -> Ints:
    """Return for every leaf of a bounded scale the last one that a span from it may show. O(leaves)."""
    scale = table.trees[position]
    boundary = table.policy.attributes[table.names[position]].boundary
    assert isinstance(scale, Scale)
    assert isinstance(boundary, MaxWidth)
    rounded = [round_outward(number, number, scale.spec) for number in scale.numbers]
    reach = np.arange(scale.leaves, dtype=np.int32)
    end = 0
    for at, (bottom, _) in enumerate(rounded):
        end = max(end, at)
        while end + 1 < len(rounded) and EXACT.subtract(rounded[end + 1][1], bottom) <= boundary.max_width:
            end += 1
        reach[at] = end
    return reach


def _cells(
    table: Table, position: int, low: Ints, high: Ints, weights: Longs, group: Ints, k: int
) -> tuple[Ints, Ints]:
    """Return the cell of every tuple as the span of leaves it may show.

    Missing is a cell of its own. A person whose records disagree takes no part in the choice; it is in the cell that
    covers all of its values, else in one of its own.
    """
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


def beyond(table: Table, position: int, low: Ints, high: Ints) -> Bools:
    """Tell which spans of leaves show more than an attribute's boundary lets them."""
    tree = table.trees[position]
    if isinstance(tree, Tree):
        return np.asarray(tree.last[tree.limit_of[low]] < high)
    return np.asarray((low != high) & (reach_of(table, position)[low] < high))
