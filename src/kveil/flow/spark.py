"""`kveil anonymize` on a cluster: tuples on the driver, the release by Spark, verified as it was written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from kveil.algorithms.algorithm import Algorithm
from kveil.algorithms.registry import loops_of
from kveil.choose import Attempt, attempt
from kveil.databases import Place
from kveil.engines.choosing import free_memory
from kveil.engines.spark.ordering import in_order
from kveil.engines.spark.reading import SparkTable, check_table, open_table
from kveil.engines.spark.session import spark_session
from kveil.engines.spark.showing import Joined, joined, shown_tuples
from kveil.engines.spark.staging import StagedFolder
from kveil.engines.spark.tuples import Tuples, tuples_of
from kveil.engines.spark.units import Units, check_cells, units_of
from kveil.errors import Refused
from kveil.files import with_commas
from kveil.flow.inputs import check_input, check_values
from kveil.flow.stages import Stages
from kveil.policy.model import Policy
from kveil.table.decode import decode
from kveil.table.encode import encode_tuples
from kveil.table.table import Table
from kveil.table.tuples import in_tuples
from kveil.words import listing

PER_TUPLE = 600  # bytes of memory that the driver takes per tuple
SHARE = 0.6  # of the free memory that tuples may take


@dataclass(frozen=True)
class SolvedTuples:
    """The tuples of a table with what was found for them."""

    units: Units
    tuples: Tuples
    table: Table
    attempt: Attempt

    def joined(self) -> Joined:
        """Return every unit with what it shows."""
        policy, source = self.table.policy, self.tuples.source
        kept = policy.release.model_copy(update={"order": "keep"})
        laid = self.table.changed(policy=policy.model_copy(update={"release": kept}))
        release = decode(source, laid, self.attempt.solution)
        made = {name: column for name, column in release.columns.items() if column is not None}
        frame = with_commas(pl.DataFrame(made), source.commas.intersection(policy.unchanged))
        return joined(self.units, self.tuples, shown_tuples(frame, release.rows, self.table.rows))


def solved_tuples(table: SparkTable, policy: Policy, able: Sequence[Algorithm], stages: Stages) -> SolvedTuples:
    """Return what the algorithms find for the tuples of a table."""
    check_table(table, policy)
    units = units_of(table, policy)
    check_cells(units, policy)
    tuples = tuples_of(units, policy, most_tuples())
    stages.begin("encoding")
    encoded = encode_tuples(tuples.source, policy, tuples.times, tuples.of_row)
    check_input(tuples.source, encoded)
    check_values(tuples.source, encoded)
    stages.end("read")
    told = stages.told_when_compiling(loops_of(policy, able))
    together = in_tuples(encoded)
    found = attempt(together.table, able, told)
    if together.table is not encoded:
        found = replace(found, solution=found.solution.spread(together.of_row))
    stages.end("solve")
    return SolvedTuples(units, tuples, encoded, found)


def most_tuples() -> int:
    """Return how many tuples the driver may hold."""
    free = free_memory()
    return 100_000_000 if free is None else int(free * SHARE / PER_TUPLE)
