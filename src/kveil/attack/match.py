"""How many rows fit what an attacker knows: columns as codes, groups of equal rows, clues, and counting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kveil.arrays import Bools, Floats, Longs
from kveil.attack.cover import Cover
from kveil.table.columns import codes_among

CHUNK = 8_000_000  # cells that are matched at once, in bytes
WIDEST = 200_000_000  # cells of all clues together that are laid out over all groups beforehand


@dataclass(frozen=True)
class CodedTexts:
    """A column as its distinct texts, sorted, and every row's position among them."""

    texts: list[str]
    codes: Longs

    def at(self, rows: Longs) -> CodedTexts:
        """Return the column at some rows, with only the texts that occur there."""
        used, codes = np.unique(self.codes[rows], return_inverse=True)
        return CodedTexts([self.texts[i] for i in used.tolist()], codes.reshape(-1).astype(np.int64))


def coded(column: pl.Series) -> CodedTexts:
    """Return a column of texts without nulls as codes."""
    texts = column.unique().sort().to_list()
    return CodedTexts(texts, codes_among(column, texts).astype(np.int64))


@dataclass(frozen=True)
class EqualRows:
    """Rows grouped by equal codes: every row's group, and for every group its first row and its size."""

    member: Longs
    first: Longs
    sizes: Longs

    @property
    def own(self) -> Longs:
        """The size of every row's own group."""
        return self.sizes[self.member]


def group(columns: Sequence[CodedTexts], rows: int) -> EqualRows:
    """Return the groups of equal rows; O(rows log rows) per column."""
    key = np.zeros(rows, dtype=np.int64)
    first = np.zeros(min(rows, 1), dtype=np.int64)
    for column in columns:
        _, first, key = np.unique(key * len(column.texts) + column.codes, return_index=True, return_inverse=True)
        key = key.reshape(-1)
    return EqualRows(key, first, np.bincount(key, minlength=len(first)).astype(np.int64))


class Clue(Protocol):
    """One thing that an attacker knows of each target, and which groups of rows it fits.

    Targets with equal knowledge are asked for once; ``values`` gives the value that each of those asked for has of the
    ``kinds`` there are.
    """

    @property
    def kinds(self) -> int:
        """How many different values there are."""

    @property
    def values(self) -> Longs:
        """The value of each one asked for."""

    def table(self, values: Longs) -> Bools:
        """Return which groups some values fit: a row per value, a column per group."""

    def own(self, values: Longs, groups: Longs) -> Bools:
        """Return for pairs of a value and a group whether they fit."""


@dataclass(frozen=True)
class KnownValue:
    """The target's value of an attribute is known; a group fits where what it shows may stand for the value."""

    cover: Cover
    values: Longs
    texts: Longs  # what each group shows

    @property
    def kinds(self) -> int:
        """How many different values there are."""
        return self.cover.values

    def table(self, values: Longs) -> Bools:
        """Return which groups some values fit."""
        return self.cover.of_values(values)[:, self.texts]

    def own(self, values: Longs, groups: Longs) -> Bools:
        """Return for pairs of a value and a group whether they fit."""
        return self.cover.of_pairs(values, self.texts[groups])


@dataclass(frozen=True)
class ShownText:
    """The other way round: a released row shows a text, and groups of original rows with one value may be meant."""

    cover: Cover
    values: Longs  # the texts, by position, that are asked for
    originals: Longs  # the value of each group

    @property
    def kinds(self) -> int:
        """How many different texts there are."""
        return self.cover.texts

    def table(self, values: Longs) -> Bools:
        """Return which groups some texts fit."""
        return self.cover.of_texts(values)[:, self.originals]

    def own(self, values: Longs, groups: Longs) -> Bools:
        """Return for pairs of a text and a group whether they fit."""
        return self.cover.of_pairs(self.originals[groups], values)


def matches(clues: Sequence[Clue], asked: int, weights: Floats) -> Floats:
    """Return for everyone asked for the sum of the weights of all groups that fit every clue.

    ``weights`` has a row per group; the result has a row per one asked for. O(asked · groups · (clues + columns)) time,
    O(groups) memory beyond fixed limits.
    """
    groups = weights.shape[0]
    sums = np.zeros((asked, weights.shape[1]))
    step = max(CHUNK // max(groups, 1), 1)
    exact = weights.sum(initial=0.0) < 2**24  # in single precision
    kind = np.float32 if exact else np.float64
    heavy: NDArray[Any] = weights.astype(kind)
    most = WIDEST // max(len(clues), 1)
    laid = [clue.table(np.arange(clue.kinds)) if clue.kinds * groups <= most else None for clue in clues]
    for start in range(0, asked, step):
        part = slice(start, start + step)
        fits = np.ones((min(step, asked - start), groups), dtype=bool)
        for clue, table in zip(clues, laid, strict=True):
            values = clue.values[part]
            fits &= clue.table(values) if table is None else table[values]
        sums[part] = fits.astype(kind) @ heavy
    return sums
