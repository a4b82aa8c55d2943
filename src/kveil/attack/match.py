"""Which released rows may be whose: what a shown text covers, and how many rows fit what an attacker knows."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kveil.arrays import Bools, Floats, Longs
from kveil.policy.attributes import STAR, Ranges
from kveil.policy.model import Policy
from kveil.policy.numbers import parse_number, parse_span

CHUNK = 8_000_000  # cells that are matched at once, in bytes
WIDEST = 200_000_000  # cells of all tables that are laid out over all groups beforehand


@dataclass(frozen=True)
class Coded:
    """A column as its distinct texts, sorted, and every row's position among them."""

    texts: list[str]
    codes: Longs

    def at(self, rows: Longs) -> Coded:
        """Return the column at some rows, with only the texts that occur there."""
        used, codes = np.unique(self.codes[rows], return_inverse=True)
        return Coded([self.texts[i] for i in used.tolist()], codes.reshape(-1).astype(np.int64))


def coded(column: pl.Series) -> Coded:
    """Return a column of texts without nulls as codes."""
    texts = column.unique().sort().to_list()
    return Coded(texts, column.cast(pl.Enum(texts)).to_physical().cast(pl.Int64).to_numpy())


@dataclass(frozen=True)
class Groups:
    """Rows grouped by equal codes: every row's group, and for every group its first row and its size."""

    member: Longs
    first: Longs
    sizes: Longs

    @property
    def own(self) -> Longs:
        """The size of every row's own group."""
        return self.sizes[self.member]


def group(columns: Sequence[Coded], rows: int) -> Groups:
    """Return the groups of equal rows; O(rows log rows) a column."""
    key = np.zeros(rows, dtype=np.int64)
    first = np.zeros(min(rows, 1), dtype=np.int64)
    for column in columns:
        _, first, key = np.unique(key * len(column.texts) + column.codes, return_index=True, return_inverse=True)
        key = key.reshape(-1)
    return Groups(key, first, np.bincount(key, minlength=len(first)).astype(np.int64))


# ---------------------------------------------------------------------------------------------- what covers what


def covers(
    policy: Policy, name: str, values: Sequence[str], shown: Sequence[str], domain: Sequence[str] | None = None
) -> Bools:
    """Return for every value and every shown text whether the text may stand for the value.

    ``domain`` are all values of the original, which decide how `intervals` are written. A value that its
    hierarchy does not know is covered by itself, by the root and by `*` alone.
    """
    found = np.zeros((len(values), len(shown)), dtype=bool)
    if isinstance(policy.attributes[name].hierarchy, Ranges):
        _cover_spans(values, shown, found)
    for i, labels in enumerate(_above(policy, name, values, shown, domain)):
        found[i, labels] = True
    return found


def labels_over(policy: Policy, name: str, values: Sequence[str], shown: Sequence[str]) -> list[list[int]]:
    """Return what ``covers`` does as lists: for every value the positions of the texts that may stand for it."""
    if isinstance(policy.attributes[name].hierarchy, Ranges):
        return [np.flatnonzero(line).tolist() for line in covers(policy, name, values, shown)]
    return _above(policy, name, values, shown, None)


def _above(
    policy: Policy, name: str, values: Sequence[str], shown: Sequence[str], domain: Sequence[str] | None
) -> list[list[int]]:
    """Return for every value the positions of itself, its ancestors and `*` among the shown texts."""
    position = {text: i for i, text in enumerate(shown)}
    if isinstance(policy.attributes[name].hierarchy, Ranges):
        above = [{value, STAR} for value in values]
    else:
        ways = policy.ways_up(name, domain or values)
        above = [{*ways.of(value), ways.root, STAR} for value in values]
    return [[position[label] for label in labels if label in position] for labels in above]


def _cover_spans(values: Sequence[str], shown: Sequence[str], found: Bools) -> None:
    numbers = sorted((number, i) for i, value in enumerate(values) if (number := parse_number(value)) is not None)
    keys = [number for number, _ in numbers]
    places = np.array([i for _, i in numbers], dtype=np.int64)
    for j, text in enumerate(shown):
        span = parse_span(text)
        if span is not None:
            found[places[bisect_left(keys, span[0]) : bisect_right(keys, span[1])], j] = True


# ---------------------------------------------------------------------------------------------- counting


@dataclass(frozen=True)
class Clue:
    """One attribute an attacker knows: the target's value, what each group shows, and which covers which.

    ``table`` has a row a value and a column a label; ``labels`` gives each group's label. Where a dependency
    narrows what a group can be, ``table`` has a column a group and ``labels`` counts them through.
    """

    values: Longs
    table: Bools
    labels: Longs


def matches(clues: Sequence[Clue], targets: int, weights: Floats) -> Floats:
    """Return for every target the sum of the weights of all groups that fit every clue.

    ``weights`` has a row a group; the result has a row a target. O(targets · groups · (clues + columns)).
    """
    groups = weights.shape[0]
    found = np.zeros((targets, weights.shape[1]))
    step = max(CHUNK // max(groups, 1), 1)
    exact = weights.sum(initial=0.0) < 2**24  # in single precision
    kind = np.float32 if exact else np.float64
    heavy: NDArray[Any] = weights.astype(kind)
    most = WIDEST // max(len(clues), 1)
    tables = [clue.table[:, clue.labels] if clue.table.shape[0] * groups <= most else None for clue in clues]
    for start in range(0, targets, step):
        part = slice(start, start + step)
        fits = np.ones((min(step, targets - start), groups), dtype=bool)
        for clue, table in zip(clues, tables, strict=True):
            values = clue.values[part]
            fits &= clue.table[values][:, clue.labels] if table is None else table[values]
        found[part] = fits.astype(kind) @ heavy
    return found
