"""Spans of numbers as nodes: what the search under overlapping constraints may show of a `ranges` attribute.

Each number alone is a node, and each span from a number to a higher one that is no wider than may be. Spans that are
written alike, since bounds are rounded outward, are one node, the one that covers most. Where that would be too many
nodes, spans begin and end at every second number, at every fourth, and so on; what a start shows is a node in any case.

A node's parent is the narrowest of the spans that halving all numbers gives, and that covers more than the node itself.
So a wider span never lies deeper: what halves cover a span and more, cover all inside it, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from kveil.algorithms.least_loss.layout import bounds_in_units
from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.table.scale import Scale
from kveil.table.tree import depths_of

MOST_SPANS = 1 << 18  # nodes of an attribute, beside single numbers and what a start shows


@dataclass(frozen=True)
class SpanNodes:
    """The nodes of a `ranges` attribute: their part of `NodeColumns.ints`, what each costs, and how they are found.

    ``table`` is laid out as `NodeColumns.spans`. ``more`` are spans beside those of the table, as low · leaves + high,
    in order; their nodes are the last ones. ``star`` is the node that shows nothing, which spans may come to or not.
    """

    ints: Ints
    cost: Longs
    table: Ints
    more: Longs
    star: int

    def find(self, low: Ints, high: Ints) -> Ints:
        """Return the nodes of spans, given by their leaves; -1 for what may not be shown."""
        found = _find(self.table, low, high)
        if len(self.more):
            key = low.astype(np.int64) * int(self.table[field.SPAN_LEAVES]) + high
            at = np.minimum(np.searchsorted(self.more, key), len(self.more) - 1)
            found = np.where(self.more[at] == key, len(self.cost) - len(self.more) + at, found)
        return found.astype(np.int32)

    def tops(self, nodes: Ints) -> Ints:
        """Return the node at the end of every node's way up."""
        parent, depth = self.ints[field.PARENT], self.ints[field.DEPTH]
        for _ in range(int(depth.max(initial=0))):
            nodes = parent[nodes]
        return np.asarray(nodes)


class _NumberBounds(NamedTuple):
    """What numbers show as bounds of spans, downward and upward, the widest span that may be, all in one unit."""

    down: Longs
    up: Longs
    most: int | None

    def allow(self, low: Longs, high: Longs) -> Bools:
        if self.most is None:
            return np.ones(len(low), dtype=bool)
        return np.asarray(self.up[high] - self.down[low] <= self.most)


def span_nodes(
    scale: Scale, widest: Decimal | None, whole: int, *, shown: Iterable[tuple[int, int]] = (), most: int = MOST_SPANS
) -> SpanNodes:
    """Return the nodes of an attribute; ``whole`` is what a cell costs that shows nothing.

    ``shown`` are spans that have to be nodes as they are, where they may be shown at all. O(nodes · log numbers).
    """
    below, above, width, unit = bounds_in_units(scale)
    down, up = np.array(below, dtype=np.int64), np.array(above, dtype=np.int64)
    bounds = _NumberBounds(down, up, None if widest is None else int(Fraction(widest) * unit))
    missing = -1 if scale.missing is None else scale.missing
    leaves = scale.leaves
    table, first, last = _table(bounds, leaves, most)
    star = leaves + len(first)
    table[[field.SPAN_MISSING, field.SPAN_STAR]] = missing, star if missing >= 0 and widest is None else -1
    first, last = np.append(np.arange(leaves), first), np.append(np.arange(leaves), last)
    more = _more(table, bounds, (first, last), [pair for pair in sorted(set(shown)) if pair[0] < pair[1] != missing])
    first = np.concatenate([first, [0], more // max(leaves, 1)])
    last = np.concatenate([last, [leaves - 1], more % max(leaves, 1)])
    cost = np.zeros(len(first), dtype=np.int64)
    wide = (first < last) & (np.arange(len(first)) != star)
    cost[wide] = np.minimum((up[last[wide]] - down[first[wide]]) * (whole / width) + 0.5, whole).astype(np.int64)
    cost[star] = whole
    parent = _parents(table, first, last, len(below))
    parent[star] = star
    ints = np.array([first, last, parent, depths_of(parent), np.arange(len(first)) == star], dtype=np.int32)
    return SpanNodes(ints, cost, table, more, star)


def _table(bounds: _NumberBounds, leaves: int, most: int) -> tuple[Ints, Longs, Longs]:
    """Return where spans are found by their ends, and the first and last leaves of all of them."""
    numbers = np.arange(len(bounds.down))
    begins = numbers[np.diff(bounds.down, prepend=bounds.down[:1] - 1) > 0]
    ends = numbers[np.diff(bounds.up, append=bounds.up[-1:] + 1) > 0]
    step = 1
    while True:
        low = begins[::step]
        high = ends[np.minimum(np.arange(step - 1, len(ends) + step - 1, step), len(ends) - 1)]
        start = np.searchsorted(high, low, side="right")
        reach = np.full(len(low), len(high))
        if bounds.most is not None:
            reach = np.searchsorted(bounds.up[high], bounds.down[low] + bounds.most, side="right")
        count = np.maximum(reach - start, 0)
        if count.sum() <= most:
            break
        step *= 2
    table = np.zeros(field.SPAN_TABLE + 2 * leaves + 2 * (len(low) + 1), dtype=np.int32)
    table[field.SPAN_LEAVES] = leaves
    table[field.SPAN_TABLE + numbers] = np.searchsorted(low, numbers, side="right") - 1
    table[field.SPAN_TABLE + leaves + numbers] = np.searchsorted(high, numbers, side="left")
    pairs = table[field.SPAN_TABLE + 2 * leaves :].reshape(-1, 2)
    pairs[:, 0] = leaves + np.append(0, np.cumsum(count))
    pairs[:-1, 1] = start
    place = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count - start, count)
    return table, np.repeat(low, count), high[place]


def _find(table: Ints, low: Ints | Longs, high: Ints | Longs) -> Longs:
    """Return the nodes of spans among those of a table, -1 for those that may not be shown."""
    leaves, missing, star = (int(number) for number in table[: field.SPAN_TABLE])
    begins, ends = table[field.SPAN_TABLE :][:leaves], table[field.SPAN_TABLE + leaves :][:leaves]
    pairs = table[field.SPAN_TABLE + 2 * leaves :].reshape(-1, 2).astype(np.int64)
    at = begins[low]
    node = pairs[at, 0] + ends[high] - pairs[at, 1]
    node = np.where(node < pairs[np.minimum(at + 1, len(pairs) - 1), 0], node, -1)
    return np.where(low == high, low, np.where(high == missing, star, node)).astype(np.int64)


def _more(table: Ints, bounds: _NumberBounds, nodes: tuple[Longs, Longs], shown: list[tuple[int, int]]) -> Longs:
    """Return, of spans that are shown, those that a table has only within wider ones."""
    ends = np.array(shown, dtype=np.int64).reshape(-1, 2)
    low, high = ends[bounds.allow(ends[:, 0], ends[:, 1])].T
    found = _find(table, low, high)
    first, last = nodes[0][np.maximum(found, 0)], nodes[1][np.maximum(found, 0)]
    wider = (found < 0) | (bounds.down[first] < bounds.down[low]) | (bounds.up[last] > bounds.up[high])
    return np.asarray(np.unique(low[wider] * int(table[field.SPAN_LEAVES]) + high[wider]))


def _parents(table: Ints, first: Longs, last: Longs, numbers: int) -> Longs:
    """Return the next wider span that halving gives, for every node; a node itself where that may not be shown."""
    star, missing = int(table[field.SPAN_STAR]), int(table[field.SPAN_MISSING])
    parent = np.arange(len(first), dtype=np.int64)
    waits = last < numbers
    for level in range(numbers.bit_length() + 1):
        left = np.flatnonzero(waits)
        low, high = first[left], last[left]
        begin = low >> level << level
        end = np.minimum(begin + (1 << level), numbers) - 1
        covered = end >= high
        left, begin, end = left[covered], begin[covered], end[covered]
        node = _find(table, begin, end)
        wider = (node >= 0) & ((first[node] < first[left]) | (last[node] > last[left]))
        parent[left[wider]] = node[wider]
        waits[left[wider | (node < 0)]] = False
    if star >= 0:
        parent[waits] = star
        parent[missing] = star
    return parent
