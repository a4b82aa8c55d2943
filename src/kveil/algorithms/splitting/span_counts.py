"""What the first cuts of a table need to be counted, and who goes where: one way for all machines that count.

Counts are frames with a line per count, so that those of several machines are added up by grouping. ``VALUE`` is the
number of a sensitive attribute among those counted, with the code of one of its values in ``CODE``. `RECORD_COUNT`
there stands for the records themselves, `ROW_COUNT` for the rows that stand for them, `CONFLICT_COUNT` for people whose
records disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import polars as pl

from kveil.algorithms.splitting.first_cuts import (
    LEFT_OUT,
    CountedSpans,
    FirstCuts,
    LeafSpans,
    PartCuts,
    limit_keys,
    limits_of,
)
from kveil.arrays import Bools, Ints, Longs
from kveil.models.groups import Pairs
from kveil.table.table import Table

PART, ATTRIBUTE, KEY, SPAN_VALUE, CODE, SPAN_COUNT = (
    "part",
    "attribute",
    "key",
    "value",
    "code",
    "count",
)
RECORD_COUNT, ROW_COUNT, CONFLICT_COUNT = -1, -2, -3
ANY = -1
_ROWS = "rows"
_COUNTED = {SPAN_VALUE: pl.Int32(), CODE: pl.Int32(), SPAN_COUNT: pl.Int64()}
LIMIT_COUNTS = pl.Schema({KEY: pl.List(pl.Int64), **_COUNTED})
SPAN_COUNTS = pl.Schema({PART: pl.Int32(), ATTRIBUTE: pl.Int32(), KEY: pl.Int64(), **_COUNTED})


class SpanCounter(Protocol):
    """Whoever can count a table, wherever it lies."""

    def limits(self) -> pl.DataFrame:
        """Return the counts of `count_limits` over all rows."""

    def spans(self, cuts: PartCuts, parts: Sequence[int]) -> pl.DataFrame:
        """Return the counts of `count_spans` over all rows of some parts."""


# ------------------------------------------------------------------------------------------------ on some rows


def count_limits(table: Table, names: Sequence[str], attributes: Sequence[int]) -> pl.DataFrame:
    """Count groups of equal limits among some rows, and what they have of the sensitive attributes called ``names``."""
    keys = limit_keys(LeafSpans.of(table), attributes, limits_of(table))
    lines = [pl.Series(f"{a}", line) for a, line in enumerate(keys)] or [pl.Series("0", np.zeros(table.rows, np.int64))]
    laid = pl.DataFrame(lines).select(pl.concat_list(pl.all()).alias(KEY))
    counted = [part.select(*LIMIT_COUNTS) for part in _counted(laid, table, names)]
    return _together([*counted, _conflicts(table)], LIMIT_COUNTS)


def _conflicts(table: Table) -> pl.DataFrame:
    """Count the people whose records disagree: on each attribute, by its place, and on any of them, as `ANY`."""
    differs = table.low != table.high
    told = {a: table.count(own) for a, own in enumerate(differs) if own.any()}
    if told:
        told[ANY] = table.count(differs.any(axis=0))
    columns = {
        KEY: [[ANY]] * len(told),
        SPAN_VALUE: [CONFLICT_COUNT] * len(told),
        CODE: list(told),
        SPAN_COUNT: list(told.values()),
    }
    return pl.DataFrame(columns, LIMIT_COUNTS)


def count_spans(table: Table, names: Sequence[str], cuts: PartCuts, parts: Sequence[int]) -> pl.DataFrame:
    """Count the spans of every quasi-identifier in some parts, among some rows, and what they have."""
    spans = LeafSpans.of(table)
    part = cuts.part_of(spans)
    here = np.isin(part, list(parts))
    counted = []
    for a in range(len(table.names)):
        laid = pl.DataFrame({PART: part, KEY: spans.keys(a)}).with_columns(pl.lit(a, pl.Int32).alias(ATTRIBUTE))
        counted += [own.select(*SPAN_COUNTS) for own in _counted(laid, table, names, here=here)]
    return _together(counted, SPAN_COUNTS)


def _counted(
    laid: pl.DataFrame, table: Table, names: Sequence[str], *, here: Bools | None = None
) -> list[pl.DataFrame]:
    """Return the lines of some rows with counts: of rows, of records, and of the values that they have.

    Each line is there once: lines of all attributes together would be many times as many to group.
    """
    rows = np.arange(table.rows) if here is None else np.flatnonzero(here)
    weights = pl.Series(SPAN_COUNT, table.weights[rows].astype(np.int64))
    own = laid[rows].with_columns(weights).group_by(laid.columns).agg(pl.len().alias(_ROWS), pl.col(SPAN_COUNT).sum())
    counted = [
        own.select(*laid.columns, *_told(number), pl.col(of).cast(pl.Int64).alias(SPAN_COUNT))
        for number, of in ((ROW_COUNT, _ROWS), (RECORD_COUNT, SPAN_COUNT))
    ]
    for number, name in enumerate(names):
        pairs = table.sensitive[name]
        chosen = slice(None) if here is None else here[pairs.row]
        row, code = pairs.row[chosen], pairs.code[chosen]
        times = pl.Series(SPAN_COUNT, table.weights[row].astype(np.int64))
        pair = laid[row].with_columns(pl.Series(CODE, code.astype(np.int32)), times)
        together = pair.group_by(*laid.columns, CODE).agg(pl.col(SPAN_COUNT).sum())
        counted.append(together.with_columns(pl.lit(number, pl.Int32).alias(SPAN_VALUE)))
    return counted


def _told(number: int) -> list[pl.Expr]:
    """Return what a line counts, where that is no value."""
    return [pl.lit(number, pl.Int32).alias(SPAN_VALUE), pl.lit(0, pl.Int32).alias(CODE)]


def _together(counted: Sequence[pl.DataFrame], schema: pl.Schema) -> pl.DataFrame:
    frame = pl.concat(counted) if counted else pl.DataFrame(schema=schema)
    return frame.select(pl.col(name).cast(kind) for name, kind in schema.items())


def smallest_rows(table: Table, part: Ints) -> pl.DataFrame:
    """Return the first row of every part in canonical order: its leaves, low and high of each attribute in turn."""
    keys = [key for pair in zip(table.low, table.high, strict=True) for key in pair]
    order = np.lexsort(tuple(reversed([part, *keys])))
    first = order[np.flatnonzero(np.append(True, np.diff(part[order]) != 0))] if len(order) else order
    rows = np.array([key[first] for key in keys], dtype=np.int64).T.tolist()
    return pl.DataFrame(
        {PART: part[first].astype(np.int32), KEY: rows},
        {PART: pl.Int32, KEY: pl.List(pl.Int64)},
    )


# ------------------------------------------------------------------------------------------------ all together


def read_counts(frame: pl.DataFrame, names: Sequence[str], known: Sequence[int]) -> CountedSpans:
    """Return the counts of one part and attribute; ``known`` has how many values each sensitive attribute has.

    ``frame`` has, sorted, the numbers of spans in ``KEY``.
    """
    records = frame.filter(pl.col(SPAN_VALUE) == RECORD_COUNT).sort(KEY)
    keys = records[KEY].to_numpy().astype(np.int64)
    pairs = {}
    for number, name in enumerate(names):
        own = frame.filter(pl.col(SPAN_VALUE) == number).sort(KEY, CODE)
        at = np.searchsorted(keys, own[KEY].to_numpy()).astype(np.int32)
        codes, counts = own[CODE].to_numpy().astype(np.int32), own[SPAN_COUNT].to_numpy().astype(np.int64)
        pairs[name] = Pairs(at, codes, counts, known[number])
    return CountedSpans(keys, records[SPAN_COUNT].to_numpy().astype(np.int64), pairs)


@dataclass(frozen=True)
class PartSize:
    """How many rows and records a part has."""

    rows: int
    records: int


@dataclass
class CutTable:
    """A table that was cut: the cuts, and how many records each part has."""

    cuts: PartCuts
    records: dict[int, int] = field(default_factory=dict)

    @property
    def parts(self) -> list[int]:
        """The parts that were not cut further."""
        return [part for part in self.records if part not in self.cuts.cuts and part != LEFT_OUT]


def cut_down(
    first: FirstCuts,
    cut_table: CutTable,
    counter: SpanCounter,
    too_large: Callable[[PartSize], bool],
    names: Sequence[str],
) -> None:
    """Cut the parts of a table, as long as they are too large and can be cut. A count of all rows for each level.

    ``names`` are the sensitive attributes that the counter counts, in its order.
    """
    cuts, table = cut_table.cuts, first.component.table
    spans = LeafSpans.of(table)
    known = [table.sensitive[name].known for name in names]
    active = [part for part, records in cut_table.records.items() if too_large(PartSize(records, records))]
    while active:
        told = counter.spans(cuts, active).partition_by(PART, ATTRIBUTE, as_dict=True)
        waiting: list[int] = []
        for part in active:
            own = [told[part, a] for a in range(len(table.names))]
            rows = int(own[0].filter(pl.col(SPAN_VALUE) == ROW_COUNT)[SPAN_COUNT].sum())
            if not too_large(PartSize(rows, cut_table.records[part])):
                continue
            counted = [read_counts(frame, names, known) for frame in own]
            cut = first.cut(spans, counted, cuts.number)
            if cut is None:
                continue
            cuts.cuts[part] = cut
            sizes: Longs = np.bincount(cut.part - cuts.number, weights=counted[cut.attribute].weights).astype(np.int64)
            for number, records in enumerate(sizes.tolist()):
                cut_table.records[cuts.number + number] = records
                if too_large(PartSize(records, records)):
                    waiting.append(cuts.number + number)
            cuts.number += len(sizes)
        active = waiting


def packs_of_parts(records: dict[int, int], first: pl.DataFrame, most: int) -> dict[int, int]:
    """Return the pack of every part: neighbours in canonical order together, as long as they have few records.

    ``first`` has the first row of every part, by `smallest_rows`.
    """
    order = first.group_by(PART).agg(pl.col(KEY).sort().first()) if first.height else first
    ranked = sorted(order.iter_rows(), key=lambda line: line[1])
    pack: dict[int, int] = {}
    packs, held = -1, most
    for part, _ in ranked:
        if held + records[part] > most:
            packs, held = packs + 1, 0
        pack[part] = packs
        held += records[part]
    return pack
