"""Tables on Spark as what every use of them starts with: checked, and brought to the driver as tuples with counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kveil.databases import Place
from kveil.engines.spark.driver_tuples import tuples_of
from kveil.engines.spark.reading import SparkTable, check_table, compared_columns, open_table
from kveil.engines.spark.session import setting_of, spark_session
from kveil.engines.spark.units import Units, check_cells, units_of
from kveil.files import Source, free_memory
from kveil.policy.model import Policy
from kveil.table.encode import encode_tuples
from kveil.table.table import Table

PER_TUPLE = 950  # bytes of memory that the driver takes per tuple, as measured with nine columns
SHARE = 0.6  # of the free memory that tuples may take
PART_TUPLES = 500_000  # of a part that an executor solves


@dataclass(frozen=True)
class ReadTuples:
    """The tuples of a table, encoded, and how many records there are."""

    source: Source
    table: Table
    records: int


def read_tuples(place: Place, policy: Policy) -> ReadTuples:
    """Return the tuples of a table that is only looked at."""
    units = check_units(open_table(spark_session(), place, compared=compared_columns(policy)), policy)
    tuples = tuples_of(units, policy, DriverLimits.of(units.table.session).tuples)
    encoded = encode_tuples(tuples.source, policy, tuples.times, tuples.of_row)
    return ReadTuples(tuples.source, encoded, int(tuples.records.sum()))


def check_units(table: SparkTable, policy: Policy) -> Units:
    """Return the records or individuals of a table that fits its policy."""
    check_table(table, policy)
    units = units_of(table, policy)
    check_cells(units, policy)
    return units


@dataclass(frozen=True)
class DriverLimits:
    """How many tuples the driver may hold, and how many a part has at most that an executor solves.

    Settings of the session say so, `spark.kveil.most_tuples` and `spark.kveil.part_tuples`; without the first, the
    memory of the driver does.
    """

    tuples: int
    part: int = PART_TUPLES

    @classmethod
    def of(cls, session: Any) -> DriverLimits:
        """Return the limits that hold in a session."""
        most, part = (setting_of(session, name) for name in ("spark.kveil.most_tuples", "spark.kveil.part_tuples"))
        return cls(most_tuples() if most is None else most, PART_TUPLES if part is None else max(part, 1))


def most_tuples() -> int:
    """Return how many tuples fit into the memory of the driver."""
    free = free_memory()
    return 100_000_000 if free is None else int(free * SHARE / PER_TUPLE)
