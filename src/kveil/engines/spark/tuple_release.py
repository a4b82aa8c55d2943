"""The release as the driver holds it: where every released column is part of tuples, no record need be joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from kveil.arrays import Longs
from kveil.engines.spark.driver_tuples import TUPLE_TIMES, SparkTuples, tuple_hash
from kveil.engines.spark.laying import LaidTuples
from kveil.engines.spark.session import tell_plainly
from kveil.engines.spark.showing import CLASS, SENT_WHOLE, TUPLE_NUMBER, ShownTuples, send_table, shown_cells
from kveil.engines.spark.units import Units
from kveil.table.sensitive import error_of_change

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

PIECE, STARTS = 22, (0, 22, 44)  # bits of a hash that are added up by themselves: sums of trillions of them stay exact
REPEATED = 100_000  # rows at most that one row of the table which is sent to Spark stands for


@dataclass(frozen=True)
class HeldRelease:
    """All rows of a release, by the tuples that the driver holds.

    Spark is given every class once with how many rows show it, or, where released columns are taken over as they are,
    every tuple, and repeats it that often. So records are neither read again nor joined with anything.
    """

    units: Units
    tuples: SparkTuples
    table: ShownTuples

    @property
    def made(self) -> tuple[str, ...]:
        """The released columns that are made."""
        return tuple(name for name in self.table.classes.columns if name != CLASS)

    def shown(self, name: str) -> str:
        """Return what Spark calls a released column."""
        return f"m{self.made.index(name)}" if name in self.made else self.units.table.place(name)

    def let_go(self) -> None:
        """Nothing is kept on Spark."""

    def rows(self, names: Sequence[str]) -> DataFrame:
        """Return the different rows of a release with their class and how often each is there."""
        import pyarrow as pa

        own = [self.shown(name) for name in names if name not in self.made]
        if own:
            at = np.flatnonzero(self.table.of_tuple >= 0)
            classes, times = self.table.of_tuple[at], self.tuples.times[at]
            cells = self.tuples.counted.rows.select(own).take(self.tuples.place[at])
        else:
            out = self.table.of_tuple >= 0
            height = self.table.classes.height
            times = np.bincount(self.table.of_tuple[out], self.tuples.times[out], height).astype(np.int64)
            classes = np.arange(height)
            cells = self._texts().drop(TUPLE_NUMBER).to_arrow(compat_level=pl.CompatLevel.oldest())
        at, often = _in_pieces(times)
        columns = [pa.array(classes[at]), pa.array(often), *cells.take(at).columns]
        table = pa.table(columns, [CLASS, TUPLE_TIMES, *cells.column_names])
        return self.units.table.session.createDataFrame(table, self._schema(own) if own else None)

    def _schema(self, own: Sequence[str]) -> StructType:
        """Return the types of rows that have some columns as the table has them."""
        from pyspark.sql.types import LongType, StructField, StructType

        kinds = {name: self.units.frame.schema[name].dataType for name in own}
        numbers = {CLASS: LongType(), TUPLE_TIMES: LongType()}
        return StructType([StructField(name, kind) for name, kind in {**numbers, **kinds}.items()])

    def with_texts(self, frame: DataFrame) -> DataFrame:
        """Return rows that have a class with what it shows, where they have it not yet."""
        from pyspark.sql import functions as f

        if not self.made or self.shown(self.made[0]) in frame.columns:
            return frame
        texts = frame.sparkSession.createDataFrame(self._texts().to_arrow(compat_level=pl.CompatLevel.oldest()))
        texts = send_table(texts, self.table.classes.height, SENT_WHOLE)
        return frame.join(texts, f.col(CLASS) == f.col(TUPLE_NUMBER), "left").drop(TUPLE_NUMBER)

    def _texts(self) -> pl.DataFrame:
        return self.table.classes.rename({name: f"m{i}" for i, name in enumerate(self.made)} | {CLASS: TUPLE_NUMBER})

    def laid(self) -> LaidTuples:
        """Return the tuples beside what they show; raise DataError where the table has not the same ones any more.

        That is looked at by the number of its records and a sum of the hashes that stand for their tuples.
        """
        from pyspark.sql import functions as f

        tuples, units = self.tuples, self.units
        number, few, times = tuple_hash(units, tuples.salt), (1 << PIECE) - 1, tuples.times
        pieces = [f.shiftright(number, start).bitwiseAND(f.lit(few)) for start in STARTS]
        with tell_plainly("compare the release"):
            told: Any = units.frame.agg(f.count(f.lit(1)), *map(f.sum, pieces)).collect()[0]
        before = [times, *(((tuples.hashes >> start) & few) * times for start in STARTS)]
        if [int(value or 0) for value in told] != [int(numbers.sum()) for numbers in before]:
            raise error_of_change(units.table.name)
        classes, tuple_of = self.table.of_tuple, tuples.of_row.astype(np.int64)
        shown = shown_cells(units, self.table, self.made, (tuples.cells, tuple_of), classes)
        counted = replace(tuples.counted, times=times, sums=(0, 0))
        return LaidTuples(
            units, tuples.cells, tuple_of, shown, {}, classes >= 0, counted=counted, classes=classes, made=self.made
        )


def _in_pieces(times: Longs) -> tuple[Longs, Longs]:
    """Return rows that stand for few each, given how often every row is there: their places and how often they are."""
    pieces = -(-times // REPEATED)
    at = np.repeat(np.arange(len(times)), pieces)
    often = np.full(len(at), REPEATED, dtype=np.int64)
    last = np.cumsum(pieces)[pieces > 0] - 1
    often[last] = (times - (pieces - 1) * REPEATED)[pieces > 0]
    return at, often
