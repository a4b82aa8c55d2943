"""The different tuples of a table, with how many records or individuals have each, brought to the driver."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from kveil.arrays import Ints, Longs
from kveil.engines.memory import numbers_held
from kveil.engines.spark.session import tell_plainly
from kveil.engines.spark.units import RECORDS, SET, Units, hash_number
from kveil.errors import DataError
from kveil.files import Source, frame_of
from kveil.policy.model import Policy
from kveil.words import count

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

PER_CELL = 64  # bytes that a cell takes, on its way to the driver, with room to spare
TUPLE_TIMES = "times"
SUMS = "sum"
LOW, HIGH = "low", "high"  # halves of a sum of numbers: each stays within what Spark adds up fast
HALF = 32  # bits
HASH = "hash"  # what stands for a tuple where its cells need not
LOOKED_AT = 10_000  # records that say whether tuples repeat


class TooManyTuples(DataError):
    """Says that a table has more tuples than the driver may hold."""


@dataclass(frozen=True)
class CountedTuples:
    """Different rows of Spark on the driver, with how many units have each.

    ``rows`` is an Arrow table as Spark gave it; ``sums`` are over all units. ``hashes`` stand for the rows where
    they were asked for.
    """

    rows: Any
    times: Longs
    records: Longs
    sums: tuple[int, ...]
    hashes: Longs

    def column(self, name: str) -> pl.Series:
        """Return a column on the driver; moments are told in UTC."""
        held: Any = pl.Series(name, pl.from_arrow(self.rows.column(name)))
        return in_utc(held.rechunk())  # cells of one piece are found much faster


def in_utc(column: pl.Series) -> pl.Series:
    """Return a column with its moments told in UTC, as kveil reads those of a file."""
    kind = column.dtype
    return column.dt.convert_time_zone("UTC") if isinstance(kind, pl.Datetime) and kind.time_zone else column


def count_different_rows(frame: DataFrame, keys: Sequence[str], sums: Sequence[Column]) -> DataFrame:
    """Return the different rows of some columns with how many units and records each has, and sums over them.

    A sum is there as a whole, and in two halves. Rows that have `TUPLE_TIMES` stand for so many units each.
    """
    from pyspark.sql import functions as f

    several = TUPLE_TIMES in frame.columns
    units = f.sum(TUPLE_TIMES) if several else f.count(f.lit(1))
    records = f.sum(RECORDS) if RECORDS in frame.columns else units
    halves = []
    for i, number in enumerate(sums):
        low, high = _halves(number, i, several=several)
        halves += [f.sum(low).alias(f"{LOW}{i}"), f.sum(high).alias(f"{HIGH}{i}")]
    counted = frame.groupBy(*keys).agg(units.alias(TUPLE_TIMES), records.alias(RECORDS), *halves)
    together = [
        (f.col(f"{HIGH}{i}").cast("decimal(20,0)") * (1 << HALF) + f.col(f"{LOW}{i}")).alias(f"{SUMS}{i}")
        for i in range(len(sums))
    ]
    return counted.select("*", *together)


def one_by_one(
    frame: DataFrame,
    keys: Sequence[str],
    sums: Sequence[Column],
    *,
    others: Mapping[str, Column] = MappingProxyType({}),
) -> DataFrame:
    """Return units as `count_different_rows` would return tuples that are all different, and some columns more.

    That each is there once need not be told; where rows have `TUPLE_TIMES`, they stand for so many units each.
    """
    several = TUPLE_TIMES in frame.columns
    halves = [column for i, number in enumerate(sums) for column in _halves(number, i, several=several)]
    more = [column.alias(name) for name, column in others.items()]
    told = [name for name in (RECORDS, TUPLE_TIMES) if name in frame.columns]
    return frame.select(*keys, *told, *halves, *more)


def _halves(number: Column, i: int, *, several: bool) -> tuple[Column, Column]:
    from pyspark.sql import functions as f

    whole = number.cast("long")
    low, high = whole.bitwiseAND(f.lit((1 << HALF) - 1)), f.shiftright(whole, HALF)
    if several:
        low, high = low * f.col(TUPLE_TIMES), high * f.col(TUPLE_TIMES)
    return low.alias(f"{LOW}{i}"), high.alias(f"{HIGH}{i}")


def slices_of(session: SparkSession, rows: int, cells: int) -> int:
    """Return in how many slices so many rows come to the driver: one result must stay below a limit of Spark's."""
    told = session._jsc.sc().conf().getSizeAsBytes("spark.driver.maxResultSize", "1g")
    return max(-(-rows * cells * PER_CELL // int(told)), 1) if told else 1


def in_slices(
    counted: DataFrame, keys: Sequence[str], number: int, doing: str, *, persisted: bool = False
) -> Iterator[CountedTuples]:
    """Bring about so many counted rows to the driver, in slices where they are many."""
    from pyspark.sql import functions as f

    wanted = [name for name in counted.columns if not name.startswith(SUMS)]
    slices = slices_of(counted.sparkSession, number, len(wanted))
    kept = counted.select(*wanted)
    own = slices > 1 and not persisted
    kept = kept.persist() if own else kept
    by = f.pmod(f.xxhash64(*([HASH] if HASH in wanted else keys)), f.lit(slices))
    try:
        for i in range(slices):
            with tell_plainly(doing):
                rows = (kept.where(by == i) if slices > 1 else kept).toArrow()
            yield held_rows(rows, keys)
    finally:
        if own:
            with tell_plainly(doing):
                kept.unpersist()


def held_rows(rows: Any, keys: Sequence[str]) -> CountedTuples:
    """Return an Arrow table of counted rows that came to the driver, told apart by ``keys``."""
    number = sum(name.startswith(LOW) for name in rows.column_names)
    halves = ((_added_up(rows.column(f"{HIGH}{i}")), _added_up(rows.column(f"{LOW}{i}"))) for i in range(number))
    sums = tuple((high << HALF) + low for high, low in halves)
    once = np.ones(rows.num_rows, dtype=np.int64)
    times, records = (
        rows.column(name).to_numpy().astype(np.int64) if name in rows.column_names else once
        for name in (TUPLE_TIMES, RECORDS)
    )
    hashes = rows.column(HASH).to_numpy() if HASH in rows.column_names else np.empty(0, dtype=np.int64)
    return CountedTuples(rows.select(list(keys)), times, records, sums, hashes)


def _added_up(numbers: Any) -> int:
    import pyarrow.compute as pc

    return int(pc.sum(numbers).as_py() or 0)


@dataclass(frozen=True)
class SparkTuples:
    """The different tuples of a table as a source that the search reads.

    ``source`` has a row per tuple, or one per record of an individual; ``of_row`` gives the tuple of each, ``cells``
    has them as they came. They stand
    in an order of their own, whatever Spark's was: ``place`` gives the row of ``counted`` that each is. A hash of its
    cells with a ``salt`` stands for every tuple; that no two have the same was looked at.
    """

    counted: CountedTuples
    place: Longs
    cells: pl.DataFrame
    source: Source
    of_row: Ints
    salt: int

    @property
    def hashes(self) -> Longs:
        """What stands for each tuple, in ascending order, and different for all."""
        return self.counted.hashes[self.place]

    @property
    def times(self) -> Longs:
        """How many records, or individuals, have each tuple."""
        return self.counted.times[self.place]

    @property
    def records(self) -> Longs:
        """How many records each tuple stands for, also where it is one of individuals."""
        return self.counted.records[self.place]


def tuple_hash(units: Units, salt: int) -> Column:
    """Return what stands for the tuple of a unit."""
    from pyspark.sql import functions as f

    return hash_number(units.keys, f.lit(salt))


def tuples_of(units: Units, policy: Policy, most: int) -> SparkTuples:
    """Return the different tuples of a table; raise DataError where they are more than the driver may hold."""
    if not most:  # whoever asks for none need not know how many there are
        raise TooManyTuples(f"the driver may hold no tuples of {units.table.name}; give it a larger number.")
    for salt in itertools.count():
        counted = _counted(units, most, salt)
        if counted is not None:
            return _laid_out(units, policy, counted, salt)
    raise AssertionError("counting never ends")


def _counted(units: Units, most: int, salt: int) -> CountedTuples | None:
    """Return the different tuples of a table, each with a hash that stands for it; None where two have the same."""
    doing = f"count the tuples of {units.table.name}"
    # What a unit has beside its tuple is added up; of tuples alone it is enough to count each.
    sums = [units.hashed_beside(tuple_hash(units, salt))] if units.carried else []
    with tell_plainly(doing):
        number = units.table.frame.count()  # which files of Parquet tell without being read
    several = slices_of(units.table.session, number, len(units.keys) + 2 * len(sums) + 3) > 1
    if number <= most and not several and _mostly_different(units, number):
        rows = one_by_one(units.frame, [*units.keys], [*sums], others={HASH: tuple_hash(units, salt)})
        with tell_plainly(doing):
            return _taken_together(held_rows(rows.toArrow(), units.keys))
    frame = count_different_rows(units.frame, units.keys, sums).withColumn(HASH, tuple_hash(units, salt))
    counted = _brought(units, frame, most, number if number <= most and not several else None)
    return None if len(np.unique(counted.hashes)) < len(counted.hashes) else counted


def _brought(units: Units, frame: DataFrame, most: int, bound: int | None) -> CountedTuples:
    """Bring grouped tuples to the driver; where no ``bound`` is known that it may hold, they are numbered first."""
    import pyarrow as pa

    doing = f"count the tuples of {units.table.name}"
    persisted, number = bound is None, 0 if bound is None else bound
    if persisted:  # it is asked twice, how many there are and which
        frame = frame.persist()
    try:
        if persisted:
            with tell_plainly(doing):
                number = frame.count()
        if number > most:
            raise TooManyTuples(
                f"{units.table.name} has {count(number, 'different tuple')}, and the driver may hold {most:,}; give it "
                "more memory, or release fewer columns."
            )
        parts = list(in_slices(frame, units.keys, number, doing, persisted=persisted))
    finally:
        if persisted:
            with tell_plainly(doing):
                frame.unpersist()
    times, records, hashes = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("times", "records", "hashes")
    )
    totals = tuple(sum(numbers) for numbers in zip(*(part.sums for part in parts), strict=True))
    return CountedTuples(pa.concat_tables([part.rows for part in parts]), times, records, totals, hashes)


def _mostly_different(units: Units, number: int) -> bool:
    """Tell whether grouping a table on Spark, which moves all of it, would leave nearly as many tuples as records."""
    if units.individuals or number < LOOKED_AT:
        return False
    with tell_plainly(f"count the tuples of {units.table.name}"):
        some: Any = pl.from_arrow(units.frame.select(*units.keys).limit(LOOKED_AT).toArrow())
    return 2 * int(some.n_unique()) > LOOKED_AT


def _taken_together(rows: CountedTuples) -> CountedTuples | None:
    """Return counted rows with equal ones taken together, by their hashes; None where these do not tell them apart."""
    order = np.argsort(rows.hashes, kind="stable")
    again = np.flatnonzero(np.diff(rows.hashes[order]) == 0)
    if not len(again):
        return rows
    here, there = order[again], order[again + 1]
    for name in rows.rows.column_names:
        column = rows.column(name)
        if column.gather(here).ne_missing(column.gather(there)).any():
            return None
    first = np.ones(len(order), dtype=bool)
    first[again + 1] = False
    starts = np.flatnonzero(first)
    times, records = (np.add.reduceat(numbers[order], starts) for numbers in (rows.times, rows.records))
    kept = order[starts]
    return CountedTuples(rows.rows.take(kept), times, records, rows.sums, rows.hashes[kept])


def records_at(units: Units, counted: CountedTuples, rows: Longs) -> tuple[pl.DataFrame, Longs]:
    """Return the records of some tuples, those of one side by side, and the place in ``rows`` that each belongs to.

    A tuple is a record, or the different records of an individual.
    """
    if not units.individuals:
        columns = [counted.column(units.table.place(name)).alias(name) for name in units.named]
        return frame_of(columns)[rows], np.arange(len(rows), dtype=np.int64)
    sets = counted.column(SET).gather(rows)
    lengths = sets.list.len().to_numpy().astype(np.int64)
    structs = sets.explode(empty_as_null=True)
    cells = [in_utc(structs.struct.field(units.table.place(name))).alias(name) for name in units.named]
    return frame_of(cells), np.repeat(np.arange(len(rows), dtype=np.int64), lengths)


def _laid_out(units: Units, policy: Policy, counted: CountedTuples, salt: int) -> SparkTuples:
    """Return counted rows, which have the key columns of units, as a source under the names of the policy."""
    table = units.table
    place = np.argsort(counted.hashes, kind="stable").astype(np.int64)
    records, of_row = records_at(units, counted, place)
    frame = records
    if units.individuals:
        frame = frame.with_columns(pl.Series(str(policy.individual_column), of_row))
    wanted = [name for name in table.columns if name in frame.columns]
    source = numbers_held(Source(table.name, frame.select(wanted), "frame"), policy)
    return SparkTuples(counted, place, records, source, of_row.astype(np.int32), salt)
