"""Rows of Spark in a process of an executor, encoded with the trees of the whole table.

Everything here is sent to executors, which need kveil for it. Nothing holds more than a batch, or a part, of a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from kveil.algorithms.splitting.first_cuts import LEFT_OUT, LeafSpans, PartCuts
from kveil.algorithms.splitting.span_counts import PART, count_limits, count_spans, smallest_rows
from kveil.arrays import Ints, Longs
from kveil.engines.memory import numbers_held
from kveil.engines.spark.driver_tuples import TUPLE_TIMES, in_utc
from kveil.engines.spark.units import SET, Units
from kveil.files import Source
from kveil.kernels.grouping.members import members_by_group
from kveil.table.encode import encode_some
from kveil.table.sensitive import changed_meanwhile
from kveil.table.table import Table
from kveil.version import __version__

SPANS, VALUES = "spans", "values"  # the codes of a row: of its quasi-identifiers, and of what models count


def arrow_of(frame: pl.DataFrame) -> Any:
    """Return a frame as Spark takes it, which knows texts and lists of the common size alone."""
    import pyarrow as pa

    rows = frame.to_arrow(compat_level=pl.CompatLevel.oldest())

    def common(kind: Any) -> Any:
        if pa.types.is_large_string(kind):
            return pa.string()
        return pa.list_(common(kind.value_type)) if pa.types.is_large_list(kind) else kind

    return rows.cast(pa.schema([pa.field(field.name, common(field.type)) for field in rows.schema]))


@dataclass(frozen=True)
class RowLayout:
    """Which columns Spark has for what the policy names: as they are, or in a set of an individual's records.

    ``carried`` are the columns that are released as they are and are no part of a tuple.
    """

    where: str
    named: tuple[str, ...]
    places: tuple[str, ...]
    carried: tuple[str, ...]
    carried_places: tuple[str, ...]
    individuals: bool

    @classmethod
    def of(cls, units: Units) -> RowLayout:
        """Return the layout of a table's records or individuals."""
        places = tuple(map(units.table.place, units.named))
        carried = tuple(map(units.table.place, units.carried))
        return cls(units.table.name, units.named, places, units.carried, carried, units.individuals)


@dataclass(frozen=True)
class EncodedRows:
    """Rows of Spark as a source under the names of the policy, and as a table."""

    source: Source
    table: Table


@dataclass(frozen=True)
class RowEncoder:
    """Encodes rows of Spark with the trees and values of the whole table; of tuples, or of records one by one."""

    whole: Table
    layout: RowLayout
    tuples: bool
    version: str = __version__

    def encode(self, rows: Any, *, checked: bool = True) -> EncodedRows:
        """Return an Arrow table of tuples with counts, or of single records or individuals, encoded.

        Unless it is to be ``checked``, individuals' records may disagree.
        """
        if self.version != __version__:
            raise RuntimeError(f"kveil {self.version} sent this, and the executor has {__version__}")
        layout, policy = self.layout, self.whole.policy
        if layout.individuals:
            frame, of_row = self._records(rows)
        else:
            frame = pl.DataFrame(
                [_column(rows, place, name) for name, place in _pairs(layout, carried=not self.tuples)]
            )
            of_row = np.arange(frame.height, dtype=np.int32)
        source = numbers_held(Source(layout.where, frame, "frame"), policy)
        times = rows.column(TUPLE_TIMES).to_numpy().astype(np.int64) if self.tuples else None
        return EncodedRows(source, encode_some(source, self.whole, times=times, of_row=of_row, checked=checked))

    def _records(self, rows: Any) -> tuple[pl.DataFrame, Ints]:
        """Return the records of individuals, those of one side by side."""
        sets = _column(rows, SET, SET)
        structs = sets.explode(empty_as_null=True)
        lengths = sets.list.len().to_numpy().astype(np.int64)
        of_row = np.repeat(np.arange(len(sets), dtype=np.int32), lengths)
        cells = [
            in_utc(structs.struct.field(p)).alias(n) for n, p in zip(self.layout.named, self.layout.places, strict=True)
        ]
        if not self.tuples:
            carried = zip(self.layout.carried, self.layout.carried_places, strict=True)
            cells += [_column(rows, place, name).gather(of_row) for name, place in carried]
        return pl.DataFrame([*cells, pl.Series(str(self.whole.policy.individual_column), of_row)]), of_row


def _pairs(layout: RowLayout, *, carried: bool) -> Iterator[tuple[str, str]]:
    yield from zip(layout.named, layout.places, strict=True)
    if carried:
        yield from zip(layout.carried, layout.carried_places, strict=True)


def _column(rows: Any, place: str, name: str) -> pl.Series:
    held: Any = pl.Series(name, pl.from_arrow(rows.column(place)))
    return in_utc(held)


# ------------------------------------------------------------------------------------------------ codes


def _as_bytes(numbers: Ints, lengths: Longs) -> Any:
    """Return an Arrow column with so many of the numbers in each cell, as bytes."""
    import pyarrow as pa

    ends = np.concatenate([[0], np.cumsum(lengths) * numbers.itemsize]).astype(np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(np.ascontiguousarray(numbers))]
    return pa.Array.from_buffers(pa.binary(), len(lengths), buffers)


def _from_bytes(column: Any) -> tuple[Ints, Longs]:
    """Return the numbers of all cells, one cell after another, and how many each has."""
    import pyarrow as pa

    cells = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if not len(cells):
        return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
    _, ends, content = cells.buffers()
    places = np.frombuffer(ends, dtype=np.int32)[cells.offset : cells.offset + len(cells) + 1]
    numbers = np.frombuffer(content, dtype=np.uint8)[places[0] : places[-1]].view(np.int32)
    return numbers.copy(), np.diff(places).astype(np.int64) // numbers.itemsize


@dataclass(frozen=True)
class RowCodes:
    """Rows of Spark as codes, a cell of bytes for spans and one for each sensitive attribute called ``names``.

    They are what is counted again and again: texts are looked up once.
    """

    encoder: RowEncoder
    names: tuple[str, ...]

    @property
    def schema(self) -> str:
        """The columns, as Spark is told of them."""
        values = "".join(f"{VALUES}{number} binary, " for number in range(len(self.names)))
        return f"{SPANS} binary, {values}{TUPLE_TIMES} long"

    def write(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Return batches of rows as codes."""
        import pyarrow as pa

        for batch in batches:
            table = self.encoder.encode(pa.Table.from_batches([batch]), checked=False).table
            spans = np.ascontiguousarray(np.concatenate([table.low, table.high]).T)
            columns = {SPANS: _as_bytes(spans, np.full(table.rows, spans.shape[1], dtype=np.int64))}
            for number, name in enumerate(self.names):
                own = table.sensitive[name]
                by_row = members_by_group(own.row, table.rows)
                codes = own.code[by_row.rows]
                columns[f"{VALUES}{number}"] = _as_bytes(codes, np.diff(by_row.starts))
            yield pa.RecordBatch.from_pydict({**columns, TUPLE_TIMES: pa.array(table.weights, pa.int64())})

    def read(self, batch: Any) -> Table:
        """Return rows that were written as codes."""
        whole = self.encoder.whole
        spans = _from_bytes(batch.column(SPANS))[0].reshape(batch.num_rows, 2, len(whole.names))
        low, high = (np.ascontiguousarray(spans[:, side, :].T) for side in range(2))
        sensitive = {}
        for number, name in enumerate(self.names):
            codes, lengths = _from_bytes(batch.column(f"{VALUES}{number}"))
            row = np.repeat(np.arange(batch.num_rows, dtype=np.int32), lengths)
            sensitive[name] = replace(whole.sensitive[name], row=row, code=codes)
        times = batch.column(TUPLE_TIMES).to_numpy().astype(np.int64)
        return whole.changed(leaves=low, low=low, high=high, sensitive=sensitive, times=times)


CountBatch = Callable[[Table], pl.DataFrame]


@dataclass(frozen=True)
class CountTask:
    """Counts batches of codes."""

    codes: RowCodes
    count: CountBatch

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield from arrow_of(self.count(self.codes.read(batch))).to_batches()


@dataclass(frozen=True)
class LimitCount:
    """Counts groups of equal limits; see `span_counts`."""

    names: tuple[str, ...]
    attributes: tuple[int, ...]

    def __call__(self, table: Table) -> pl.DataFrame:
        return count_limits(table, self.names, self.attributes)


@dataclass(frozen=True)
class SpanCount:
    """Counts the spans of some parts; see `span_counts`."""

    names: tuple[str, ...]
    cuts: PartCuts
    parts: tuple[int, ...]

    def __call__(self, table: Table) -> pl.DataFrame:
        return count_spans(table, self.names, self.cuts, self.parts)


@dataclass(frozen=True)
class FirstRows:
    """Finds the first row of every part in canonical order; see `span_counts`."""

    cuts: PartCuts

    def __call__(self, table: Table) -> pl.DataFrame:
        return smallest_rows(table, self.cuts.part_of(LeafSpans.of(table)))


@dataclass(frozen=True)
class PartTask:
    """Adds to batches of rows the part that each belongs to; ``packs`` joins parts, where it is given."""

    encoder: RowEncoder
    cuts: PartCuts
    packs: Mapping[int, int] | None

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        pack = np.zeros(self.cuts.number, dtype=np.int32)
        for own, number in ({} if self.packs is None else self.packs).items():
            pack[own] = number
        for batch in batches:
            part = self.cuts.part_of(LeafSpans.of(self.encoder.encode(pa.Table.from_batches([batch])).table))
            if (part < LEFT_OUT).any():  # a span that nobody had when the parts were cut
                raise changed_meanwhile(self.encoder.layout.where)
            if self.packs is not None:
                part = np.append(pack, LEFT_OUT)[part].astype(np.int32)
            yield pa.RecordBatch.from_arrays([*batch.columns, pa.array(part, pa.int32())], [*batch.schema.names, PART])
