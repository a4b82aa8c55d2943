"""Parts of a table solved on executors: what every row of a part shows, and what the whole has to know of the part.

A part gives its rows with what they show, and one row more with a summary. Errors of kveil come in the summary, too:
whatever an executor raises, Spark tells together with the rows that it was given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from kveil.algorithms.component import table_of_component
from kveil.algorithms.registry import find
from kveil.algorithms.splitting.first_cuts import LEFT_OUT
from kveil.algorithms.splitting.mondrian import split_part
from kveil.algorithms.splitting.span_counts import PART
from kveil.arrays import Longs
from kveil.engines.part_solutions import with_share
from kveil.engines.solver import part_solver
from kveil.engines.spark.batches import EncodedRows, RowEncoder, arrow_of
from kveil.engines.spark.showing import CLASS, NOT_SHOWN, WHY
from kveil.engines.summary import COUNTED, PartSummary, summarize
from kveil.errors import KveilError
from kveil.files import as_texts, with_commas
from kveil.free_form import GivenOptions
from kveil.policy.components import sensitive_starred_with
from kveil.policy.model import Policy
from kveil.table.decode import decode
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table

SUMMARY = "summary"
TOLD = -2  # the class of the one row that has the summary of its part


# ------------------------------------------------------------------------------------------------ ways to solve


@dataclass(frozen=True)
class SplitPart:
    """Splits a part as Mondrian does."""

    whole_table: Mapping[str, Longs]
    by_gain: bool

    def __call__(self, table: Table) -> Solution:
        return split_part(table, self.whole_table, by_gain=self.by_gain)


@dataclass(frozen=True)
class SolvePart:
    """Solves a part with an algorithm, as `engines.parts` does; it may leave out its share of what remains."""

    algorithm: str
    options: GivenOptions
    remaining: int
    inside: int

    def __call__(self, table: Table) -> Solution:
        own = with_share(table, self.remaining, self.inside)
        return part_solver(find(self.algorithm), own, self.options)(own)


@dataclass(frozen=True)
class SolveWhole:
    """Solves a table that is one part."""

    algorithm: str
    options: GivenOptions

    def __call__(self, table: Table) -> Solution:
        return part_solver(find(self.algorithm), table, self.options)(table)


# ------------------------------------------------------------------------------------------------ a part


def starred_columns(policy: Policy) -> list[str]:
    """Return the sensitive columns of records that show `*` where their record is shown so."""
    if policy.individual_column is not None or policy.suppression.show == "drop" or not policy.suppression.limit:
        return []
    beside = {name for names in sensitive_starred_with(policy) for name in names}
    return [name for name in policy.with_role("sensitive") if name in beside]


@dataclass(frozen=True)
class SolveTask:
    """Solves a part: an Arrow table of rows comes in, one of the same rows with what they show goes out.

    ``kept`` are the columns that come back as they are, ``made`` the released ones that are made, called `m0` and so
    on, or from another number on, where others were made before; those in ``sets`` hold sets of items. ``component`` is
    the number of the component that is solved, None where all are at once.
    """

    encoder: RowEncoder
    solve: SplitPart | SolvePart | SolveWhole
    kept: tuple[str, ...]
    made: tuple[str, ...]
    sets: tuple[str, ...]
    why: str
    _: KW_ONLY
    component: int | None = None
    before: int = 0

    @property
    def columns(self) -> list[str]:
        """What Spark calls the made columns."""
        return [f"m{self.before + i}" for i in range(len(self.made))]

    def __call__(self, rows: Any) -> Any:
        import pyarrow as pa

        part = int(rows.column(PART)[0].as_py())
        try:
            encoded = self.encoder.encode(rows)
            if self.component is not None:
                encoded = replace(encoded, table=table_of_component(encoded.table, self.component))
            solution = self._left_out(encoded.table) if part == LEFT_OUT else self.solve(encoded.table)
            shown = self._shown(encoded, solution)
            summary = summarize(part, encoded.table, solution)
        except KveilError as error:
            told = (type(error).__name__, str(error), int(getattr(error, "lost", None) or 0))
            shown, rows = None, rows.slice(0, 0)
            summary = PartSummary(part, pl.DataFrame(schema=COUNTED), error=told)
        laid = rows.select(list(self.kept))
        made = arrow_of(self._no_rows() if shown is None else shown)
        laid = pa.table([*laid.columns, *made.columns], names=[*laid.column_names, *made.column_names])
        laid = laid.append_column(SUMMARY, pa.nulls(laid.num_rows, pa.binary()))
        told_of = {name: [None] for name in laid.column_names} | {CLASS: [TOLD], SUMMARY: [summary.as_bytes()]}
        return pa.concat_tables([laid, pa.Table.from_pydict(told_of, laid.schema)])

    def _left_out(self, table: Table) -> Solution:
        """Return the solution of rows that no part can hold."""
        nothing = np.zeros(table.rows, dtype=np.int32)
        shown = tuple(Shown.covering(tree, nothing[:1], nothing[:1], nothing) for tree in table.trees)
        everyone = np.arange(table.rows, dtype=np.int32)
        return Solution(shown, np.ones((len(table.components), table.rows), dtype=bool), {self.why: everyone})

    def _shown(self, encoded: EncodedRows, solution: Solution) -> pl.DataFrame:
        """Return the made columns of all rows, with their class and the reason why they are left out."""
        table, policy = encoded.table, encoded.table.policy
        as_they_come = policy.release.model_copy(update={"order": "keep"})
        laid = table.changed(policy=policy.model_copy(update={"release": as_they_come}))
        release = decode(encoded.source, laid, solution)
        number = np.full(table.rows, NOT_SHOWN, dtype=np.int64)
        number[release.rows] = 0
        why = np.full(table.rows, None, dtype=object)
        for reason, who in solution.reasons.items():
            why[who] = reason
        made = {name: self._column(encoded, release.columns.get(name), name, release.rows) for name in self.made}
        frame = with_commas(pl.DataFrame(made), encoded.source.commas.intersection(policy.unchanged))
        place = np.full(table.rows, -1, dtype=np.int64)
        place[release.rows] = np.arange(len(release.rows))
        at = pl.Series(place).replace(-1, None)
        columns = [frame[name].gather(at).alias(own) for own, name in zip(self.columns, self.made, strict=True)]
        return pl.DataFrame([*columns, pl.Series(CLASS, number), pl.Series(WHY, why.tolist(), dtype=pl.String)])

    def _column(self, encoded: EncodedRows, made: pl.Series | None, name: str, rows: Longs) -> pl.Series:
        """Return a made column as texts; where no row of a part is shown as stars, sensitive cells are as they were."""
        if made is not None and name in self.sets:
            return made.cast(pl.List(pl.String)).alias(name)
        texts = encoded.source.texts(name).gather(rows) if made is None else as_texts(made)
        return texts.cast(pl.String).alias(name)

    def _no_rows(self) -> pl.DataFrame:
        lists = [pl.List(pl.String) if name in self.sets else pl.String for name in self.made]
        kinds = dict(zip(self.columns, lists, strict=True))
        return pl.DataFrame(schema={**kinds, CLASS: pl.Int64, WHY: pl.String})


def made_columns(policy: Policy, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the released columns that are made anew, in the order of the table."""
    made = {*policy.quasi_identifiers, *starred_columns(policy), *set_columns(policy)}
    return tuple(name for name in columns if name in made)


def set_columns(policy: Policy) -> tuple[str, ...]:
    """Return the released columns that hold sets of items: the sensitive ones of individuals."""
    return tuple(policy.with_role("sensitive")) if policy.individual_column is not None else ()
