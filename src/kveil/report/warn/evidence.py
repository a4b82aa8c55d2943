"""What the owner's warnings are reckoned on: the release and the original, row beside row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from kveil.arrays import Bools, Ints, Longs
from kveil.attacker.match import EqualRows, code_column
from kveil.files import Source
from kveil.kernels.grouping.equal_rows import add_up, group_rows
from kveil.policy.attributes import STAR
from kveil.policy.model import Policy
from kveil.verifier.alignment import Aligned
from kveil.verifier.rows import ITEM, ROW, Rows, released_texts


@dataclass(frozen=True)
class ShownColumn:
    """What a column shows: its different texts, sorted, and every row's place among them."""

    texts: list[str]
    codes: Ints


@dataclass(frozen=True)
class Evidence:
    """A release beside its original.

    Rows are records, or persons where the policy names individuals; ``places`` gives the original's row of every
    released one, ``first`` the first record of every row of the original.
    """

    policy: Policy
    original: Source
    released: Source
    rows: Rows
    shown: Longs  # the released rows that show something, by position
    places: Longs
    _: KW_ONLY
    first: Longs
    times: Longs | None = None  # how many records each row shown stands for, where that is not one
    original_times: Longs | None = None  # the same of the original's rows
    of_record: Ints | None = None  # and the row of every record there
    _coded: dict[str, ShownColumn] = field(default_factory=dict)

    @cached_property
    def records(self) -> Longs:
        """The first record, in the original, of every row that is released and shows something."""
        return np.asarray(self.first[self.places[self.shown]])

    def column(self, name: str) -> ShownColumn:
        """Return what the rows show in a released column, as codes."""
        if name not in self._coded:
            texts = self.rows.texts
            if name in texts.columns:
                column = texts[name]
            else:
                column = released_texts(self.released, self.policy, name, stars=True).gather(self.rows.source)
            here = code_column(column).at(self.shown)
            self._coded[name] = ShownColumn(here.texts, here.codes.astype(np.int32))
        return self._coded[name]

    def groups(self, names: Sequence[str]) -> EqualRows:
        """Return the groups of rows that show the same in some columns."""
        member: Ints = np.zeros(len(self.shown), dtype=np.int32)
        first: Ints = np.zeros(min(len(member), 1), dtype=np.int32)
        for name in names:  # one after another, so that never all of them lie side by side
            member, first = group_rows(np.array([member, self.column(name).codes], dtype=np.int32))
        sizes = self.tally(member, len(first))
        return EqualRows(member.astype(np.int64), first.astype(np.int64), sizes)

    def tally(self, codes: Ints | Longs, number: int) -> Longs:
        """Return how many records, of the rows shown, have each code."""
        if self.times is None:
            return np.bincount(codes, minlength=number).astype(np.int64)
        return add_up(codes.astype(np.int32), self.times, number)

    def count(self, chosen: Bools) -> int:
        """Return how many records some of the rows shown stand for."""
        return int(np.count_nonzero(chosen) if self.times is None else self.times[chosen].sum())

    @property
    def number(self) -> int:
        """How many records, or people, show something."""
        return len(self.shown) if self.times is None else int(self.times.sum())

    def items(self, name: str) -> pl.DataFrame:
        """Return what the rows show of a sensitive attribute: the row, by its place among those shown, and a value.

        What tells nothing is left out: missing, and the root of its hierarchy.
        """
        fixed = self.policy.fixed_lines(name)
        nothing = [*self.policy.data.missing, STAR, *([] if fixed is None else [fixed.root])]
        known = pl.col(ITEM).is_not_null() & ~pl.col(ITEM).is_in(nothing)
        row = np.arange(len(self.shown), dtype=np.int64)
        if not self.rows.persons:  # a record has one value
            texts = released_texts(self.released, self.policy, name, stars=True).gather(self.rows.source[self.shown])
            return pl.DataFrame({"row": row, ITEM: texts}).filter(known).rename({ITEM: "value"})
        place: Longs = np.full(self.rows.height, -1, dtype=np.int64)
        place[self.shown] = row
        pairs = self.rows.items[name]
        pairs = pairs.with_columns(pl.Series("row", place[pairs[ROW].to_numpy()]))
        return pairs.filter(known & (pl.col("row") >= 0)).select("row", pl.col(ITEM).alias("value"))


def evidence_of(policy: Policy, aligned: Aligned, *, of_record: Ints | None = None) -> Evidence:
    """Return what warnings are reckoned on, of a release that lies beside its original.

    ``of_record`` gives the row of every record of the original, where rows stand for several.
    """
    rows = aligned.rows
    stars = rows.only_stars.to_numpy()
    shown = np.flatnonzero(~stars) if not stars.all() else np.arange(rows.height)
    times = None if rows.times is None else rows.times[shown]
    return Evidence(
        policy,
        aligned.original,
        aligned.release,
        rows,
        shown.astype(np.int64, copy=False),
        aligned.places,
        first=aligned.before.source,
        times=times,
        original_times=aligned.before.times,
        of_record=of_record,
    )
