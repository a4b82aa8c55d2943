"""Which shown texts may stand for which values, without a table of all pairs."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kveil.arrays import Bools, Longs
from kveil.kernels.grouping.members import members_by_group
from kveil.policy.attributes import STAR, Ranges
from kveil.policy.builders import label_writer
from kveil.policy.model import Policy
from kveil.policy.numbers import parse_number, parse_span


@dataclass(frozen=True)
class _Lists:
    """A list of numbers per row, all of them end to end; ``starts`` says where each begins."""

    starts: Longs
    members: Longs

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]]) -> _Lists:
        starts = np.concatenate([[0], np.cumsum([len(members) for members in lists])]).astype(np.int64)
        return cls(starts, np.array([m for members in lists for m in members], dtype=np.int64))

    def at(self, rows: Longs) -> tuple[Longs, Longs]:
        """Return the members of some rows' lists, each with the position of its row among those asked for."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        place = np.repeat(np.arange(len(rows), dtype=np.int64), lengths)
        within = np.arange(len(place), dtype=np.int64) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return place, self.members[self.starts[rows][place] + within]

    def turned(self, columns: int) -> _Lists:
        """Return for every member the rows whose lists have it."""
        rows = np.repeat(np.arange(len(self.starts) - 1, dtype=np.int64), np.diff(self.starts))
        order, starts = members_by_group(self.members, columns)
        return _Lists(starts, rows[order])


@dataclass(frozen=True)
class Cover:
    """For the values and the shown texts of one attribute, which text may stand for which value.

    Everything is named by its position. ``named`` lists, per value, the texts that are the value itself, one of its
    ancestors or `*`. A text that is a span stands for the values whose ``rank`` among the numbers lies from ``first``
    up to, but not at, ``last``; a value that is no number has rank -1, a text that is no span holds no rank.
    """

    values: int
    texts: int
    named: _Lists
    rank: Longs
    first: Longs
    last: Longs

    @cached_property
    def _turned(self) -> _Lists:
        return self.named.turned(self.texts)

    @cached_property
    def _pairs(self) -> Longs:
        place, text = self.named.at(np.arange(self.values, dtype=np.int64))
        return np.sort(place * self.texts + text)

    def of_values(self, values: Longs) -> Bools:
        """Return a row per value asked for and a column per shown text."""
        rank = self.rank[values, None]
        fits: Bools = (rank >= self.first) & (rank < self.last)
        fits[self.named.at(values)] = True
        return fits

    def of_texts(self, texts: Longs) -> Bools:
        """Return a row per shown text asked for and a column per value."""
        fits: Bools = (self.rank >= self.first[texts, None]) & (self.rank < self.last[texts, None])
        fits[self._turned.at(texts)] = True
        return fits

    def of_pairs(self, values: Longs, texts: Longs) -> Bools:
        """Return for pairs of a value and a text whether the text may stand for the value."""
        fits: Bools = (self.rank[values] >= self.first[texts]) & (self.rank[values] < self.last[texts])
        if len(self._pairs):
            keys = values * self.texts + texts
            at = np.minimum(np.searchsorted(self._pairs, keys), len(self._pairs) - 1)
            fits |= self._pairs[at] == keys
        return fits

    def lists(self) -> list[list[int]]:
        """Return for every value the texts that may stand for it."""
        single = (np.array([value], dtype=np.int64) for value in range(self.values))
        return [np.flatnonzero(self.of_values(value)[0]).tolist() for value in single]


def covered_values(
    policy: Policy, name: str, values: Sequence[str], shown: Sequence[str], *, domain: Sequence[str] | None = None
) -> Cover:
    """Return which of the shown texts of an attribute may stand for which of its values.

    ``domain`` are all values of the original, which decide how `intervals` are written; by default the values given. A
    value that its hierarchy does not know is covered by itself, by the root and by `*` alone.
    """
    rank = np.full(len(values), -1, dtype=np.int64)
    first, last = np.zeros(len(shown), dtype=np.int64), np.zeros(len(shown), dtype=np.int64)
    if isinstance(policy.attributes[name].hierarchy, Ranges):
        numbers = {value: number for value in values if (number := parse_number(value)) is not None}
        order = sorted(set(numbers.values()))
        position = {number: i for i, number in enumerate(order)}
        for i, value in enumerate(values):
            if value in numbers:
                rank[i] = position[numbers[value]]
        for j, text in enumerate(shown):
            span = parse_span(text)
            if span is not None:
                first[j], last[j] = bisect_left(order, span[0]), bisect_right(order, span[1])
    named = _Lists.of(_above(policy, name, values, shown, values if domain is None else domain))
    return Cover(len(values), len(shown), named, rank, first, last)


def _above(
    policy: Policy, name: str, values: Sequence[str], shown: Sequence[str], domain: Sequence[str]
) -> list[list[int]]:
    """Return for every value the positions of itself, its ancestors and `*` among the shown texts."""
    position = {text: i for i, text in enumerate(shown)}
    if isinstance(policy.attributes[name].hierarchy, Ranges):
        above = [{value, STAR} for value in values]
    else:
        ways, writer = policy.ways_up(name, domain), label_writer(policy.attributes[name].hierarchy, shown)
        above = [{value, *map(writer, ways.of(value)), ways.root, STAR} for value in values]
    return [[position[label] for label in labels if label in position] for labels in above]
