"""What a whole table has to know of a part that was solved elsewhere."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field

import numpy as np
import polars as pl

from kveil import errors
from kveil.algorithms.stars import nothing_left, star_cells
from kveil.arrays import Bools
from kveil.errors import DataError, Unmeetable
from kveil.free_form import Details
from kveil.measures import items_loss
from kveil.table.scale import Scale
from kveil.table.solution import Solution
from kveil.table.table import Table

# What a summary counts of every quasi-identifier: leaves and what is shown for them; of a scale, spans of leaves, too.
NAME, LEAF, LOW, HIGH, SHOWN_CODE, LABEL, NCP, IL, IS_STAR, GONE, FRACTION, SHOWN_RECORDS = (
    "name", "leaf", "low", "high", "code", "label", "ncp", "il", "star", "gone", "fraction", "records"
)  # fmt: skip
COUNTED = {
    NAME: pl.String, LEAF: pl.Int32, LOW: pl.Int32, HIGH: pl.Int32, SHOWN_CODE: pl.Int32, LABEL: pl.String,
    NCP: pl.Float64, IL: pl.Float64, IS_STAR: pl.Boolean, GONE: pl.Boolean, FRACTION: pl.Boolean,
    SHOWN_RECORDS: pl.Int64,
}  # fmt: skip


@dataclass(frozen=True)
class PartSummary:
    """What the whole has to know of a part: its counts, how many groups it has, who would show nothing, and details.

    ``items`` is what generalized items lose and how many they are, ``values`` what released people have; ``error`` is
    what went wrong in it, by the name of an error of kveil and its sentence.
    """

    part: int
    counts: pl.DataFrame
    _: KW_ONLY
    groups: int = 0
    nothing_left: int = 0
    details: Details = field(default_factory=dict)
    items: tuple[float, int] = (0.0, 0)
    values: Mapping[str, list[str]] = field(default_factory=dict)
    error: tuple[str, str, int] | None = None

    def as_bytes(self) -> bytes:
        """Return the summary as a cell holds it."""
        kind, sentence, lost = self.error or ("", "", 0)
        told_of = pl.DataFrame(
            {
                "part": [self.part],
                "groups": [self.groups],
                "nothing": [self.nothing_left],
                "details": [json.dumps(dict(self.details))],
                "items": [json.dumps(self.items)],
                "values": [json.dumps(dict(self.values))],
                "kind": [kind],
                "said": [sentence],
                "lost": [lost],
            }
        )
        frames = io.BytesIO()
        for frame in (told_of, self.counts):
            own = io.BytesIO()
            frame.write_ipc(own)
            content = own.getvalue()
            frames.write(len(content).to_bytes(8, "big") + content)
        return frames.getvalue()

    @classmethod
    def read(cls, content: bytes) -> PartSummary:
        """Return a summary that a cell holds."""
        size = int.from_bytes(content[:8], "big")
        told = pl.read_ipc(io.BytesIO(content[8 : 8 + size])).row(0, named=True)
        counts = pl.read_ipc(io.BytesIO(content[8 + size + 8 :]))
        error = (told["kind"], told["said"], told["lost"]) if told["kind"] else None
        details, items, values = (json.loads(told[name]) for name in ("details", "items", "values"))
        return cls(
            told["part"],
            counts,
            groups=told["groups"],
            nothing_left=told["nothing"],
            details=details,
            items=tuple(items),
            values=values,
            error=error,
        )

    def raise_error(self) -> None:
        """Raise what went wrong in the part, if anything did."""
        if self.error is not None:
            kind, sentence, lost = self.error
            raise (
                Unmeetable(sentence, lost=lost) if kind == "Unmeetable" else getattr(errors, kind, DataError)(sentence)
            )


def add_parts(counts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Return counts of several parts as those of one: equal lines together, so that they do not grow with the parts."""
    together = pl.DataFrame(schema=COUNTED)
    for own in counts:
        together = pl.concat([together, own]).group_by(pl.exclude(SHOWN_RECORDS)).agg(pl.col(SHOWN_RECORDS).sum())
    return together.sort(pl.all())


def summarize(part: int, table: Table, solution: Solution) -> PartSummary:
    """Return what the whole has to know of a part."""
    counts = [_counted(table, solution, position) for position in range(len(table.names))]
    groups = int(solution.details.get("parts", 0))  # a figure for the whole's account, where it is added up
    star = _stars_to_settle(table, solution) & ~solution.suppressed_anywhere
    return PartSummary(
        part,
        pl.concat(counts),
        groups=groups,
        nothing_left=table.count(star),
        details=solution.details,
        items=items_loss(table, solution),
        values=_released_values(table, solution),
    )


def _stars_to_settle(table: Table, solution: Solution) -> Bools:
    """Return the rows of which the whole table says what their stars mean: those of one of several components, too."""
    star = nothing_left(table, solution.shown, solution.items)
    if len(table.components) > 1 and not table.stars_take_part:
        for component in table.components:
            star |= star_cells(
                [solution.shown[position] for position in table.positions(component.attributes)], table.rows
            )
    return star


def _released_values(table: Table, solution: Solution) -> dict[str, list[str]]:
    """Return the values that released people have: they decide in which order sets show their items."""
    if table.persons is None:
        return {}
    here = ~solution.suppressed_anywhere
    values = {}
    for name, own in table.sensitive.items():
        codes = np.unique(own.code[here[own.row]]).tolist()
        values[name] = [own.values[code] for code in codes if code < own.known]
    return values


def _counted(table: Table, solution: Solution, position: int) -> pl.DataFrame:
    """Return how many records have which leaf of an attribute and show what for it."""
    name, tree, shown = table.names[position], table.trees[position], solution.shown[position]
    leaf = table.leaves[position]
    spans = isinstance(tree, Scale)
    fraction = table.fractions.get(name, np.zeros(table.rows, dtype=bool))
    laid = pl.DataFrame(
        {
            LEAF: leaf,
            LOW: table.low[position] if spans else leaf,
            HIGH: table.high[position] if spans else leaf,
            SHOWN_CODE: shown.codes,
            GONE: solution.suppressed_anywhere,
            FRACTION: fraction,
            SHOWN_RECORDS: table.weights,
        }
    )
    counted = laid.group_by(pl.exclude(SHOWN_RECORDS)).agg(pl.col(SHOWN_RECORDS).sum())
    codes = counted[SHOWN_CODE].to_numpy()
    return counted.with_columns(
        pl.lit(name).alias(NAME),
        pl.Series(LABEL, [shown.labels[code] for code in codes.tolist()], dtype=pl.String),
        pl.Series(NCP, shown.ncp[codes]),
        pl.Series(IL, shown.il[codes]),
        pl.Series(IS_STAR, shown.is_star[codes]),
    ).select([pl.col(column).cast(kind) for column, kind in COUNTED.items()])
