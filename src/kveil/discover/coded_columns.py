"""Columns as codes: how many different tuples they have, and how nearly one follows from another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import polars as pl

from kveil.arrays import Ints, Longs
from kveil.kernels.grouping.equal_rows import add_up, group_rows
from kveil.stopping import check_cancelled
from kveil.table.columns import code_texts

CELLS = 4_000_000  # pairs of values that are counted in a table of their own
FIRST_ROWS = 20_000  # rows that are looked at first, where all of them are many
NEARLY = 0.05  # share of records that may stand against a rule that nearly holds
CHANCE = 0.2  # of the error that chance would leave: a rule that nearly holds leaves less than this part


class Columns:
    """Columns as codes, with the numbers of groups that were asked for before; missing is a value of its own.

    Where rows stand for several records, ``times`` says for how many, and ``of_record`` gives the row of every record.
    """

    def __init__(
        self,
        texts: pl.DataFrame,
        *,
        codes: Ints | None = None,
        times: Longs | None = None,
        of_record: Ints | None = None,
    ) -> None:
        self.names = texts.columns
        self.rows = texts.height
        self.texts = texts
        if codes is None:
            codes = np.array([_codes(texts[name]) for name in self.names], dtype=np.int32)
        self.codes = codes.reshape(len(self.names), self.rows)
        self.times, self.of_record = times, of_record
        self._known: dict[tuple[int, ...], int] = {}

    def only(self, names: Sequence[str]) -> Columns:
        """Return some of the columns."""
        return Columns(self.texts.select(names), codes=self.codes[[self.names.index(name) for name in names]])

    @cached_property
    def distinct(self) -> Ints:
        """The codes of the distinct rows, of which a long table may have few."""
        first = group_rows(self.codes)[1]
        return self.codes if len(first) == self.rows else np.take(self.codes, first, axis=1)

    @cached_property
    def part(self) -> Ints:
        """The codes of an even part of the distinct rows, where these are many."""
        step = max(self.distinct.shape[1] // FIRST_ROWS, 1)
        return self.distinct if step == 1 else np.ascontiguousarray(self.distinct[:, ::step])

    def groups(self, columns: tuple[int, ...]) -> int:
        """Return how many different tuples some columns have."""
        if columns not in self._known:
            self._known[columns] = self._groups(self.distinct, columns)
        return self._known[columns]

    def tell_apart(self, columns: tuple[int, ...]) -> bool:
        """Tell whether some columns tell all distinct rows apart; where they do not, a part often shows it."""
        part, whole = self.part.shape[1], self.distinct.shape[1]
        return self._groups(self.part, columns) == part and (part == whole or self.groups(columns) == whole)

    def determine(self, left: tuple[int, ...], right: int) -> bool:
        """Tell whether some columns determine another one; where they do not, a part often shows it."""
        both = tuple(sorted((*left, right)))
        if self.part is not self.distinct and self._groups(self.part, left) != self._groups(self.part, both):
            return False
        return self.groups(left) == self.groups(both)

    @staticmethod
    def _groups(codes: Ints, columns: tuple[int, ...]) -> int:
        if len(columns) == 1:
            return int(np.count_nonzero(np.bincount(codes[columns[0]])))
        return len(group_rows(codes[list(columns)])[1])

    def follows(self, left: int, right: int) -> bool:
        """Tell whether a column always has one value where another has one: the rule left -> right."""
        check_cancelled()
        values = int(self.codes[left].max(initial=0)) + 1
        for rows in (slice(0, FIRST_ROWS), slice(None)):  # most rules that do not hold are refuted by a part
            some, other = self.codes[left, rows], self.codes[right, rows]
            last = np.empty(values, dtype=np.int32)
            last[some] = other
            if not np.array_equal(last[some], other):
                return False
        return True

    def error(self, left: int, right: int) -> float:
        """Return the share of records that must go for left -> right to hold (g3 of Kivinen and Mannila 1995)."""
        return _error(self.codes[left], self.codes[right], times=self.times)

    def right_guesses(self, left: int, right: int) -> int:
        """Return of how many records the most frequent value of one column beside their value of another is theirs."""
        records = self.rows if self.times is None else int(self.times.sum())
        return records - round(self.error(left, right) * records)

    def spread(self, column: int, other: int) -> tuple[int, int]:
        """Return beside how many values of another column each value of a column stands: the fewest and the most."""
        pairs = group_rows(self.codes[[column, other]])[1]
        values = np.bincount(self.codes[column, pairs])
        values = values[values > 0]
        return int(values.min()), int(values.max())

    def nearly_follows(self, left: int, right: int) -> bool:
        """Tell whether left -> right holds for nearly all records, and better than chance alone would have it.

        A column with a value per record tells every other one, and so does chance: that is no rule. The order of the
        rows does not matter; most rules of a long table that do not hold are refuted by an even part of it, in which
        a rule leaves no larger an error than in the whole, but for chance.
        """
        step = max((self.rows if self.of_record is None else len(self.of_record)) // FIRST_ROWS, 1)
        some = slice(None, None, step) if self.of_record is None else self.of_record[::step]
        if step > 1 and _error(self.codes[left, some], self.codes[right, some]) > 2 * NEARLY:
            return False
        error = self.error(left, right)
        return error <= NEARLY and error < CHANCE * self._chance_error(left, right)

    def _chance_error(self, left: int, right: int) -> float:
        """Return the error of left -> right if the same values stood beside each other by chance."""
        by_size = [np.sort(self._sizes(column)) for column in (left, right)]
        some, other = (np.repeat(np.arange(len(sizes), dtype=np.int32), sizes) for sizes in by_size)
        return _error(some, np.random.default_rng(0).permutation(other))

    def _sizes(self, column: int) -> Longs:
        """Return how many records have each value of a column."""
        if self.times is None:
            return np.bincount(self.codes[column])
        return add_up(self.codes[column], self.times, int(self.codes[column].max(initial=-1)) + 1)


def _error(left: Ints, right: Ints, *, times: Longs | None = None) -> float:
    if not len(left):
        return 0.0
    if times is not None:
        return _weighted_error(left, right, times)
    values = int(right.max()) + 1
    pairs = left.astype(np.int64) * values + right
    if (int(left.max()) + 1) * values <= CELLS:
        most = np.bincount(pairs, minlength=(int(left.max()) + 1) * values).reshape(-1, values).max(axis=1)
    else:
        different, records = np.unique(pairs, return_counts=True)
        most = np.maximum.reduceat(records, np.flatnonzero(np.diff(different // values, prepend=-1)))
    return 1 - int(most.sum()) / len(left)


def _weighted_error(left: Ints, right: Ints, times: Longs) -> float:
    """Return the same error where every row stands for several records."""
    pair, first = group_rows(np.array([left, right], dtype=np.int32))
    records = add_up(pair, times, len(first))
    most = np.zeros(int(left.max()) + 1, dtype=np.int64)
    np.maximum.at(most, left[first], records)
    return 1 - int(most.sum()) / int(times.sum())


def _codes(texts: pl.Series) -> Ints:
    """Return a column as numbers; missing is a value of its own."""
    return code_texts(texts).codes + np.int32(1)
