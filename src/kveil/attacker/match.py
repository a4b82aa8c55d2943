"""How many rows fit what an attacker knows: columns as codes, groups of equal rows, clues, and counting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import polars as pl

from kveil.arrays import Bools, Floats, Longs, Words
from kveil.attacker.cover import Cover
from kveil.stopping import check_cancelled
from kveil.table.columns import code_texts

CHUNK = 8_000_000  # cells that are looked at at once, in bytes
MATCHED = 2_000_000  # bytes of bits that are matched at once: what stays close to the processor
WIDEST = 100_000_000  # bytes of bits of all clues together that are laid out over all groups beforehand
SPARSE = 64  # where fewer than one cell in so many fits, those that do are added up one by one
PACKED = 2**62  # keys of several columns in one number stay below this


@dataclass(frozen=True)
class CodedTexts:
    """A column as its distinct texts, sorted, and every row's position among them."""

    texts: list[str]
    codes: Longs

    def at(self, rows: Longs) -> CodedTexts:
        """Return the column at some rows, with only the texts that occur there."""
        codes = self.codes[rows]
        used = np.bincount(codes, minlength=len(self.texts)) > 0
        if used.all():
            return CodedTexts(self.texts, codes)
        return CodedTexts([self.texts[i] for i in np.flatnonzero(used).tolist()], (np.cumsum(used) - 1)[codes])


def code_column(column: pl.Series) -> CodedTexts:
    """Return a column of texts without nulls as codes."""
    found = code_texts(column)
    return CodedTexts(found.texts, found.codes.astype(np.int64))


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
    """Return the groups of equal rows, in the order of their codes; O(rows log rows) time.

    `group_rows` would be faster, but numbers groups by hashes, and sums of shares over groups would follow that order.
    """
    key = np.zeros(rows, dtype=np.int64)
    span = 1
    for column in columns:
        if span * len(column.texts) > PACKED:  # every key so far gets a number of its own
            used, key = np.unique(key, return_inverse=True)
            key, span = key.reshape(-1), len(used)
        key = key * len(column.texts) + column.codes
        span *= len(column.texts)
    used, member = np.unique(key, return_inverse=True)
    member = member.reshape(-1)
    first = np.empty(len(used), dtype=np.int64)
    first[member[::-1]] = np.arange(rows - 1, -1, -1)  # of equal rows the first is written last
    return EqualRows(member, first, np.bincount(member, minlength=len(first)).astype(np.int64))


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

    ``weights``, whole numbers, has a row per group; the result has a row per one asked for. Which groups fit is kept
    as a bit per group. O(asked · groups · clues / 64) steps and what fits, O(groups) memory beyond fixed limits.
    """
    groups = weights.shape[0]
    sums = np.zeros((asked, weights.shape[1]))
    if not groups or not asked:
        return sums
    words = -(-groups // 64)
    most = WIDEST // max(len(clues), 1)
    laid = [_bits(clue, np.arange(clue.kinds), words) if clue.kinds * words * 8 <= most else None for clue in clues]
    everything = _packed(np.ones((1, groups), dtype=bool))
    step = max(MATCHED // (words * 8), 1)
    for start in range(0, asked, step):
        check_cancelled()
        part = slice(start, start + step)
        fits = np.repeat(everything, min(step, asked - start), axis=0)
        for clue, bits in zip(clues, laid, strict=True):
            values = clue.values[part]
            fits &= _bits(clue, values, words) if bits is None else bits[values]
        sums[part] = _fitting(fits, weights)
    return sums


def _packed(fits: Bools) -> Words:
    """Return a bit per group; those beyond the last group are not set."""
    bits = np.packbits(fits, axis=1)
    whole = np.zeros((len(bits), -(-bits.shape[1] // 8) * 8), dtype=np.uint8)
    whole[:, : bits.shape[1]] = bits
    return whole.view(np.uint64)


def _bits(clue: Clue, values: Longs, words: int) -> Words:
    """Return which groups some values fit, in so many words of a bit per group."""
    bits = np.zeros((len(values), words), dtype=np.uint64)
    step = max(CHUNK // (words * 64), 1)
    for start in range(0, len(values), step):
        check_cancelled()
        bits[start : start + step] = _packed(clue.table(values[start : start + step]))
    return bits


def _fitting(fits: Words, weights: Floats) -> Floats:
    """Return for every row of bits the sum of the weights of those that are set."""
    groups = weights.shape[0]
    row, word = np.nonzero(fits != 0)
    if len(row) * SPARSE > fits.size * 8:
        exact = weights.sum(initial=0.0) < 2**24  # in single precision
        kind = np.float32 if exact else np.float64
        whole: Floats = np.unpackbits(fits.view(np.uint8), axis=1, count=groups).astype(kind) @ weights.astype(kind)
        return whole
    at, bit = np.nonzero(np.unpackbits(fits[row, word][:, None].view(np.uint8), axis=1))
    of_row, group = row[at], word[at] * 64 + bit
    sums = [np.bincount(of_row, weights=own[group], minlength=len(fits)) for own in weights.T]
    return np.stack(sums, axis=1)
