"""Columns as codes: how many different tuples they have, and how nearly one follows from another."""

from __future__ import annotations

import numpy as np
import polars as pl

from kveil.arrays import Ints
from kveil.kernels.grouping.groups import group_rows
from kveil.table.columns import code_texts

PART = 20_000  # rows that are looked at first, where all of them are many
NEARLY = 0.05  # share of records that may stand against a rule that nearly holds
CHANCE = 0.2  # of the error that chance would leave: a rule that nearly holds leaves less than this part


class Columns:
    """Columns as codes, with the numbers of groups that were asked for before; missing is a value of its own."""

    def __init__(self, texts: pl.DataFrame) -> None:
        self.names = texts.columns
        self.rows = texts.height
        self.texts = texts
        self.codes = np.array([_codes(texts[name]) for name in self.names], dtype=np.int32).reshape(
            len(self.names), self.rows
        )
        self._known: dict[tuple[int, ...], int] = {(): min(self.rows, 1)}

    def groups(self, columns: tuple[int, ...]) -> int:
        """Return how many different tuples some columns have."""
        if columns not in self._known:
            self._known[columns] = len(group_rows(self.codes[list(columns)])[1])
        return self._known[columns]

    def follows(self, left: int, right: int) -> bool:
        """Tell whether a column always has one value where another has one: the rule left -> right."""
        values = int(self.codes[left].max(initial=0)) + 1
        for rows in (slice(0, PART), slice(None)):  # most rules that do not hold are refuted by a part
            some, other = self.codes[left, rows], self.codes[right, rows]
            last = np.empty(values, dtype=np.int32)
            last[some] = other
            if not np.array_equal(last[some], other):
                return False
        return True

    def error(self, left: int, right: int, *, shuffled: bool = False) -> float:
        """Return the share of records that would have to go for left -> right to hold (g3, Kivinen & Mannila 1995).

        ``shuffled``: the right column in an order of chance, for what the rule would leave if it told nothing. Of a
        long table an even part is looked at.
        """
        step = max(self.rows // PART, 1)
        some, other = self.codes[left, ::step].astype(np.int64), self.codes[right, ::step]
        if not len(some):
            return 0.0
        if shuffled:
            other = np.random.default_rng(0).permutation(other)
        pairs, records = np.unique(some * (int(other.max()) + 1) + other, return_counts=True)
        of = pairs // (int(other.max()) + 1)
        most = np.maximum.reduceat(records, np.flatnonzero(np.diff(of, prepend=-1)))
        return 1 - int(most.sum()) / len(some)

    def nearly_follows(self, left: int, right: int) -> bool:
        """Tell whether left -> right holds for nearly all records, and better than chance alone would have it.

        A column with a value per record tells every other one, and so does chance: that is no rule.
        """
        error = self.error(left, right)
        return error <= NEARLY and error < CHANCE * self.error(left, right, shuffled=True)


def _codes(texts: pl.Series) -> Ints:
    """Return a column as numbers; missing is a value of its own."""
    return code_texts(texts).codes + np.int32(1)
