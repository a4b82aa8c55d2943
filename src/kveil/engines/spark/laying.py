"""The join of a release with its original, on the driver: tuples with counts, a slice at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from kveil.arrays import Bools, Longs
from kveil.engines.spark.driver_tuples import CountedTuples, count_different_rows, in_slices, one_by_one, records_at
from kveil.engines.spark.showing import CLASS, Joined
from kveil.engines.spark.units import Units, hash_number
from kveil.files import as_texts, frame_of
from kveil.policy.model import Policy
from kveil.table.sensitive import error_of_change
from kveil.verifier.counts import Questions

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

PERSON_COLUMN = "\0person"


@dataclass(frozen=True)
class LaidTuples:
    """A slice of the join: original cells of tuples, and what they show, under the names of the policy.

    ``records`` has the original cells of each record, ``tuple_of`` the tuple that each record is one of. ``classes``
    number what tuples show in the ``made`` columns, where that is known.
    """

    units: Units
    records: pl.DataFrame
    tuple_of: Longs
    shown: pl.DataFrame
    half: Mapping[str, pl.Series]
    released: Bools
    _: KW_ONLY
    counted: CountedTuples
    classes: Longs | None = None
    made: tuple[str, ...] = ()

    @classmethod
    def of(cls, joined: Joined, counted: CountedTuples, half: Sequence[str]) -> LaidTuples:
        """Lay out counted rows of a join."""
        units = joined.units
        number = len(counted.times)
        records, tuple_of = records_at(units, counted, np.arange(number))
        classes = counted.column(CLASS)
        if classes.null_count():
            raise error_of_change(units.table.name)
        names = [*joined.made, *(name for name in units.named if name not in joined.made)]
        shown = {
            name: records[name]
            if name not in joined.made and not units.individuals
            else counted.column(joined.shown(name))
            for name in names
            if name in joined.made or not units.individuals or name in units.constant
        }
        apart = {name: counted.column(f"h{units.table.place(name)}") for name in half}
        released = (classes >= 0).to_numpy()
        cells = frame_of(column.alias(name) for name, column in shown.items())
        return cls(units, records, tuple_of, cells, apart, released, counted=counted)

    def had(self, policy: Policy, name: str) -> pl.Series:
        """Return the original cell of every tuple, or the set of an individual's cells, without missing ones."""
        if not self.units.individuals:
            return self.records[name]
        if name in self.units.constant:
            return self.shown[name]
        cells = pl.DataFrame({PERSON_COLUMN: self.tuple_of, name: self.records[name]})
        missing = as_texts(cells[name]).is_in(list(policy.data.missing)).fill_null(value=True)
        sets = cells.filter(~missing).unique(maintain_order=True).group_by(PERSON_COLUMN, maintain_order=True).agg(name)
        everyone = pl.DataFrame({PERSON_COLUMN: np.arange(len(self.released))})
        own = everyone.join(sets, on=PERSON_COLUMN, how="left", maintain_order="left")[name]
        return own.fill_null(pl.Series([[]], dtype=own.dtype))

    def stars(self, names: Sequence[str], asked: Questions) -> Bools:
        """Return which tuples show stars in all of some quasi-identifiers."""
        every = np.ones(len(self.released), dtype=bool)
        for name in names:
            every &= self.shown[name].is_in(asked.star_texts, nulls_equal=True).fill_null(value=False).to_numpy()
        return every


def lay_slices(
    joined: Joined, policy: Policy, asked: Questions, *, names: Sequence[str], number: int
) -> Iterator[LaidTuples]:
    """Bring the join to the driver; ``number`` is about how many tuples there are."""
    rows = rows_of_join(joined, policy, asked, names=names)
    for part in in_slices(rows.frame, rows.keys, number, "compare the release"):
        yield rows.laid(part)


@dataclass(frozen=True)
class JoinRows:
    """What is counted of a join: ``frame`` has its ``keys`` with counts and sums.

    Of the columns called ``half`` only cells where rows show stars are among them.
    """

    joined: Joined
    frame: DataFrame
    keys: list[str]
    half: list[str]

    def laid(self, counted: CountedTuples) -> LaidTuples:
        """Lay out what came of it to the driver."""
        return LaidTuples.of(self.joined, counted, self.half)


def rows_of_join(
    joined: Joined, policy: Policy, asked: Questions, *, names: Sequence[str], beside: Sequence[str] = ()
) -> JoinRows:
    """Return original cells and what they show, with counts, and two sums of hashes.

    The first sum is of all units as the original has them, the second of the released columns, called ``names``, as
    they are shown. Columns ``beside`` stay with the rows.
    """
    from pyspark.sql import functions as f

    units = joined.units
    frame, half = with_halves(joined, joined.frame, policy, asked)
    shown = f.when(f.col(CLASS) >= 0, hash_number([joined.shown(name) for name in names]))
    extra = [*map(units.table.place, units.constant), *(f"h{units.table.place(name)}" for name in half)]
    keys = [*units.keys, *map(joined.shown, joined.made), *extra, CLASS]
    counted = one_by_one if joined.counted else count_different_rows
    return JoinRows(joined, counted(frame, [*beside, *keys], [units.hashed(), shown]), keys, half)


def with_halves(joined: Joined, frame: DataFrame, policy: Policy, asked: Questions) -> tuple[DataFrame, list[str]]:
    """Return joined rows with sensitive cells that are looked at where a row shows stars, and the names of these."""
    from pyspark.sql import functions as f

    table = joined.units.table
    starred = some_star([[f.col(joined.shown(name)) for name in part] for part in asked.parts], asked)
    named = joined.units.named
    half = [name for name in asked.apart if policy.attributes[name].role == "sensitive" and name not in named]
    for name in half:
        frame = frame.withColumn(f"h{table.place(name)}", f.when(starred, table.column(name)))
    return frame, half


def some_star(parts: Iterable[Sequence[Column]], asked: Questions) -> Column:
    """Return whether a row shows stars in all attributes of some component."""
    from pyspark.sql import functions as f

    some = f.lit(False)
    for cells in parts:
        if cells:
            every = f.lit(True)
            for cell in cells:
                texts = [text for text in asked.star_texts if text is not None]
                star = f.coalesce(cell.isin(texts), f.lit(None in asked.star_texts))
                every = every & star
            some = some | every
    return some
