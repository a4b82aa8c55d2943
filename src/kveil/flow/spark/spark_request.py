"""What a run on Spark is asked for, and what is told of a release there whichever way it was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from kveil.algorithms.algorithm import Algorithm
from kveil.engines.spark.cell_warnings import count_distinct_rows, count_formulas
from kveil.engines.spark.counting import Types
from kveil.policy.model import Policy
from kveil.report.warn.cells import FORMULA, NUMBER, count_formula_starts, formula_cells, formula_names, unique_columns
from kveil.verifier.rows import TIMES

SparkFrame = Any  # only the engine knows Spark


@dataclass(frozen=True)
class SparkRequest:
    """What a run on Spark is asked for: a policy, the algorithms its choice stands for, and a bound."""

    policy: Policy
    able: Sequence[Algorithm]
    bounded: bool


def cell_warnings(
    release: SparkFrame, policy: Policy, types: Types, rows: int, *, counted: pl.DataFrame | None = None
) -> list[str]:
    """Return warnings about a release's own cells, as for one in memory.

    ``counted`` are groups of rows as they were read back, which have some of the columns.
    """
    plain = [name for name, kind in types.items() if kind != pl.List]
    here = [] if counted is None else [name for name in counted.columns if types.get(name) == pl.String]
    others = {name: kind for name, kind in types.items() if name not in here}
    cells = formula_names(list(types)) + count_formulas(release, others, FORMULA, NUMBER)
    if counted is not None:
        cells += sum(count_formula_starts(counted[name], times=counted[TIMES].to_numpy()) for name in here)
    distinct = count_distinct_rows(release, [name for name in plain if name in policy.unchanged])
    return [*unique_columns(policy, plain, rows, distinct), *formula_cells(cells)]
