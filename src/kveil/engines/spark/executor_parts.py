"""A table solved part by part on executors: neither the driver nor any of them holds more than a part of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from kveil.algorithms.splitting.first_cuts import PartCuts, bounded_attributes
from kveil.algorithms.splitting.planning import Plan, counted_values
from kveil.algorithms.splitting.span_counts import (
    ATTRIBUTE,
    CODE,
    KEY,
    LIMIT_COUNTS,
    PART,
    SPAN_COUNT,
    SPAN_COUNTS,
    SPAN_VALUE,
    packs_of_parts,
)
from kveil.engines.memory import numbers_held
from kveil.engines.spark.batches import (
    CountBatch,
    CountTask,
    FirstRows,
    LimitCount,
    PartTask,
    RowCodes,
    RowEncoder,
    RowLayout,
    SpanCount,
    arrow_of,
)
from kveil.engines.spark.driver_tuples import SUMS, TUPLE_TIMES, count_different_rows, in_utc
from kveil.engines.spark.session import tell_plainly
from kveil.engines.spark.showing import CLASS, WHY, Joined, with_known
from kveil.engines.spark.solving import SUMMARY, TOLD, SolveTask
from kveil.engines.spark.units import RECORDS, Units
from kveil.engines.summary import GONE, NAME, SHOWN_RECORDS, PartSummary, add_parts
from kveil.errors import DataError
from kveil.files import Source
from kveil.measures import GroupSizes
from kveil.policy.attributes import STAR
from kveil.policy.model import Policy
from kveil.table.encode import encode_values, encoded_columns
from kveil.table.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

LIMITS = f"{KEY} array<bigint>, {SPAN_VALUE} int, {CODE} int, {SPAN_COUNT} bigint"
SPANS = f"{PART} int, {ATTRIBUTE} int, {KEY} bigint, {SPAN_VALUE} int, {CODE} int, {SPAN_COUNT} bigint"
FIRST = f"{PART} int, {KEY} array<bigint>"


@contextmanager
def on_executors(doing: str) -> Iterator[None]:
    """Turn errors of Spark into one sentence, also where its executors have no kveil, or another one."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    with tell_plainly(doing):
        try:
            yield
        except (Py4JError, PySparkException) as error:
            told = str(error)
            if "No module named" in told or "sent this, and the executor has" in told:
                raise DataError(
                    "a table by parts is solved on the executors of Spark, and their Python has not this version of "
                    "kveil; install it on every machine for the Python that PYSPARK_PYTHON names, or give the driver "
                    "memory for all tuples."
                ) from None
            if "changed while kveil read it" in told:
                raise DataError(
                    "the table changed while kveil read it; nothing was written. Run again once it stays as it is."
                ) from None
            raise


def keep_on_disk(frame: DataFrame) -> DataFrame:
    """Return a frame that Spark keeps on the disks of its executors, once it was made."""
    from pyspark import StorageLevel

    return frame.persist(StorageLevel.DISK_ONLY)


def forget_frame(frame: DataFrame) -> None:
    """Let Spark forget a frame that it keeps; where it is gone, so is the frame."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    with suppress(Py4JError, PySparkException, ConnectionError, EOFError):
        frame.unpersist()


def keep_tuples(units: Units, exits: ExitStack) -> DataFrame:
    """Return the different tuples of a table with counts, which Spark keeps until ``exits`` are closed."""
    frame = keep_on_disk(count_different_rows(units.frame, units.keys, [units.hashed()]))
    exits.callback(forget_frame, frame)
    return frame


def known_values(units: Units, policy: Policy) -> Table:
    """Return a table without rows: its trees and values, by the different values that Spark finds in each column."""
    table = units.table

    def columns() -> Iterator[tuple[str, Source, Any]]:
        for name in encoded_columns(policy):
            with tell_plainly(f"read {table.name}"):
                rows = table.frame.groupBy(table.column(name).alias(name)).count().toArrow()
            held: Any = pl.Series(name, pl.from_arrow(rows.column(0)))
            source = numbers_held(Source(table.name, in_utc(held).to_frame(), "frame"), policy)
            yield name, source, rows.column(1).to_numpy().astype("int64")

    return encode_values(columns(), policy, table.name)


@dataclass(frozen=True)
class UnitRows:
    """The rows that parts are made of: tuples with counts, or units one by one.

    ``number`` is how many units there are, ``records`` how many records, ``hashed`` a sum of hashes of all units.
    """

    units: Units
    frame: DataFrame
    tuples: bool
    number: int
    records: int
    hashed: int

    @classmethod
    def tuples_of(cls, units: Units, frame: DataFrame) -> UnitRows:
        """Return tuples that were grouped and are kept."""
        from pyspark.sql import functions as f

        with tell_plainly(f"count the tuples of {units.table.name}"):
            told = frame.agg(f.sum(TUPLE_TIMES), f.sum(RECORDS), f.sum(f"{SUMS}0")).collect()[0]
        return cls(units, frame, True, *(int(number or 0) for number in told))

    @classmethod
    def single(cls, units: Units, columns: Sequence[str]) -> UnitRows:
        """Return units one by one, with some more columns as Spark calls them."""
        from pyspark.sql import functions as f

        own = [*units.keys, *map(units.table.place, (*units.carried, *units.constant))]
        names = [*dict.fromkeys([*own, *columns, *([RECORDS] if RECORDS in units.frame.columns else [])])]
        frame = units.frame.select(*names)
        records = f.sum(RECORDS) if RECORDS in names else f.count(f.lit(1))
        with tell_plainly(f"count the records of {units.table.name}"):
            told = frame.agg(f.count(f.lit(1)), records, f.sum(units.hashed())).collect()[0]
        return cls(units, frame, False, *(int(number or 0) for number in told))

    def with_made(self, solved: SolvedRows) -> UnitRows:
        """Return these rows with what was made of them so far."""
        from pyspark.sql import functions as f

        return replace(self, frame=solved.frame.where(f.col(CLASS) > TOLD).drop(CLASS, WHY, SUMMARY))

    def encoder(self, whole: Table) -> RowEncoder:
        """Return what encodes these rows on an executor."""
        return RowEncoder(whole, RowLayout.of(self.units), self.tuples)


# ------------------------------------------------------------------------------------------------ counting


def _frame_of(rows: Any) -> pl.DataFrame:
    held: Any = pl.from_arrow(rows)
    return pl.DataFrame(held)


class SparkCounter:
    """Counts codes of a table, which Spark keeps; see `SpanCounter`."""

    def __init__(self, rows: UnitRows, whole: Table, *, divided: bool) -> None:
        self._codes = RowCodes(rows.encoder(whole), tuple(counted_values(whole, divided=divided)))
        self._bounded = bounded_attributes(whole)
        self._doing = f"count the parts of {rows.units.table.name}"
        self._frame = keep_on_disk(rows.frame.mapInArrow(self._codes.write, self._codes.schema))

    def _told(self, count: CountBatch, schema: str) -> DataFrame:
        told: Any = CountTask(self._codes, count)
        return self._frame.mapInArrow(told, schema)

    def limits(self) -> pl.DataFrame:
        count = LimitCount(self._codes.names, self._bounded)
        return self._added_up(self._told(count, LIMITS), list(LIMIT_COUNTS))

    def spans(self, cuts: PartCuts, parts: Sequence[int]) -> pl.DataFrame:
        count = SpanCount(self._codes.names, cuts, tuple(parts))
        return self._added_up(self._told(count, SPANS), list(SPAN_COUNTS))

    def _added_up(self, frame: DataFrame, columns: list[str]) -> pl.DataFrame:
        from pyspark.sql import functions as f

        with on_executors(self._doing):
            rows = frame.groupBy(*columns[:-1]).agg(f.sum(SPAN_COUNT).alias(SPAN_COUNT)).toArrow()
        return _frame_of(rows)

    def packs(self, plan: Plan, most: int) -> Mapping[int, int]:
        """Return the pack of every part: neighbours that have few records are solved as one."""
        from pyspark.sql import functions as f

        with on_executors(self._doing):
            first = self._told(FirstRows(plan.cut_table.cuts), FIRST).where(f.col(PART) >= 0)
            rows = first.groupBy(PART).agg(f.min(KEY).alias(KEY)).toArrow()
        return packs_of_parts(plan.cut_table.records, _frame_of(rows), most)

    def forget(self) -> None:
        """Let Spark forget the codes."""
        forget_frame(self._frame)


# ------------------------------------------------------------------------------------------------ solving


@dataclass(frozen=True)
class SolvedRows:
    """Rows with what they show, as Spark keeps them, and what is known of every part, but for its counts.

    These are there for all parts together.
    """

    rows: UnitRows
    frame: DataFrame
    made: tuple[str, ...]
    summaries: list[PartSummary]
    counts: pl.DataFrame

    def suppressed(self, name: str) -> int:
        """Return how many records, or individuals, are suppressed, by what was counted of one quasi-identifier."""
        gone = (pl.col(NAME) == name) & pl.col(GONE)
        return int(self.counts.filter(gone)[SHOWN_RECORDS].sum())

    def joined(
        self,
        rewritten: Mapping[str, Mapping[str, str]],
        made: Sequence[str],
        exits: ExitStack,
        *,
        one_by_one: bool,
    ) -> Joined:
        """Return every unit with what it shows; ``rewritten`` are labels of columns that are written otherwise.

        Of the made columns those in ``made`` are. What the units show is kept until ``exits`` are closed. Where tuples
        have been solved they are joined with records, if these are asked for ``one_by_one``.
        """
        from pyspark.sql import functions as f

        counted = self.rows.tuples and not one_by_one
        own = self.frame.where(f.col(CLASS) > TOLD).drop(SUMMARY, *([] if counted else [TUPLE_TIMES]))
        for name, labels in rewritten.items():
            if labels:
                own = _rewritten(own, f"m{self.made.index(name)}", labels)
        texts = [f.col(f"m{self.made.index(name)}").alias(f"m{i}") for i, name in enumerate(made)]
        others = [name for name in own.columns if not (name[0] == "m" and name[1:].isdigit())]
        own = own.select(*others, *texts)
        if counted and not any(rewritten.values()):  # it is kept already
            return Joined(self.rows.units, own, tuple(made), counted=True)
        if self.rows.tuples and not counted:
            own = with_known(self.rows.units, own)
        frame = keep_on_disk(own)
        exits.callback(forget_frame, frame)
        return Joined(self.rows.units, frame, tuple(made), counted=counted)


def _rewritten(frame: DataFrame, column: str, labels: Mapping[str, str]) -> DataFrame:
    from pyspark.sql import functions as f

    known = pl.DataFrame({"old": list(labels), "new": list(labels.values())})
    texts = frame.sparkSession.createDataFrame(arrow_of(known))
    joined = frame.join(f.broadcast(texts), f.col(column) == f.col("old"), "left")
    return joined.withColumn(column, f.coalesce("new", column)).drop("old", "new")


def solve_rows(
    rows: UnitRows, task: SolveTask, cuts: PartCuts, packs: Mapping[int, int] | None, exits: ExitStack
) -> SolvedRows:
    """Solve all parts of a table on the executors."""
    from pyspark.sql import functions as f

    def solved_part(part: Any) -> Any:  # Spark counts the arguments of what it is given
        return task(part)

    doing = f"solve the parts of {rows.units.table.name}"
    with on_executors(doing):
        schema = rows.frame.schema
        parted = rows.frame.mapInArrow(PartTask(task.encoder, cuts, packs), f"{_told_types(schema)}, {PART} int")
        solved = keep_on_disk(parted.groupBy(PART).applyInArrow(solved_part, _solved_schema(schema, task)))
        exits.callback(forget_frame, solved)
        solved.count()  # by all executors at once
        # One after another: what all parts tell would grow with the table.
        summaries: list[PartSummary] = []
        counts = add_parts(_noted(solved.where(f.col(CLASS) == TOLD).select(SUMMARY), summaries))
    return SolvedRows(rows, solved, task.made, sorted(summaries, key=lambda summary: summary.part), counts)


def _noted(told: DataFrame, summaries: list[PartSummary]) -> Iterator[pl.DataFrame]:
    """Yield the counts of part after part; everything else that it tells is put down among ``summaries``."""
    for row in told.toLocalIterator():
        summary = PartSummary.read(bytes(row[0]))
        summaries.append(replace(summary, counts=summary.counts.clear()))
        yield summary.counts


def _told_types(schema: StructType) -> str:
    return ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in schema.fields)


def _solved_schema(schema: StructType, task: SolveTask) -> str:
    kept = ", ".join(f"`{name}` {schema[name].dataType.simpleString()}" for name in task.kept)
    kinds = ["array<string>" if name in task.sets else "string" for name in task.made]
    made = "".join(f"{own} {kind}, " for own, kind in zip(task.columns, kinds, strict=True))
    return f"{kept}, {made}{CLASS} bigint, {WHY} string, {SUMMARY} binary"


def totals_of(frame: DataFrame, units: Units) -> tuple[int, int]:
    """Return how many units a frame has, and the sum of hashes that tells whether one changed."""
    with tell_plainly("make the release"):
        told = count_different_rows(frame, [], [units.hashed()]).select(TUPLE_TIMES, f"{SUMS}0").collect()[0]
    return int(told[0] or 0), int(told[1] or 0)


def records_of_classes(joined: Joined) -> tuple[int, int]:
    """Return how many records the individuals have who are released, and those who are suppressed."""
    from pyspark.sql import functions as f

    gone = f.col(WHY).isNotNull()
    with tell_plainly("count the groups of the release"):
        told = joined.frame.agg(f.sum(f.when(~gone, f.col(RECORDS))), f.sum(f.when(gone, f.col(RECORDS)))).collect()[0]
    return int(told[0] or 0), int(told[1] or 0)


def group_sizes(joined: Joined, policy: Policy, *, stars_take_part: bool) -> GroupSizes:
    """Return how large the groups of equal released rows are; rows of stars are in none.

    Where ``stars_take_part``, only those of whom nothing is shown are in none.
    """
    from pyspark.sql import functions as f

    cells = [joined.shown(name) for name in policy.quasi_identifiers]
    star = f.lit(True)
    for cell in cells:
        star = star & (f.col(cell) == STAR)
    here = f.col(WHY).isNull() if stars_take_part else ~star
    units = f.sum(TUPLE_TIMES) if joined.counted else f.count(f.lit(1))
    released = joined.frame.where((f.col(CLASS) >= 0) & here)
    inside = released.groupBy(*cells).agg(units.alias(SPAN_COUNT))
    square = (f.col(SPAN_COUNT).cast("decimal(20,0)") * f.col(SPAN_COUNT)).cast("decimal(38,0)")
    with tell_plainly("count the groups of the release"):
        told = inside.agg(f.count(f.lit(1)), f.sum(SPAN_COUNT), f.sum(square)).collect()[0]
        everyone = joined.frame.agg(units).collect()[0][0]
    number, records, squares = (int(value or 0) for value in told)
    return GroupSizes(number, records, squares, int(everyone or 0) - records)
