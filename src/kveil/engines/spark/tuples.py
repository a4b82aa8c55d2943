"""The different tuples of a table, with how many records or individuals have each, brought to the driver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from kveil.arrays import Ints, Longs
from kveil.engines.memory import numbers_held
from kveil.engines.spark.session import told_plainly
from kveil.engines.spark.units import RECORDS, SET, Units
from kveil.errors import DataError
from kveil.files import Source
from kveil.policy.model import Policy
from kveil.words import count

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SLICE = 1_000_000  # tuples that come to the driver at a time: a result of Spark must stay below a limit of its own
TIMES = "times"
SUMS = "sum"


class TooManyTuples(DataError):
    """Says that a table has more tuples than the driver may hold."""


@dataclass(frozen=True)
class CountedTuples:
    """Different rows of Spark on the driver, with how many units have each.

    ``rows`` is an Arrow table as Spark gave it, so that it can go back unchanged; ``sums`` are over all units.
    """

    rows: Any
    times: Longs
    records: Longs
    sums: tuple[int, ...]

    def column(self, name: str) -> pl.Series:
        """Return a column on the driver; moments are told in UTC."""
        held: Any = pl.Series(name, pl.from_arrow(self.rows.column(name)))
        return in_utc(held)


def in_utc(column: pl.Series) -> pl.Series:
    """Return a column with its moments told in UTC, as kveil reads those of a file."""
    kind = column.dtype
    return column.dt.convert_time_zone("UTC") if isinstance(kind, pl.Datetime) and kind.time_zone else column


def grouped(frame: DataFrame, keys: Sequence[str], sums: Sequence[Column]) -> DataFrame:
    """Return the different rows of some columns with how many units and records each has, and sums over them."""
    from pyspark.sql import functions as f

    records = f.sum(RECORDS) if RECORDS in frame.columns else f.count(f.lit(1))
    added = [f.sum(number).alias(f"{SUMS}{i}") for i, number in enumerate(sums)]
    return frame.groupBy(*keys).agg(f.count(f.lit(1)).alias(TIMES), records.alias(RECORDS), *added)


def in_slices(counted: DataFrame, keys: Sequence[str], number: int, doing: str) -> Iterator[CountedTuples]:
    """Bring about so many counted rows to the driver, in slices where they are many."""
    from pyspark.sql import functions as f

    slices = max(-(-number // SLICE), 1)
    kept = counted.persist() if slices > 1 else counted
    by = f.pmod(f.xxhash64(*keys), f.lit(slices))
    try:
        for i in range(slices):
            with told_plainly(doing):
                rows = (kept.where(by == i) if slices > 1 else kept).toArrow()
            yield _held(rows, keys)
    finally:
        if slices > 1:
            with told_plainly(doing):
                kept.unpersist()


def _held(rows: Any, keys: Sequence[str]) -> CountedTuples:
    sums = tuple(_added_up(rows.column(name)) for name in rows.column_names if name.startswith(SUMS))
    times, records = (rows.column(name).to_numpy().astype(np.int64) for name in (TIMES, RECORDS))
    return CountedTuples(rows.select(list(keys)), times, records, sums)


def _added_up(numbers: Any) -> int:
    import pyarrow.compute as pc

    return int(pc.sum(numbers).as_py() or 0)


@dataclass(frozen=True)
class SparkTuples:
    """The different tuples of a table as a source that the search reads.

    ``source`` has a row per tuple, or one per record of an individual; ``of_row`` gives the tuple of each. They stand
    in an order of their own, whatever Spark's was: ``place`` gives the row of ``counted`` that each is.
    """

    counted: CountedTuples
    place: Longs
    source: Source
    of_row: Ints

    @property
    def times(self) -> Longs:
        """How many records, or individuals, have each tuple."""
        return self.counted.times[self.place]

    @property
    def records(self) -> Longs:
        """How many records each tuple stands for, also where it is one of individuals."""
        return self.counted.records[self.place]


def tuples_of(units: Units, policy: Policy, most: int) -> SparkTuples:
    """Return the different tuples of a table; raise DataError where they are more than the driver may hold."""
    import pyarrow as pa

    doing = f"count the tuples of {units.table.name}"
    if not most:  # whoever asks for none need not know how many there are
        raise TooManyTuples(f"the driver may hold no tuples of {units.table.name}; give it a larger number.")
    frame = grouped(units.frame, units.keys, [units.hashed()]).persist()
    try:
        with told_plainly(doing):
            number = frame.count()
        if number > most:
            raise TooManyTuples(
                f"{units.table.name} has {count(number, 'different tuple')}, and the driver may hold {most:,}; give it "
                "more memory, or release fewer columns."
            )
        parts = list(in_slices(frame, units.keys, number, doing))
    finally:
        with told_plainly(doing):
            frame.unpersist()
    times, records = (np.concatenate([getattr(part, name) for part in parts]) for name in ("times", "records"))
    sums = tuple(sum(numbers) for numbers in zip(*(part.sums for part in parts), strict=True))
    return _laid_out(
        units, policy, CountedTuples(pa.concat_tables([part.rows for part in parts]), times, records, sums)
    )


def records_of(units: Units, counted: CountedTuples) -> tuple[pl.DataFrame, Longs]:
    """Return the different records of tuples of individuals, those of one side by side, and how many each has."""
    sets = counted.column(SET)
    structs = sets.explode(empty_as_null=True)
    cells = [in_utc(structs.struct.field(units.table.place(name))).alias(name) for name in units.named]
    return pl.DataFrame(cells), sets.list.len().to_numpy().astype(np.int64)


def _laid_out(units: Units, policy: Policy, counted: CountedTuples) -> SparkTuples:
    """Return counted rows, which have the key columns of units, as a source under the names of the policy."""
    table = units.table
    if units.individuals:
        frame, lengths = records_of(units, counted)
        order = np.argsort(np.repeat(_order_of_sets(frame, lengths), lengths), kind="stable")
        place = np.argsort(_order_of_sets(frame, lengths), kind="stable").astype(np.int64)
        of_row = np.repeat(np.arange(len(place), dtype=np.int32), lengths[place])
        frame = frame[order].with_columns(pl.Series(str(policy.individual_column), of_row))
    else:
        frame = pl.DataFrame([counted.column(table.place(name)).alias(name) for name in units.named])
        place = frame.select(pl.arg_sort_by(frame.columns, nulls_last=True)).to_series().to_numpy().astype(np.int64)
        frame, of_row = frame[place], np.arange(frame.height, dtype=np.int32)
    wanted = [name for name in table.columns if name in frame.columns]
    source = numbers_held(Source(table.name, frame.select(wanted), "frame"), policy)
    return SparkTuples(counted, place, source, of_row)


def _order_of_sets(records: pl.DataFrame, lengths: Longs) -> Longs:
    """Return the rank of every set of records, given their records side by side; equal sets do not occur."""
    rank = records.select(pl.struct(pl.all()).rank("dense")).to_series().to_numpy().astype(np.int64)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    lists = (
        pl.DataFrame({"owner": owner, "rank": rank})
        .group_by("owner", maintain_order=True)
        .agg(pl.col("rank").cast(pl.String).str.zfill(10).str.join(" "))
    )
    return lists["rank"].rank("ordinal").to_numpy().astype(np.int64)
