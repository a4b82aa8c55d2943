"""What the verifier asks to be counted of a release on Spark: on the join with the original, and on what was written.

Spark groups and adds up; what is compared with what is decided by `kveil.verifier.counts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from kveil.arrays import Bools, Longs
from kveil.engines.spark.driver_tuples import CountedTuples, count_different_rows, in_slices
from kveil.engines.spark.laying import PERSON_COLUMN, LaidTuples, lay_slices, some_star
from kveil.engines.spark.showing import Joined
from kveil.engines.spark.tuple_join import lay_known
from kveil.engines.spark.tuple_release import HeldRelease
from kveil.engines.spark.units import hash_number
from kveil.files import frame_of
from kveil.policy.attributes import STAR
from kveil.policy.model import Policy
from kveil.table.sensitive import error_of_change
from kveil.verifier.alignment import SHOWN, STARRED, VALUE, WAS
from kveil.verifier.counts import OriginalCounts, Questions, ReleaseCounts, Totals, was_of
from kveil.verifier.rows import TIMES, ApartColumn
from kveil.verifier.slices import add_counts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

Types = Mapping[str, pl.DataType]
HERE, FIRST, NUMBER = "\0here", "\0first", "\0number"


def types_of(frame: DataFrame) -> Types:
    """Return the types that the columns of a frame have on the driver."""
    held: Any = pl.from_arrow(frame.limit(0).toArrow())
    return dict(held.schema)


# ---------------------------------------------------------------------------------------------- what was written


@dataclass(frozen=True)
class NumberedRelease:
    """A release as it was written, whose columns are numbered; ``place`` has what Spark calls each."""

    frame: DataFrame
    place: Mapping[str, str]
    types: Types

    @classmethod
    def of(cls, frame: DataFrame, types: Types) -> NumberedRelease:
        """Give the columns of a release numbers, so that no name means anything to Spark."""
        place = {name: f"r{i}" for i, name in enumerate(frame.columns)}
        return cls(frame.toDF(*place.values()), place, types)


@dataclass(frozen=True)
class Written:
    """What was counted of a release as it was written."""

    types: Types
    rows: pl.DataFrame
    totals: Totals
    apart: Mapping[str, ApartColumn]


def count_written(
    frame: DataFrame, policy: Policy, asked: Questions, types: Types, *, number: int, summed: bool = True
) -> Written:
    """Count the rows of a release as it was written; ``number`` is about how many different ones there are.

    Where no column stands apart, rows are told apart by all they have: then no sum of hashes need be ``summed``.
    """
    rows = rows_of_release(NumberedRelease.of(frame, types), policy, asked, summed=summed)
    return rows.written(list(in_slices(rows.frame, rows.keys, number, "read the release back")))


@dataclass(frozen=True)
class RowsReadBack:
    """What is counted of a release: ``frame`` has its ``keys`` with counts and sums."""

    release: NumberedRelease
    asked: Questions
    frame: DataFrame
    keys: list[str]

    def written(self, parts: Sequence[CountedTuples]) -> Written:
        """Return what came of it to the driver as the verifier takes it."""
        place, types, asked = self.release.place, self.release.types, self.asked
        rows = [_with_times({name: part.column(place[name]) for name in asked.rows}, part.times) for part in parts]
        total = [sum(numbers) for numbers in zip(*(part.sums for part in parts), strict=True)]
        told = iter(total[1:])
        apart = {name: _apart(types[name], [next(told) for _ in range(4)]) for name in asked.apart}
        totals = Totals(sum(int(part.times.sum()) for part in parts), tuple(total[:1]))
        return Written(types, pl.concat(rows), totals, apart)


def rows_of_release(
    release: NumberedRelease, policy: Policy, asked: Questions, *, summed: bool = True, beside: Sequence[str] = ()
) -> RowsReadBack:
    """Return the different rows of a release, with counts and sums; columns ``beside`` them tell rows apart, too."""
    from pyspark.sql import functions as f

    place = release.place
    keys = [place[name] for name in asked.rows]
    some = some_star([[f.col(place[name]) for name in part] for part in asked.parts], asked)
    sums: list[Column] = [hash_number(list(place.values()))] if summed else []
    for name in asked.apart:
        sums += _apart_sums(f.col(place[name]), release.types[name], policy, some, role=policy.attributes[name].role)
    return RowsReadBack(release, asked, count_different_rows(release.frame, [*beside, *keys], sums), keys)


def _with_times(columns: Mapping[str, pl.Series], times: Longs) -> pl.DataFrame:
    return frame_of([*(column.alias(name) for name, column in columns.items()), pl.Series(TIMES, times)])


def _apart_sums(cell: Column, kind: pl.DataType, policy: Policy, some: Column, *, role: str) -> list[Column]:
    """Return what is added up of a column apart: no values, first texts of missing, stars, and zeros with a minus."""
    from pyspark.sql import functions as f

    def number(condition: Column) -> Column:
        return f.when(condition, f.lit(1)).otherwise(f.lit(0))

    nothing = f.lit(0)
    sums = [number(cell.isNull()), nothing, nothing, nothing]
    if kind == pl.String:
        outside = ~some if role == "sensitive" else f.lit(True)
        sums[1:3] = [number(cell == policy.data.missing[0]), number((cell == STAR) & outside)]
    elif kind.is_float():
        sums[3] = number(cell.cast("string") == "-0.0")
    return sums


def _apart(kind: pl.DataType, told: Sequence[int]) -> ApartColumn:
    """Return what was counted of a column that is carried along: the join has its very cells, so that none changed."""
    absent, written, stars, minus = told
    changed = pl.DataFrame(schema={WAS: kind, SHOWN: kind, TIMES: pl.Int64})
    values = pl.DataFrame(
        {VALUE: [-0.0] if minus else [], TIMES: [minus] if minus else []}, {VALUE: kind, TIMES: pl.Int64}
    )
    return ApartColumn(changed, stars, bool(absent and written), values)


# ---------------------------------------------------------------------------------------------- the join


@dataclass
class _Collected:
    """What is counted of the join, slice by slice."""

    rows: list[pl.DataFrame] = field(default_factory=list)
    left_out: list[pl.DataFrame] = field(default_factory=list)
    pairs: dict[str, list[pl.DataFrame]] = field(default_factory=dict)
    values: dict[str, list[pl.DataFrame]] = field(default_factory=dict)
    images: dict[tuple[str, ...], list[pl.DataFrame]] = field(default_factory=dict)
    sums: list[int] = field(default_factory=lambda: [0, 0])
    _: KW_ONLY
    released: int = 0
    units: int = 0


def count_release(
    joined: Joined | HeldRelease, written: Written, policy: Policy, asked: Questions, before: CountedTuples | None
) -> ReleaseCounts:
    """Return everything that the verifier asks for of a release beside its original.

    ``before`` is what was counted of the original when a run began; where it is not the same any more, DataError is
    raised.
    """
    names = list(written.types)
    slices: Iterable[LaidTuples]
    if isinstance(joined, HeldRelease):
        slices = [joined.laid()]
    elif joined.known is None:
        slices = lay_slices(joined, policy, asked, names=names, number=written.totals.rows)
    else:
        slices = lay_known(joined, joined.known, policy, asked, names)
    return count_laid(slices, written, policy, asked, before)


def count_laid(
    slices: Iterable[LaidTuples], written: Written, policy: Policy, asked: Questions, before: CountedTuples | None
) -> ReleaseCounts:
    """Return what the verifier asks for, given slices of the join as they came to the driver."""
    collected, where = _Collected(), ""
    for laid in slices:
        where = laid.units.table.name
        _collect(collected, laid, policy, asked)
    if before is not None and (collected.units, collected.sums[0]) != (int(before.times.sum()), sum(before.sums)):
        raise error_of_change(where)
    original = OriginalCounts(
        collected.units,
        add_counts(collected.left_out),
        {name: add_counts(frames) for name, frames in collected.pairs.items()},
        {name: add_counts(frames) for name, frames in collected.values.items()},
        {images: pl.concat(frames).unique() for images, frames in collected.images.items()},
        Totals(collected.released, (collected.sums[1],) if written.totals.sums else ()),
    )
    rows = add_counts(collected.rows)
    return ReleaseCounts(written.types, rows, written.rows, written.totals, written.apart, original)


def _collect(collected: _Collected, laid: LaidTuples, policy: Policy, asked: Questions) -> None:
    times, released = laid.counted.times, laid.released
    collected.sums = [old + new for old, new in zip(collected.sums, laid.counted.sums, strict=True)]
    collected.units += int(times.sum())
    collected.released += int(times[released].sum())
    had = {name: laid.had(policy, name) for name in asked.beside}
    columns = {name: laid.shown[name] for name in asked.rows} | {was_of(name): had[name] for name in asked.beside}
    for name, part in asked.where_starred.items():
        columns[was_of(name)] = _where(laid.stars(part, asked), laid.records[name])
    some = np.zeros(len(released), dtype=bool)
    for part in asked.parts:
        some |= laid.stars(part, asked) if part else False
    for name in asked.apart:
        if policy.attributes[name].role == "sensitive" and (some & released).any():
            was = laid.half[name] if name in laid.half else laid.records[name]
            columns |= {name: _where(some, laid.shown.get_column(name, default=was)), was_of(name): _where(some, was)}
    collected.rows.append(_different_rows(laid, columns))
    gone = _with_times(had, times).filter(~released)
    collected.left_out.append(gone)
    _collect_originals(collected, laid, policy, asked)


def _different_rows(laid: LaidTuples, columns: Mapping[str, pl.Series]) -> pl.DataFrame:
    """Return the released rows of a slice; where classes say what they show, different ones alone."""
    frame = _with_times(columns, laid.counted.times).filter(laid.released)
    others = [name for name in frame.columns if name not in laid.made and name != TIMES]
    if laid.classes is None or len(others) + 1 >= frame.width - 1:
        return frame
    number = pl.Series(NUMBER, laid.classes[laid.released])  # one number is told apart faster than many texts
    groups = frame.select(*others, TIMES).with_columns(number).with_row_index(FIRST)
    groups = groups.group_by(NUMBER, *others).agg(pl.col(FIRST).first(), pl.col(TIMES).sum())
    return frame[groups[FIRST]].with_columns(groups[TIMES])


def _where(chosen: Bools, column: pl.Series) -> pl.Series:
    return pl.select(pl.when(pl.Series(chosen)).then(column)).to_series()


def _collect_originals(collected: _Collected, laid: LaidTuples, policy: Policy, asked: Questions) -> None:
    times, tuple_of = laid.counted.times, laid.tuple_of
    persons = laid.units.individuals and bool(policy.with_role("sensitive"))
    for part in asked.parts:
        star = _starred_persons(laid, policy, asked) if persons else laid.stars(part, asked)
        for name in part:
            was, shown = laid.records[name].alias(WAS), laid.shown[name].gather(tuple_of).alias(SHOWN)
            told = {STARRED: star[tuple_of], HERE: laid.released[tuple_of], TIMES: times[tuple_of]}
            pairs = add_counts([pl.DataFrame([was, shown, *(pl.Series(n, own) for n, own in told.items())])])
            collected.pairs.setdefault(name, []).append(pairs.filter(HERE).drop(HERE))
            if laid.units.individuals:
                own = pl.DataFrame([laid.records[name].alias(VALUE), pl.Series(PERSON_COLUMN, tuple_of)]).unique()
                values = own.select(VALUE, pl.Series(TIMES, times[own[PERSON_COLUMN].to_numpy()]))
            else:
                values = pairs.select(pl.col(WAS).alias(VALUE), TIMES)
            collected.values.setdefault(name, []).append(add_counts([values]))
    for names in asked.images:
        collected.images.setdefault(names, []).append(laid.records.select(names).unique())


def _starred_persons(laid: LaidTuples, policy: Policy, asked: Questions) -> Bools:
    """Return the individuals of whom everything shows stars, items included."""
    star = laid.stars(policy.quasi_identifiers, asked)
    for name in policy.with_role("sensitive"):
        sets = laid.shown[name]
        if sets.dtype != pl.List(pl.String):
            return np.zeros(len(star), dtype=bool)
        star &= ((sets.list.n_unique() == 1) & (sets.list.first() == STAR)).fill_null(value=False).to_numpy()
    return star
