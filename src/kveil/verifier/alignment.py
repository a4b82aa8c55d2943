"""A release beside its original: what the checks ask of the two together.

They ask for pairs of an original text and what is shown for it, with how often each occurs, and hardly ever for one
record beside its own row. So whoever can count such pairs can answer, too: see `counts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Protocol

import numpy as np
import polars as pl

from kveil.arrays import Bools, Longs
from kveil.files import Source
from kveil.policy.attributes import STAR, Intervals
from kveil.policy.model import Policy
from kveil.verifier.rows import ITEM, ROW, TIMES, Rows, is_text, released_texts
from kveil.verifier.stars import Stars

WAS, SHOWN, STARRED, CELLS = "was", "shown", "star", "len"
VALUE, PEOPLE = "value", "people"
MOST_COUNTS = 4_000_000  # of pairs that there could be: beyond, those that there are are looked for
MOST_TOGETHER = 16  # columns whose pairs are counted at a time: Polars compares the plans of all of them pair by pair
PAIRS = {WAS: pl.String, SHOWN: pl.String, STARRED: pl.Boolean, CELLS: pl.UInt32}


@dataclass(frozen=True)
class GeneralizedColumn:
    """A quasi-identifier: which rows show stars in its component, its ``pairs``, and the original's ``values``.

    ``pairs`` are distinct: the original's text, what is shown, whether the row is one of stars, and how many records
    are so. Pairs that need no judgement may be absent.
    """

    name: str
    star: pl.Series
    pairs: pl.DataFrame
    values: pl.Series


@dataclass(frozen=True)
class KeptCells:
    """Cells that must be as they were, beside those of the original, typed as their tables have them.

    ``rows`` gives the released row of each pair, -1 where nobody needs it; ``times`` says how many cells are so,
    None where that is one each. ``two_ways`` says whether the released column writes missing both as no value and as a
    text; None where these cells are the whole column, which tells that itself.
    """

    was: pl.Series
    shown: pl.Series
    rows: Longs
    times: Longs | None
    two_ways: bool | None = None

    def count(self, chosen: pl.Series) -> int:
        """Return how many cells some pairs stand for."""
        return int(chosen.sum()) if self.times is None else int(self.times[chosen.to_numpy()].sum())


class BesideOriginal(Protocol):
    """What the checks ask of a release and its original together.

    ``before`` are the rows of the original, with the items they had; ``places`` gives each released row's row there.
    """

    @property
    def rows(self) -> Rows:
        """The rows of the release."""

    @property
    def before(self) -> Rows:
        """The rows of the original."""

    @property
    def places(self) -> Longs:
        """The row of the original that each row of the release shows."""

    def generalized(self, policy: Policy, stars: Stars) -> Iterable[GeneralizedColumn]:
        """Return every quasi-identifier with its pairs."""

    def starred_with(self, name: str, star: pl.Series, values: Iterable[str]) -> Bools:
        """Return which of the starred rows, of records, had one of some values of an attribute."""

    def people_with(self, policy: Policy, name: str, values: set[str]) -> pl.DataFrame:
        """Return how many ``people`` of the original have each ``value`` of some, of those that anybody has."""

    def different(self, policy: Policy, name: str) -> list[str]:
        """Return the different values that the original has of an attribute."""

    def images(self, policy: Policy, names: Sequence[str]) -> pl.DataFrame:
        """Return the different combinations that the original has in some columns, as texts."""

    def items_released(self, name: str) -> list[str]:
        """Return the different values of a sensitive attribute that released persons have, those starred left out."""

    def original_cells(self, name: str) -> pl.Series:
        """Return the original's cells of a column, typed, or the different ones."""

    def kept(self, policy: Policy, name: str) -> KeptCells:
        """Return the cells of a column that is released unchanged, beside the original's."""


@dataclass(frozen=True)
class Asked:
    """Which cells are asked about: `*` unless it is ``free``, values that show ``themselves`` or not."""

    free: bool
    themselves: bool

    @classmethod
    def of(cls, policy: Policy, name: str) -> Asked:
        """Return which cells of an attribute need a judgement, or say how others are written."""
        return cls(star_is_free(policy, name), isinstance(policy.attributes[name].hierarchy, Intervals))

    def cells(self) -> pl.Expr:
        """Return which pairs of an original and a shown text are asked about, rows of stars aside."""
        cells = pl.lit(self.themselves) | (pl.col(SHOWN) != pl.col(WAS))
        return cells & (pl.col(SHOWN) != STAR) if self.free else cells


def star_is_free(policy: Policy, name: str) -> bool:
    """Tell whether `*` is true of every value of an attribute, and within its boundary since it has none."""
    lines = policy.fixed_lines(name)
    return policy.attributes[name].boundary is None and (lines is None or lines.root == STAR)


@dataclass(frozen=True)
class Aligned:
    """A release beside its original, row by row.

    ``places`` gives each released row's row among the rows ``before``. ``records`` are the original's records of
    released rows, ``row_of`` the released row of each, None where these are the rows in order.
    """

    release: Source
    rows: Rows
    original: Source
    before: Rows
    places: Longs
    records: Longs
    _: KW_ONLY
    row_of: Longs | None

    @classmethod
    def of(cls, release: Source, rows: Rows, original: Source, before: Rows, places: Longs) -> Aligned:
        """Lay a release beside its original."""
        records, row_of = _record_alignment(before, places)
        return cls(release, rows, original, before, places, records, row_of=row_of)

    def record_texts(self, policy: Policy, name: str) -> pl.Series:
        """Return a quasi-identifier of the original's records; of persons, the rows have those of one record alone."""
        return released_texts(self.original, policy, name) if self.before.persons else self.before.texts[name]

    def generalized(self, policy: Policy, stars: Stars) -> Iterator[GeneralizedColumn]:
        originals = {name: self.record_texts(policy, name) for name in policy.quasi_identifiers}
        owned = list(stars.by_attribute())
        intervals = [name for name, _ in owned if isinstance(policy.attributes[name].hierarchy, Intervals)]
        distinct = {name: _different(originals[name]) for name in intervals}
        for first in range(0, len(owned), MOST_TOGETHER):
            some = owned[first : first + MOST_TOGETHER]
            plans = [self._pairs(originals[n], self.rows.texts[n], star, Asked.of(policy, n)) for n, star in some]
            counted = pl.collect_all(plans)
            for (name, star), pairs in zip(some, counted, strict=True):
                yield GeneralizedColumn(name, star, pairs, distinct.get(name, originals[name]))

    def _pairs(self, was: pl.Series, shown: pl.Series, star: pl.Series, asked: Asked) -> pl.LazyFrame:
        """Return the distinct pairs (original, shown) of an attribute with how many records have each."""
        if asked.free and not star.any() and is_text(shown, STAR).all():
            return pl.LazyFrame(schema=PAIRS)
        if self.row_of is not None:
            shown, star = shown.gather(self.row_of), star.gather(self.row_of)
        if isinstance(was.dtype, pl.Categorical) and isinstance(shown.dtype, pl.Categorical):
            counted = self._counted(was, shown, star)
            if counted is not None:
                return counted.filter(asked.cells() | pl.col(STARRED)).select(*PAIRS).lazy()
        frame = pl.LazyFrame({WAS: was}).select(pl.col(WAS).gather(pl.Series(self.records)))
        frame = frame.with_columns(shown.alias(SHOWN), *self._times())
        number = pl.len() if self.rows.times is None else pl.col(TIMES).sum().cast(pl.UInt64)
        if was.dtype != shown.dtype:  # categories of their own: compared by what they mean, once pairs are counted
            frame = frame.with_columns(star.alias(STARRED)).group_by(WAS, SHOWN, STARRED).agg(number.alias(CELLS))
            frame = frame.with_columns(pl.col(WAS, SHOWN).cast(pl.String))
            return frame.filter(asked.cells() | pl.col(STARRED)).select(*PAIRS)
        cells = asked.cells()
        if star.any():
            frame = frame.with_columns(star.alias(STARRED)).filter(cells | pl.col(STARRED))
            return frame.group_by(WAS, SHOWN, STARRED).agg(number.alias(CELLS))
        frame = frame.filter(cells).group_by(WAS, SHOWN).agg(number.alias(CELLS))
        return frame.select(WAS, SHOWN, pl.lit(False).alias(STARRED), CELLS)

    def _counted(self, was: pl.Series, shown: pl.Series, star: pl.Series) -> pl.DataFrame | None:
        """Return the distinct pairs of categories, by a count for each that there could be; None if these are many."""
        before, after = was.to_physical(), shown.to_physical()
        values, labels = _categories_of(before), _categories_of(after)
        if was.null_count() or shown.null_count() or 2 * values * labels > MOST_COUNTS:
            return None
        pair = np.take(before.to_numpy(), self.records).astype(np.int64)
        pair *= labels
        pair += after.to_numpy()
        if star.any():
            pair += star.to_numpy().astype(np.int64) * (values * labels)
        cells = np.bincount(pair, self.rows.times)  # sums of whole numbers, exact below 2⁵³
        found = np.flatnonzero(cells)
        starred, pair = np.divmod(found, values * labels)
        return pl.DataFrame(
            {
                WAS: pl.Series(pair // labels, dtype=before.dtype).cat.to(was.dtype).cast(pl.String),
                SHOWN: pl.Series(pair % labels, dtype=after.dtype).cat.to(shown.dtype).cast(pl.String),
                STARRED: starred.astype(bool),
                CELLS: cells[found].astype(np.int64),
            }
        )

    def _times(self) -> list[pl.Series]:
        """Return how many records each pair of a released and an original row stands for, where that is not one."""
        return [] if self.rows.times is None else [pl.Series(TIMES, self.rows.times)]

    def starred_with(self, name: str, star: pl.Series, values: Iterable[str]) -> Bools:
        value = self.before.texts[name].gather(self.places)
        return (star & value.is_in(list(values))).to_numpy()

    def people_with(self, policy: Policy, name: str, values: set[str]) -> pl.DataFrame:
        if name in self.before.items:
            chosen = self.before.items[name].filter(pl.col(ITEM).is_in(values))
            people = self.before.tally(chosen, [ITEM], PEOPLE, rows=chosen[ROW].to_numpy())
            return people.rename({ITEM: VALUE})
        texts = self.record_texts(policy, name).to_frame(VALUE)
        chosen = texts.with_columns(pl.Series(ROW, self.before.row_of)).filter(pl.col(VALUE).is_in(values))
        if self.before.persons:  # somebody has every value that one of the records has
            chosen = chosen.unique()
        return self.before.tally(chosen, [VALUE], PEOPLE, rows=chosen[ROW].to_numpy())

    def different(self, policy: Policy, name: str) -> list[str]:
        texts = self.before.items[name][ITEM] if name in self.before.items else self.record_texts(policy, name)
        return texts.unique().to_list()

    def images(self, policy: Policy, names: Sequence[str]) -> pl.DataFrame:
        known = pl.DataFrame({name: released_texts(self.original, policy, name) for name in names})
        return known.cast(pl.String).unique()

    def items_released(self, name: str) -> list[str]:
        here = np.zeros(self.before.height, dtype=bool)
        here[self.places[~self.rows.starred.to_numpy()]] = True
        pairs = self.before.items[name]
        items = pairs[ITEM] if here.all() else pairs[ITEM].filter(pl.Series(here[pairs[ROW].to_numpy()]))
        return items.unique().drop_nulls().sort().to_list()

    def original_cells(self, name: str) -> pl.Series:
        return self.original.column(name)

    def kept(self, policy: Policy, name: str) -> KeptCells:
        was = self.original.column(name).gather(self.before.source[self.places])
        shown = self.release.column(name).gather(self.rows.source)
        return KeptCells(was, shown, np.arange(self.rows.height), self.rows.times)


def _categories_of(numbers: pl.Series) -> int:
    """Return how many categories a column may have, by their numbers."""
    most = numbers.max()
    return most + 1 if isinstance(most, int) else 1


def _different(texts: pl.Series) -> pl.Series:
    """Return the different texts of a column; of categories by a place for each number."""
    if not isinstance(texts.dtype, pl.Categorical) or texts.null_count():
        return texts.unique()
    numbers = texts.to_physical()
    there = np.zeros(_categories_of(numbers), dtype=bool)
    there[numbers.to_numpy()] = True
    return pl.Series(np.flatnonzero(there), dtype=numbers.dtype).cat.to(texts.dtype)


def _record_alignment(before: Rows, places: Longs) -> tuple[Longs, Longs | None]:
    """Return the records to compare and the released row of each, None where they are the rows in order."""
    if not before.persons:
        return places, None
    row_of = np.full(before.height, -1, dtype=np.int64)
    row_of[places] = np.arange(len(places))
    records = np.flatnonzero(row_of[before.row_of] >= 0)
    return records, row_of[before.row_of[records]]
