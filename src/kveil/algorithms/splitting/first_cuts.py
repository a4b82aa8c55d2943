"""The first cuts of a table that no machine holds, found from counts alone.

Whether and how Mondrian cuts a part depends, attribute by attribute, on how many records have each span of leaves, and
on how many of these have each sensitive value. Whoever can count that, on however many machines, gets the very cuts
that a table in memory would get: they are made by the same loops, which are given spans of one attribute instead of
tuples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from kveil.algorithms.component import SearchComponent
from kveil.algorithms.limits import is_bounded
from kveil.algorithms.splitting.layout import lay_trees
from kveil.algorithms.splitting.parts import Splitter
from kveil.arrays import Ints, Longs
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.kernels.grouping.members import members_by_group
from kveil.kernels.splitting.layout import Trees
from kveil.kernels.splitting.mondrian import measure_spans, split
from kveil.models.groups import Pairs
from kveil.models.packed import needs_of, values_of
from kveil.table.group_spans import group_spans
from kveil.table.table import Table
from kveil.table.tree import Tree

LEFT_OUT = -1  # the part of rows that no part can hold


# ------------------------------------------------------------------------------------------------ where rows go


@dataclass(frozen=True)
class LeafSpans:
    """Rows as spans of leaves: attribute × row, low and high, and how many leaves each attribute has."""

    low: Ints
    high: Ints
    leaves: Longs

    @classmethod
    def of(cls, table: Table) -> LeafSpans:
        """Return the rows of a table, in all quasi-identifiers."""
        return cls(table.low, table.high, np.array([tree.leaves for tree in table.trees], dtype=np.int64))

    def keys(self, attribute: int) -> Longs:
        """Return a number for the span that each row has in an attribute, the same for the same span."""
        low = self.low[attribute].astype(np.int64)
        return np.asarray(low * self.leaves[attribute] + self.high[attribute])

    def read(self, attribute: int, keys: Longs) -> tuple[Ints, Ints]:
        """Return the spans, low and high, that numbers of `keys` stand for."""
        low, high = np.divmod(keys, self.leaves[attribute])
        return low.astype(np.int32), high.astype(np.int32)


@dataclass(frozen=True)
class Cut:
    """How a part is cut: by the span that a row has in an attribute of the table.

    ``keys`` are sorted, ``part`` is where each goes.
    """

    attribute: int
    keys: Longs
    part: Ints


@dataclass(frozen=True)
class StartGroups:
    """The parts to begin with: rows that share all their limits.

    ``keys`` has a line per bounded attribute and a column per group, ``part`` the part of each.
    """

    attributes: tuple[int, ...]
    keys: Longs
    part: Ints

    def part_of(self, spans: LeafSpans, limits: Mapping[int, Ints]) -> Ints:
        """Return the part of every row."""
        rows = spans.low.shape[1]
        if not self.attributes:
            return np.full(rows, self.part[0], dtype=np.int32)
        own = limit_keys(spans, self.attributes, limits)
        group, first = group_rows(_ranks(np.concatenate([self.keys, own], axis=1)))
        part = np.full(len(first), LEFT_OUT - 1, dtype=np.int32)
        part[group[: self.keys.shape[1]]] = self.part
        return np.asarray(part[group[self.keys.shape[1] :]])


def _ranks(columns: Longs) -> Ints:
    """Return numbers as ranks, line by line, which fit into fewer bits."""
    return np.array([np.unique(line, return_inverse=True)[1].reshape(-1) for line in columns], dtype=np.int32)


def limit_keys(spans: LeafSpans, attributes: Sequence[int], limits: Mapping[int, Ints]) -> Longs:
    """Return what rows must share to be generalized together, attribute × row.

    That is the limit of their leaf in a tree, by ``limits``; of an attribute without a tree, the very span: which spans
    may stand together is decided once all are counted.
    """
    lines = [limits[a][spans.low[a]].astype(np.int64) if a in limits else spans.keys(a) for a in attributes]
    return np.array(lines, dtype=np.int64).reshape(len(attributes), spans.low.shape[1])


def limits_of(table: Table) -> dict[int, Ints]:
    """Return for every quasi-identifier with a tree the limit of each leaf."""
    return {a: tree.limit_of for a, tree in enumerate(table.trees) if isinstance(tree, Tree)}


def bounded_attributes(table: Table) -> tuple[int, ...]:
    """Return the quasi-identifiers that have boundaries."""
    return tuple(a for a in range(len(table.names)) if is_bounded(table, a))


@dataclass
class PartCuts:
    """How a table falls into parts: by limits first, then cut by cut."""

    limits: Mapping[int, Ints]
    start: StartGroups
    number: int
    cuts: dict[int, Cut] = field(default_factory=dict)

    def part_of(self, spans: LeafSpans) -> Ints:
        """Return the part of every row. O(rows) for each cut that lies above a row's part."""
        part = self.start.part_of(spans, self.limits)
        waiting = np.arange(len(part))
        while True:
            waiting = waiting[np.isin(part[waiting], list(self.cuts))]
            if not len(waiting):
                return part
            for own in members_by_group(part[waiting]).without_empty().split():
                rows = waiting[own]
                cut = self.cuts[int(part[rows[0]])]
                keys = spans.keys(cut.attribute)[rows] if len(rows) < len(part) else spans.keys(cut.attribute)
                at = np.minimum(np.searchsorted(cut.keys, keys), len(cut.keys) - 1)
                part[rows] = np.where(cut.keys[at] == keys, cut.part[at], LEFT_OUT - 1)


# ------------------------------------------------------------------------------------------------ what is counted


@dataclass(frozen=True)
class CountedSpans:
    """Different spans of one attribute, or groups of equal limits: how many records have each, and which values."""

    keys: Longs
    weights: Longs
    pairs: Mapping[str, Pairs]

    def total(self, name: str) -> Longs:
        """Return how many records, of all spans, have each value of a sensitive attribute."""
        own = self.pairs[name]
        return np.bincount(own.codes, weights=own.counts, minlength=own.known + 1).astype(np.int64)


def start_groups(component: SearchComponent, keys: Longs, counted: CountedSpans) -> Splitter:
    """Return what tells which groups of equal limits hold, by what was counted of each.

    ``keys`` are those of `limit_keys`, a line per bounded attribute and a column per group; ``counted`` has the groups
    in the same order. The splitter's tuples are the groups.
    """
    table = component.table
    bounded = bounded_attributes(table)
    spans = LeafSpans.of(table)
    low = np.zeros((len(table.names), keys.shape[1]), dtype=np.int32)
    high = low.copy()
    for line, a in zip(keys, bounded, strict=True):
        tree = table.trees[a]
        if isinstance(tree, Tree):  # any leaf with this limit stands for all
            leaf = np.zeros(len(tree.labels), dtype=np.int32)
            leaf[tree.limit_of[::-1]] = np.arange(tree.leaves - 1, -1, -1, dtype=np.int32)
            low[a] = high[a] = leaf[line]
        else:
            low[a], high[a] = spans.read(a, line)
    same = np.array_equal(low, high)
    groups = table.changed(leaves=low, low=low, high=low if same else high, times=counted.weights, rows_apart=True)
    return Splitter(replace(component, table=groups), counted.pairs, counted.weights)


# ------------------------------------------------------------------------------------------------ cuts


@dataclass(frozen=True)
class FirstCuts:
    """Cuts parts of a table, whose component this is, by what was counted of them.

    ``whole_table`` has how many of the whole table have each sensitive value.
    """

    component: SearchComponent
    whole_table: Mapping[str, Longs]
    by_gain: bool = False

    @cached_property
    def _trees(self) -> Trees:
        return lay_trees(self.component.table, self.component.positions)

    @cached_property
    def _single(self) -> list[Trees]:
        return [lay_trees(self.component.table, [position]) for position in self.component.positions]

    def cut(self, spans: LeafSpans, counted: Sequence[CountedSpans], begin: int) -> Cut | None:
        """Return how a part is cut, None where it cannot be; ``counted`` has its spans in every attribute.

        The new parts are numbered from ``begin`` on.
        """
        positions = self.component.positions
        ends = [spans.read(position, counted[position].keys) for position in positions]
        missing = self._trees.missing
        low = np.array([own.min() for own, _ in ends], dtype=np.int32)
        high = np.array([own.max() for _, own in ends], dtype=np.int32)
        top = np.array([own[own != gap].max(initial=-1) for (_, own), gap in zip(ends, missing, strict=True)])
        attributes = np.arange(len(positions), dtype=np.int32)
        width, cost = measure_spans(self._trees, attributes, low, high, top.astype(np.int32))
        best: Cut | None = None
        best_gain = -1.0
        for a in np.argsort(-width, kind="stable").tolist():  # the widest first, of equals the first
            if width[a] <= 0:
                break
            own = counted[positions[a]]
            part = self._split(a, ends[a][0], ends[a][1], own)
            if part is None:
                continue
            cut = Cut(positions[a], own.keys, part + np.int32(begin))
            if not self.by_gain:
                return cut
            gain = self._gain(a, ends[a], own.weights, part, float(cost[a]))
            if gain > best_gain:
                best, best_gain = cut, gain
        return best

    def _split(self, a: int, low: Ints, high: Ints, counted: CountedSpans) -> Ints | None:
        """Return the part of every span of an attribute after one cut, None where none is allowed."""
        order = np.arange(len(low), dtype=np.int32)
        lows = low[None, :].copy()
        pairs = self.component.pairs_of(counted.pairs)
        made = split(
            lows,
            lows if np.array_equal(low, high) else high[None, :].copy(),
            counted.weights,
            self._single[a],
            needs_of(self.component.models, self.component.sensitive),
            values_of(
                self.component.table, pairs, self.component.models, counted.weights, whole_table=self.whole_table
            ),
            order,
            np.array([0, len(order)], dtype=np.int64),
            False,
            int(counted.weights.sum()) - 1,  # what comes of one cut is smaller, and is not cut further
        )
        if len(made.ends) <= 2:
            return None
        part = np.empty(len(order), dtype=np.int32)
        part[made.order] = np.repeat(np.arange(len(made.ends) - 1, dtype=np.int32), np.diff(made.ends))
        return part

    def _gain(self, a: int, ends: tuple[Ints, Ints], weights: Longs, part: Ints, cost: float) -> float:
        """Return how much the loss of an attribute falls by a cut, as the loops reckon it."""
        number = int(part.max()) + 1
        lowest, highest = group_spans(part, number, *ends)
        attribute = np.full(number, a, dtype=np.int32)
        costs = measure_spans(self._trees, attribute, lowest, highest, highest)[1]
        sizes = np.bincount(part, weights=weights)
        gain = cost * float(weights.sum())
        for own, size in zip(costs.tolist(), sizes.tolist(), strict=True):
            gain -= own * size
        return gain * float(self._trees.importance[a])
