"""All that may cover the tuples of a table, level by level: nodes of trees, and windows over numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import floor, prod
from typing import NamedTuple

import numpy as np

from kveil.algorithms.costs import Reading, Rounding, in_units, node_losses, shares_of
from kveil.arrays import Ints, Longs
from kveil.kernels.bound.layout import CoverLattice
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.table.scale import Scale
from kveil.table.table import Table
from kveil.table.tree import Tree

SCALE = 1 << 30  # a row's whole loss, in the bound's whole numbers; costs are rounded down
WHOLE_SHARE = 16  # the parts of an attribute's cost that are shared out among constraints
MOST_WORK = 1_500_000_000  # level vectors times tuples that one sum over the lattice may look at


class Fineness(NamedTuple):
    """How finely widths of spans are told apart: classes for every halving, and how many halvings."""

    parts: int
    halvings: int

    @property
    def levels(self) -> int:
        """The levels of an attribute."""
        return 3 + (self.parts * self.halvings - 1) * (self.parts + 1)

    def bounds(self, wide: Fraction) -> list[Fraction]:
        """Return the widths between classes, the widest first, 0 last."""
        number = self.parts * self.halvings
        return [wide * Fraction(round(2 ** (20 - c / self.parts)), 1 << 20) for c in range(number)] + [Fraction(0)]


# Tried from the finest to the coarsest until the work is small enough.
FINENESS = (Fineness(4, 5), Fineness(3, 5), Fineness(2, 5), Fineness(1, 5), Fineness(1, 3), Fineness(1, 1))
SPAN_WORK = 100_000_000  # of the most work, up to which spans are told apart more finely


def node_costs(table: Table, position: int) -> Longs:
    """Return what showing each node costs per row at least, in the bound's whole numbers, rounded down."""
    losses = node_losses(table, position, Reading.SHALLOWEST)
    return in_units(losses, float(shares_of(table)[position]) * SCALE, Rounding.DOWN)


@dataclass
class DepthTable:
    """What may cover every tuple in one attribute, level by level, dearest first, and what that costs at least."""

    nodes: list[Ints]
    costs: list[Longs]
    star: int  # what a suppressed cell costs

    @property
    def step(self) -> int:
        """What the lowest step up costs at most."""
        return int(self.costs[-2].max(initial=0)) if len(self.costs) > 1 else self.star

    def shared(self, share: int) -> DepthTable:
        """Return the same at a part of the costs, rounded down."""
        if share == WHOLE_SHARE:
            return self
        return DepthTable(
            self.nodes, [own * share // WHOLE_SHARE for own in self.costs], self.star * share // WHOLE_SHARE
        )


def _tree_levels(table: Table, position: int, low: Ints, high: Ints) -> DepthTable:
    tree = table.trees[position]
    assert isinstance(tree, Tree)
    price = node_costs(table, position)
    base = tree.lca(low, high)
    limit = tree.depth[tree.limit_of[low]]
    found = DepthTable([], [], int(price[0]))
    for depth in range(int(tree.depth[base].max(initial=0)) + 1):
        node = tree.at_depth(base, depth)
        node[(tree.depth[base] < depth) | (limit > depth)] = -1
        found.nodes.append(node)
        found.costs.append(np.where(node >= 0, price[np.maximum(node, 0)], 0))
    return found


def _span_levels(table: Table, position: int, low: Ints, high: Ints, fine: Fineness) -> DepthTable:
    """Return windows over numbers, in classes by how far apart the numbers of a group are.

    A group of a class is no wider than t, and wider than the next class's t, which is what it costs at least. With
    ``parts`` p, a class's t is 2^(1/p) times the next one's, and windows of width t + t/p begin at every multiple of
    t/p: one of them holds the group, and a number is in p + 1 of them, each a level. The first level is `*`, the last
    one is for groups of one number, which cost nothing.
    """
    scale = table.trees[position]
    assert isinstance(scale, Scale)
    share = shares_of(table)[position] * SCALE
    given = table.policy.attributes[table.names[position]].widest
    widest = None if given is None else Fraction(given)
    numbers = [Fraction(number) for number in scale.numbers]
    whole = floor(share)
    star = np.full(len(low), -1 if widest is not None else 0, dtype=np.int32)
    found = DepthTable([star], [np.full(len(low), whole)], whole)
    known = high < len(numbers)
    gaps = [after - before for before, after in pairwise(numbers)]
    bounds = fine.bounds(numbers[-1] - numbers[0]) if gaps else []
    for number, (most, above) in enumerate(pairwise(bounds)):
        if widest is not None and above >= widest:
            continue
        cost = np.full(len(low), min(floor(share * max(above, min(gaps)) / Fraction(scale.width)), whole))
        if number == 0:  # the widest class has one window
            found.nodes.append(np.where(known, 0, -1).astype(np.int32))
            found.costs.append(cost)
            continue
        slot = np.array([(n - numbers[0]) * fine.parts // most for n in numbers] + [0], dtype=np.int32)
        from_, to = slot[np.minimum(low, len(numbers))], slot[np.minimum(high, len(numbers))]
        for first in range(fine.parts + 1):
            window = (from_ - first) // (fine.parts + 1)
            inside = known & ((to - first) // (fine.parts + 1) == window)
            found.nodes.append(np.where(inside, window + 1, -1).astype(np.int32))
            found.costs.append(cost)
    found.nodes.append(np.where(low == high, low, -1).astype(np.int32))
    found.costs.append(np.zeros(len(low), dtype=np.int64))
    return found


class TupleLevels(NamedTuple):
    """The distinct tuples over some attributes, how many rows each stands for, and what may cover them."""

    tables: list[DepthTable]
    weight: Longs
    first: Ints
    windows: int  # that a span may be in, 1 where there are no spans

    def lattice(self, shares: Sequence[int]) -> tuple[CoverLattice, int]:
        """Return all of it with so many parts, of ``WHOLE_SHARE``, of every attribute's cost, and what a star costs.

        Attributes in which one step up costs most come first: where they have gone up, little else is worth looking at.
        Tuples stand in the order of their deepest nodes, so that those of a node lie close together.
        """
        tables = [own.shared(share) for own, share in zip(self.tables, shares, strict=True)]
        tables.sort(key=lambda levels: -levels.step)
        order = np.lexsort([levels.nodes[-1] for levels in reversed(tables)])
        at = np.cumsum([0, *(len(levels.nodes) for levels in tables)])
        above = np.array([node[order] for levels in tables for node in levels.nodes], dtype=np.int32)
        cost = np.array([own[order] for levels in tables for own in levels.costs], dtype=np.int64)
        lattice = CoverLattice(at, above, cost, self.weight[order], self.first[order], self.windows)
        return lattice, sum(levels.star for levels in tables)


def tuple_levels(table: Table, positions: list[int], fine: Fineness) -> TupleLevels:
    """Return the distinct tuples over some attributes with all that may cover them."""
    low, high = table.low[positions], table.high[positions]
    member, first = group_rows(low if table.low is table.high else np.concatenate([low, high]))
    weight = table.tally(member, len(first)).astype(np.int64)
    tables = [
        _tree_levels(table, position, low[a, first], high[a, first])
        if isinstance(table.trees[position], Tree)
        else _span_levels(table, position, low[a, first], high[a, first], fine)
        for a, position in enumerate(positions)
    ]
    spans = any(isinstance(table.trees[position], Scale) for position in positions)
    return TupleLevels(tables, weight, first, 2 * fine.parts + 1 if spans else 1)


def lattice_of(table: Table, positions: list[int], fine: Fineness) -> tuple[CoverLattice, int]:
    """Return the distinct tuples over some attributes with all that may cover them, and what a star costs at least."""
    return tuple_levels(table, positions, fine).lattice([WHOLE_SHARE] * len(positions))


def affordable_levels(table: Table, positions: list[int]) -> tuple[list[int], Fineness]:
    """Return the attributes that a sum over the lattice can afford, and how finely spans are told apart.

    Spans as finely as a small part of the work allows, then without attributes that weigh least for their levels.
    """
    kept = list(positions)
    share = shares_of(table)
    while True:
        tuples = len(group_rows(np.concatenate([table.low[kept], table.high[kept]]))[1])
        spans = sum(not isinstance(table.trees[p], Tree) for p in kept)
        deep = {p: len(np.unique(t.depth)) for p in kept if isinstance(t := table.trees[p], Tree)}
        work = tuples * prod(deep.values())
        for fine in FINENESS:
            if work * fine.levels**spans <= (MOST_WORK if fine == FINENESS[-1] else SPAN_WORK):
                return kept, fine
        if len(kept) == 1:
            return kept, FINENESS[-1]
        levels = {p: deep.get(p, FINENESS[-1].levels) for p in kept}
        kept.remove(min(kept, key=lambda p: (share[p] / levels[p], -p)))
