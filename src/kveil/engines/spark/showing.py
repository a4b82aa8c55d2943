"""The release as a frame of Spark: every unit joined with what its tuple shows, by SQL alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from kveil.arrays import Ints, Longs
from kveil.engines.spark.driver_tuples import HASH, SparkTuples, tuple_hash
from kveil.engines.spark.session import tell_plainly
from kveil.engines.spark.units import RECORDS, Units
from kveil.errors import DataError
from kveil.files import frame_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CLASS = "class"  # what a unit shows, by number; NOT_SHOWN shows nothing
NOT_SHOWN = -1
WHY = "why"  # a unit is left out or shown as stars
KEY, TUPLE_NUMBER = "key", "number"  # of a tuple and of a class, in the tables that say what they show
FEW, SENT_WHOLE = 200_000, 1_000_000  # rows of these tables up to which every machine gets all of them


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
    why = pl.select(pl.repeat(None, number, dtype=pl.String)).to_series()
    if any(len(suppressed) for suppressed in reasons.values()):
        told = np.full(number, None, dtype=object)
        for reason, suppressed in reasons.items():
            told[suppressed] = reason
        why = pl.Series(told.tolist(), dtype=pl.String)
    classes = _in_order(made.unique()).with_row_index(CLASS) if made.width else pl.DataFrame({CLASS: [0]})
    of_tuple = np.full(number, NOT_SHOWN, dtype=np.int64)
    of_tuple[rows] = _numbered(made, classes) if made.width else 0
    return ShownTuples(of_tuple, classes.with_columns(pl.col(CLASS).cast(pl.Int64)), why)


def _numbered(made: pl.DataFrame, classes: pl.DataFrame) -> Longs:
    """Return the class of every row; lazily, since the cells of as many rows as there are tuples take much memory."""
    keys = made.columns
    joined = made.lazy().join(classes.lazy(), on=keys, how="left", nulls_equal=True, maintain_order="left")
    return joined.select(CLASS).collect()[CLASS].to_numpy()


def _in_order(classes: pl.DataFrame) -> pl.DataFrame:
    """Return classes in the order of what they show, so that their numbers tell it; sets of items have none."""
    return classes if pl.List in classes.dtypes else classes.sort(pl.all(), nulls_last=False)


def shown_cells(
    units: Units, shown: ShownTuples, made: Sequence[str], records: tuple[pl.DataFrame, Longs], classes: Longs
) -> pl.DataFrame:
    """Return what tuples show, given their ``records``, with the tuple of each, and classes; nothing if left out."""
    cells, tuple_of = records
    places = pl.select(pl.when(pl.Series(classes >= 0)).then(pl.Series(classes))).to_series()
    texts = [shown.classes[name].gather(places) for name in made]
    if not units.individuals:
        return frame_of([*texts, *(cells[name] for name in units.named if name not in made)])
    first = np.searchsorted(tuple_of, np.arange(len(classes)))
    return frame_of([*texts, *(cells[name].gather(first) for name in units.constant)])


@dataclass(frozen=True)
class KnownTuples:
    """The tuples that the driver holds, with what they show.

    On Spark, ``units`` have the hash and the class of theirs and what is released as it is; they are kept there, so
    that what is written and what is counted is the same. ``texts`` say what each class shows.
    """

    tuples: SparkTuples
    shown: ShownTuples
    units: DataFrame
    texts: DataFrame

    @property
    def ranked(self) -> bool:
        """Whether the numbers of classes are in the order of what they show, and rows get it without being moved."""
        return pl.List not in self.shown.classes.dtypes and self.shown.classes.height <= SENT_WHOLE

    def with_texts(self, frame: DataFrame) -> DataFrame:
        """Return rows that have a class with what it shows."""
        from pyspark.sql import functions as f

        texts = send_table(self.texts, self.shown.classes.height, SENT_WHOLE)
        return frame.join(texts, f.col(CLASS) == f.col(TUPLE_NUMBER), "left").drop(TUPLE_NUMBER)


@dataclass(frozen=True)
class Joined:
    """Every unit of a table with the number of its class and what it shows.

    Made columns are called ``m0``, ``m1`` and so on; a unit whose tuple was not there before has no class. Where the
    driver holds the tuples, ``known`` has them, and units have the hash of theirs. Where rows are ``counted``, they are
    the different tuples, and have `TUPLE_TIMES`, how many units each stands for.
    """

    units: Units
    frame: DataFrame
    made: tuple[str, ...]
    known: KnownTuples | None = None
    counted: bool = False

    def let_go(self) -> None:
        """Let Spark forget what it kept of the units."""
        if self.known is not None:
            with suppress(DataError), tell_plainly("forget what it kept"):  # whatever came before is what is told
                self.known.units.unpersist()

    def shown(self, name: str) -> str:
        """Return what Spark calls a released column."""
        return f"m{self.made.index(name)}" if name in self.made else self.units.table.place(name)


def join_shown(units: Units, tuples: SparkTuples, shown: ShownTuples) -> Joined:
    """Return every unit with what it shows; what tuples and classes are goes to Spark as tables, never as literals.

    Units find their tuples by a hash that is different for each of them.
    """
    import pyarrow as pa
    from pyspark.sql import functions as f

    made = tuple(name for name in shown.classes.columns if name != CLASS)
    session = units.table.session
    with tell_plainly("take back what the tuples show"):
        told = {
            KEY: tuples.hashes,
            CLASS: shown.of_tuple,
            WHY: shown.why.to_arrow(compat_level=pl.CompatLevel.oldest()),
        }
        known = session.createDataFrame(pa.table(told))
        labels = shown.classes.rename({name: f"m{i}" for i, name in enumerate(made)} | {CLASS: TUPLE_NUMBER})
        texts = session.createDataFrame(labels.to_arrow(compat_level=pl.CompatLevel.oldest()))
        frame = units.frame.withColumn(HASH, tuple_hash(units, tuples.salt))
        frame = frame.join(send_table(known, len(tuples.place), FEW), f.col(HASH) == f.col(KEY), "left").drop(KEY)
        with_class = frame.select(*_needed(units, made), HASH, CLASS).persist()
        on_driver = KnownTuples(tuples, shown, with_class, texts)
        return Joined(units, on_driver.with_texts(frame), made, on_driver)


def _needed(units: Units, made: Sequence[str]) -> list[str]:
    """Return the columns that a release takes over as they are, and how many records individuals have."""
    taken = [*units.carried, *(units.constant if units.individuals else units.named)]
    places = [units.table.place(name) for name in taken if name not in made]
    return [*places, RECORDS] if RECORDS in units.frame.columns else places


def send_table(frame: DataFrame, rows: int, most: int) -> DataFrame:
    """Return a table as it is best joined: sent to every machine as a whole, or divided where it is large."""
    from pyspark.sql import functions as f

    return f.broadcast(frame) if rows <= most else frame.hint("shuffle_hash")


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
