"""The release as a frame of Spark: every unit joined with what its tuple shows, by SQL alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from kveil.arrays import Ints, Longs
from kveil.engines.spark.session import told_plainly
from kveil.engines.spark.tuples import CountedTuples, SparkTuples
from kveil.engines.spark.units import Units

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CLASS = "class"  # what a unit shows, by number; LEFT_OUT shows nothing
LEFT_OUT = -1
WHY = "why"  # a unit is left out or shown as stars


@dataclass(frozen=True)
class ShownTuples:
    """What every tuple shows: the number of its class, and the made columns of each class.

    ``why`` has the reasons for which records are left out or shown as stars, by tuple, null where there is none.
    """

    of_tuple: Longs
    classes: pl.DataFrame
    why: pl.Series


def shown_tuples(made: pl.DataFrame, rows: Longs, number: int, reasons: Mapping[str, Ints]) -> ShownTuples:
    """Return what tuples show, given the made columns of some of them, by their rows; others are left out.

    ``reasons`` are why records are suppressed, each with the rows of tuples.
    """
    told = np.full(number, None, dtype=object)
    for reason, suppressed in reasons.items():
        told[suppressed] = reason
    why = pl.Series(told.tolist(), dtype=pl.String)
    classes = made.unique(maintain_order=True).with_row_index(CLASS) if made.width else pl.DataFrame({CLASS: [0]})
    of_tuple = np.full(number, LEFT_OUT, dtype=np.int64)
    if made.width:
        numbered = made.join(classes, on=made.columns, how="left", nulls_equal=True, maintain_order="left")
        of_tuple[rows] = numbered[CLASS].to_numpy()
    else:
        of_tuple[rows] = 0
    return ShownTuples(of_tuple, classes.with_columns(pl.col(CLASS).cast(pl.Int64)), why)


@dataclass(frozen=True)
class Joined:
    """Every unit of a table with the number of its class and what it shows.

    Made columns are called ``m0``, ``m1`` and so on; a unit whose tuple was not there before has no class.
    """

    units: Units
    frame: DataFrame
    made: tuple[str, ...]

    def shown(self, name: str) -> str:
        """Return what Spark calls a released column."""
        return f"m{self.made.index(name)}" if name in self.made else self.units.table.place(name)

    def released(self, names: Sequence[str]) -> DataFrame:
        """Return the released columns under their names, without any metadata."""
        from pyspark.sql import functions as f

        kept = self.frame.where(f.col(CLASS) >= 0)
        return kept.select([f.col(self.shown(name)).alias(name, metadata={}) for name in names])


def joined(units: Units, tuples: SparkTuples, shown: ShownTuples) -> Joined:
    """Return every unit with what it shows; what tuples and classes are goes to Spark as tables, never as literals."""
    from pyspark.sql import functions as f

    made = tuple(name for name in shown.classes.columns if name != CLASS)
    session = units.table.session
    back = np.empty(len(shown.of_tuple), dtype=np.int64)
    back[tuples.place] = np.arange(len(back))
    with told_plainly("take back what the tuples show"):
        told = {CLASS: pl.Series(shown.of_tuple[back]), WHY: shown.why.gather(back)}
        known = session.createDataFrame(_with_columns(tuples.counted, told))
        labels = shown.classes.rename({name: f"m{i}" for i, name in enumerate(made)} | {CLASS: "number"})
        texts = session.createDataFrame(labels.to_arrow(compat_level=pl.CompatLevel.oldest()))
        frame = with_known(units, known).join(texts, f.col(CLASS) == f.col("number"), "left").drop("number")
    return Joined(units, frame, made)


def with_known(units: Units, known: DataFrame) -> DataFrame:
    """Return every unit with what is known of its tuple, joined by the keys of units, null with null."""
    from pyspark.sql import functions as f

    renamed = {name: f"k{i}" for i, name in enumerate(units.keys)}
    others = [name for name in known.columns if name not in renamed]
    known = known.select(*(f.col(old).alias(new) for old, new in renamed.items()), *others)
    same = [f.col(old).eqNullSafe(f.col(new)) for old, new in renamed.items()]
    condition = same[0]
    for more in same[1:]:
        condition = condition & more
    return units.frame.join(known, condition, "left").drop(*renamed.values())


def _with_columns(counted: CountedTuples, columns: Mapping[str, pl.Series]) -> Any:
    """Return the rows as Spark gave them, with more columns."""
    rows = counted.rows
    for name, column in columns.items():
        rows = rows.append_column(name, column.to_arrow())
    return rows
