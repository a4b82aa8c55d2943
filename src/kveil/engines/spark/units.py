"""Units of a table on Spark: what becomes one row of a release, a record, or an individual with all of its records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import polars as pl

from kveil.engines.spark.reading import SparkTable
from kveil.engines.spark.session import tell_plainly
from kveil.policy.attributes import STAR
from kveil.policy.model import Policy
from kveil.policy.privacy import sensitive_of
from kveil.table.columns import stars_in
from kveil.table.persons import records_of_nobody, varying_cells
from kveil.verifier.counts import questions

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

RECORDS = "records"  # how many records an individual has
SET = "records_of"  # the different records of an individual, sorted
NULLS = "nulls"  # which cells of such a record are null


@dataclass(frozen=True)
class Units:
    """The records of a table, or its individuals.

    A unit's tuple is made of the columns ``named`` in the policy: Spark has them as ``keys``, or as the one key `SET`,
    a sorted list of different records. What is released as it is and is no part of the tuple is ``carried``; what is
    one and is released as it is all the same, a unit has as ``constant``.
    """

    table: SparkTable
    frame: DataFrame
    named: tuple[str, ...]
    carried: tuple[str, ...]
    keys: tuple[str, ...]
    _: KW_ONLY
    constant: tuple[str, ...] = ()
    individuals: bool = False

    def are_told_by_tuples(self, policy: Policy) -> bool:
        """Tell whether tuples hold all that a release of records shows, and all that is compared of it."""
        types = dict.fromkeys(self.named, pl.String())
        return not (self.individuals or self.carried or questions(policy, types).apart)

    def hashed(self) -> Column:
        """Return a number that tells of everything a unit has: its sum over all units tells whether one changed."""
        return columns_hash([*self.keys, *map(self.table.place, self.carried)])

    def hashed_beside(self, of_tuple: Column) -> Column:
        """Return a number that tells of everything a unit has, given one that tells of its tuple."""
        return hash_number(map(self.table.place, self.carried), of_tuple) if self.carried else of_tuple


def columns_hash(columns: Sequence[str]) -> Column:
    """Return a hash of some columns that can be added up; that a cell is null counts, too."""
    return hash_number(columns).cast("decimal(20,0)")


def hash_number(columns: Iterable[str], *before: Column) -> Column:
    """Return a hash of some columns, and of numbers before them; that a cell is null counts, too."""
    from pyspark.sql import functions as f

    parts = [part for name in columns for part in (f.col(name), f.isnull(name))]
    return f.xxhash64(*before, *parts) if parts or before else f.lit(0).cast("long")


def nulls_among(cells: Sequence[Column]) -> Column:
    """Return which of some cells are null, as text: a hash of a list of records passes over nulls in them."""
    from pyspark.sql import functions as f

    return f.concat(*(f.when(cell.isNull(), f.lit("1")).otherwise(f.lit("0")) for cell in cells))


def units_of(table: SparkTable, policy: Policy) -> Units:
    """Return the records of a table, or its individuals, where the policy names a column for them."""
    named = tuple_columns(policy)
    carried = tuple(name for name in table.columns if name in policy.released and name not in named)
    keys = tuple(map(table.place, named))
    if policy.individual_column is None:
        return Units(table, table.frame, named, carried, keys)
    return _individuals(table, policy, named, carried)


def tuple_columns(policy: Policy) -> tuple[str, ...]:
    """Return the columns that tell tuples apart: quasi-identifiers, what models count, what dependencies name.

    Where records may be shown as stars, their sensitive values are, too, which is decided tuple by tuple.
    """
    wanted = {name for model in policy.privacy for name in sensitive_of(model)}
    wanted |= {name for rule in policy.dependencies for name in rule.left + rule.right}
    starred = policy.suppression.show == "star" and policy.suppression.limit > 0
    for name in policy.with_role("sensitive"):
        if starred or policy.individual_column is not None or policy.attributes[name].hierarchy is not None:
            wanted.add(name)
    return tuple(name for name in policy.released if name in wanted or name in policy.quasi_identifiers)


def _individuals(table: SparkTable, policy: Policy, named: tuple[str, ...], carried: tuple[str, ...]) -> Units:
    from pyspark.sql import functions as f

    assert policy.individual_column is not None
    constant = tuple(name for name in named if policy.attributes[name].role == "insensitive")
    cells = [table.column(name) for name in named]
    placed = (cell.alias(table.place(name)) for name, cell in zip(named, cells, strict=True))
    records = f.struct(*placed, nulls_among(cells).alias(NULLS))
    frame = table.frame.groupBy(table.column(policy.individual_column)).agg(
        f.array_sort(f.collect_set(records)).alias(SET),
        f.count(f.lit(1)).alias(RECORDS),
        *(f.min(table.column(name)).alias(table.place(name)) for name in (*carried, *constant)),
    )
    return Units(table, frame, named, carried, (SET,), constant=constant, individuals=True)


def check_cells(units: Units, policy: Policy) -> None:
    """Raise DataError where cells that no tuple has are what no table may have.

    That is a literal `*` in a column that is released as it is, a record of nobody, and what is released as it is and
    varies within an individual.
    """
    from pyspark.sql import functions as f

    table = units.table
    texts = [name for name in (*units.carried, *units.named) if table.is_text(name) and name in policy.unchanged]
    stars = texts if STAR not in policy.data.missing else []
    counts = [f.count(f.when(table.column(name) == STAR, 1)) for name in stars]
    person = policy.individual_column
    if person is not None:
        absent = table.column(person).isNull()
        if table.is_text(person):
            absent |= table.column(person).isin(list(policy.data.missing))
        elif table.kinds[table.columns.index(person)] in {"FloatType", "DoubleType"}:
            absent |= f.isnan(table.column(person))
        counts.append(f.count(f.when(absent, 1)))
    if not counts:
        return
    with tell_plainly(f"read {table.name}"):
        told = list(table.frame.agg(*counts).collect()[0])
    for name, number in zip(stars, told, strict=False):
        if number:
            raise stars_in(table.name, name, number)
    if person is not None and told[-1]:
        raise records_of_nobody(table.name, person, told[-1])
    if person is not None:
        _check_constant(units, policy, person)


def _check_constant(units: Units, policy: Policy, person: str) -> None:
    from pyspark.sql import functions as f

    table = units.table
    names = policy.with_role("insensitive")
    if not names:
        return
    varies = []
    for name in names:
        cell = table.column(name)
        known = f.count(cell)
        varies.append(~f.min(cell).eqNullSafe(f.max(cell)) | ((known > 0) & (known < f.count(f.lit(1)))))
    people = table.frame.groupBy(table.column(person)).agg(*(v.alias(f"v{i}") for i, v in enumerate(varies)))
    with tell_plainly(f"read {table.name}"):
        some = f.greatest(*(f.col(f"v{i}").cast("int") for i in range(len(names))), f.lit(0))
        counts = (f.count(f.when(f.col(f"v{i}"), 1)) for i in range(len(names)))
        told = people.agg(*counts, f.sum(some)).collect()[0]
    varying = [name for name, number in zip(names, told, strict=False) if number]
    if varying:
        raise varying_cells(table.name, varying, told[len(names)])
