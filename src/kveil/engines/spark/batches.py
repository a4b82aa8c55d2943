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
from kveil.files import Source, frame_of
from kveil.kernels.grouping.members import members_by_group
from kveil.table.encode import encode_some
from kveil.table.sensitive import error_of_change
from kveil.table.table import Table
from kveil.version import __version__

CODES = "codes"  # of a batch of rows: the leaves of its quasi-identifiers, and what models count
LOW_LEAF, HIGH_LEAF, VALUES = "low", "high", "values"


def arrow_of(frame: pl.DataFrame) -> Any:
    """Return a frame as Spark takes it, which knows texts and lists of the common size alone."""
    import pyarrow as pa

    rows = frame.to_arrow(compat_level=pl.CompatLevel.oldest())

    def common(kind: Any) -> Any:
        if pa.types.is_large_string(kind):
            return pa.string()
        return pa.list_(common(kind.value_type)) if pa.types.is_large_list(kind) else kind

    return rows.cast(pa.schema([pa.field(field.name, common(field.type)) for field in rows.schema]))


def as_bytes(rows: Any) -> bytes:
    """Return an Arrow table as a cell of Spark holds it, packed: several copies of it are held on its way."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
        stream.write_table(rows)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def from_bytes(content: Any) -> Any:
    """Return an Arrow table that a cell of Spark holds."""
    import pyarrow as pa

    return pa.ipc.open_stream(content).read_all()


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
        return frame_of([*cells, pl.Series(str(self.whole.policy.individual_column), of_row)]), of_row


def _pairs(layout: RowLayout, *, carried: bool) -> Iterator[tuple[str, str]]:
    yield from zip(layout.named, layout.places, strict=True)
    if carried:
        yield from zip(layout.carried, layout.carried_places, strict=True)


def _column(rows: Any, place: str, name: str) -> pl.Series:
    held: Any = pl.Series(name, pl.from_arrow(rows.column(place)))
    return in_utc(held)


# ------------------------------------------------------------------------------------------------ codes


@dataclass(frozen=True)
class RowCodes:
    """Rows of Spark as codes, a cell of bytes for a whole batch; with those of the sensitive attributes ``names``.

    They are what is counted again and again: texts are looked up once, and Spark handles no single rows.
    """

    encoder: RowEncoder
    names: tuple[str, ...]
    schema: str = f"{CODES} binary"  # the columns, as Spark is told of them

    def write(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Return batches of rows as codes."""
        import pyarrow as pa

        for batch in batches:
            table = self.encoder.encode(pa.Table.from_batches([batch]), checked=False).table
            columns: dict[str, Ints | Longs | pa.ListArray] = {
                f"{LOW_LEAF}{a}": line for a, line in enumerate(table.low)
            }
            if not np.array_equal(table.low, table.high):
                columns |= {f"{HIGH_LEAF}{a}": line for a, line in enumerate(table.high)}
            for number, name in enumerate(self.names):
                own = table.sensitive[name]
                by_row = members_by_group(own.row, table.rows)
                codes, ends = own.code[by_row.rows], pa.array(by_row.starts, pa.int32())
                columns[f"{VALUES}{number}"] = pa.ListArray.from_arrays(ends, pa.array(codes))
            columns[TUPLE_TIMES] = table.weights.astype(np.int64)
            yield pa.RecordBatch.from_pydict({CODES: [as_bytes(pa.table(columns))]})

    def read(self, content: Any) -> Table:
        """Return a batch of rows that was written as codes."""
        whole, rows = self.encoder.whole, from_bytes(content)
        low, high = (
            np.array([rows.column(f"{side}{a}").to_numpy() for a in range(len(whole.names))], dtype=np.int32)
            for side in (LOW_LEAF, HIGH_LEAF if f"{HIGH_LEAF}0" in rows.column_names else LOW_LEAF)
        )
        sensitive = {}
        for number, name in enumerate(self.names):
            lists = rows.column(f"{VALUES}{number}").combine_chunks()
            row = np.repeat(np.arange(rows.num_rows, dtype=np.int32), lists.value_lengths().to_numpy())
            codes = lists.flatten().to_numpy().astype(np.int32)
            sensitive[name] = replace(whole.sensitive[name], row=row, code=codes)
        times = rows.column(TUPLE_TIMES).to_numpy().astype(np.int64)
        return whole.changed(leaves=low, low=low, high=high, sensitive=sensitive, times=times)


CountBatch = Callable[[Table], pl.DataFrame]


@dataclass(frozen=True)
class CountTask:
    """Counts batches of codes."""

    codes: RowCodes
    count: CountBatch

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for content in batch.column(CODES):
                yield from arrow_of(self.count(self.codes.read(content.as_buffer()))).to_batches()


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
                raise error_of_change(self.encoder.layout.where)
            if self.packs is not None:
                part = np.append(pack, LEFT_OUT)[part].astype(np.int32)
            yield pa.RecordBatch.from_arrays([*batch.columns, pa.array(part, pa.int32())], [*batch.schema.names, PART])
