"""The different rows of a table that stays on the disk, and which of them each record is.

Where a table of many records has few different rows, everything a run does can be done on these: encoding, search,
order, verification and warnings need memory for them alone. Of a record only the number of its row is held.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import polars as pl

from kveil.arrays import Ints, Longs
from kveil.engines.store import ReleaseFile
from kveil.errors import NotVerified
from kveil.files import (
    CategorySource,
    ShownCells,
    Source,
    StoredSource,
    as_categories,
    as_texts,
    sink_parquet,
    with_commas,
)
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.kernels.grouping.members import members_by_group
from kveil.policy.model import Policy
from kveil.table.decode import Release
from kveil.verifier.alignment import Aligned
from kveil.verifier.release import checkable_rows
from kveil.verifier.rows import plain_rows

FEW = 4  # records per different row from which on it is worth while
MOST = (1 << 31) - 1  # numbers that are packed into one
ALIKE = (pl.String, pl.Boolean, pl.Date)  # types, beside whole numbers, whose cells are the same where their texts are


@dataclass(frozen=True)
class DistinctRows:
    """The different rows of a table, how many records have each, and the row of every record."""

    source: Source
    times: Longs
    of_record: Ints


def distinct_rows(source: StoredSource, policy: Policy) -> DistinctRows | None:
    """Return the different rows of a table, None where there are too many, or where records must be told apart.

    That is where individuals or identifiers are looked at, and where cells may hold more than their texts show.
    """
    if policy.individual_column is not None or len(policy.released) < len(policy.attributes):
        return None
    if set(source.columns) != set(policy.attributes):
        return None  # which encoding refuses
    kept = [name for name in source.columns if name not in policy.quasi_identifiers]
    if not all(source.dtype(name) in ALIKE or source.dtype(name).is_integer() for name in kept):
        return None
    if not source.rows or not _repeats(source):
        return None
    found = _grouped(source, source.rows // FEW)
    if found is None:
        return None
    of_record, first = found
    rows = first.astype(np.int64)
    frame = pl.DataFrame(
        {
            name: source.cells(name, rows) if name in kept else as_categories(as_texts(source.cells(name, rows)))
            for name in source.columns
        }
    )
    made = CategorySource(source.name, frame, source.kind, sha256=source.sha256, commas=source.commas)
    return DistinctRows(made, np.bincount(of_record, minlength=len(first)).astype(np.int64), of_record)


def _repeats(source: StoredSource) -> bool:
    """Tell whether a large table may have few different rows, by how many of its second rows are among its first."""
    batches = list(islice(source.batches(source.columns), 2))
    if len(batches) < 2 or batches[1].height < batches[0].height:
        return True
    again = batches[1].join(batches[0].unique(), on=source.columns, how="semi", nulls_equal=True)
    return again.height * FEW >= batches[1].height


def _numbers(source: StoredSource, name: str) -> Ints:
    """Return a column as whole numbers that differ where its texts do."""
    held = source if name in source.frame.columns else source.holding([name])
    return held.held(name).to_physical().cast(pl.Int32).fill_null(-1).to_numpy()


def _grouped(source: StoredSource, most: int) -> tuple[Ints, Ints] | None:
    """Return the group of every row and one row of each, rows being told apart by all columns.

    None where there are more groups than so many. As many columns as fit are packed into one number before rows are
    grouped, which needs room.
    """
    member: Ints | None = None
    packed, room = np.zeros(source.rows, dtype=np.int32), MOST
    first = np.zeros(1, dtype=np.int32)
    for name in [*source.columns, None]:
        numbers = None if name is None else _numbers(source, name)
        size = room + 1 if numbers is None else int(numbers.max(initial=0)) + 2  # no value is a number, too
        if size > room:
            member, first = group_rows(packed[None, :] if member is None else np.array([member, packed]))
            if len(first) > most:
                return None
            packed, room = np.zeros(source.rows, dtype=np.int32), MOST
        if numbers is not None:
            packed = packed * np.int32(size) + (numbers + np.int32(1))
            room //= size
    return (packed, first) if member is None else (member, first)


def _told_apart(source: StoredSource, member: Ints, first: Ints) -> tuple[Ints, Ints]:
    """Return groups of rows, each with one of its rows, told apart also by all columns of a table.

    Rows that were written alike are alike, unless something went wrong on the way: then groups are divided.
    """
    for name in source.columns:
        numbers = _numbers(source, name)
        if not np.array_equal(numbers[first][member], numbers):
            member, first = group_rows(np.array([member, numbers]))
    return member, first


@dataclass(frozen=True)
class WrittenRows:
    """A release of different rows: of every record that is written, which of the release's rows it shows."""

    release: Release
    shown: Ints

    @classmethod
    def of(cls, release: Release, rows: DistinctRows, policy: Policy) -> WrittenRows:
        """Return the records of a release in the policy's order; ``release`` has its rows sorted."""
        place = np.full(len(rows.times), -1, dtype=np.int32)
        place[release.rows] = np.arange(len(release.rows), dtype=np.int32)
        if policy.release.order == "keep":
            shown = place[rows.of_record]
            return cls(release, shown[shown >= 0])
        shown = np.repeat(np.arange(len(release.rows), dtype=np.int32), rows.times[release.rows])
        if policy.release.order == "shuffle":
            np.random.default_rng(secrets.randbits(128)).shuffle(shown)
        return cls(release, shown)

    def write(self, rows: DistinctRows, policy: Policy, out: ReleaseFile) -> str:
        """Write the release to its file; return the SHA-256 of its bytes."""
        commas = rows.source.commas.intersection(policy.unchanged)

        columns = {}
        for name, made in self.release.columns.items():
            cells = rows.source.column(name).gather(self.release.source_rows) if made is None else made
            cells = with_commas(cells.to_frame(), commas)[name] if name in commas else cells
            columns[name] = ShownCells(as_texts(cells) if name in policy.quasi_identifiers else cells, self.shown)
        return sink_parquet(columns, len(self.shown), out.file, out.target)

    def laid(self, rows: DistinctRows, written: StoredSource, policy: Policy) -> LaidRows:
        """Lay a release, as it was read back, beside the rows of the original, record by record."""
        if written.rows != len(self.shown):
            raise NotVerified(
                f"the file of the release has {written.rows:,} rows instead of {len(self.shown):,}; nothing was "
                "written. Check the disk, and run again."
            )
        first = np.empty(len(self.release.rows), dtype=np.int32)
        first[self.shown[::-1]] = np.arange(len(self.shown), dtype=np.int32)[::-1]
        member, first = _told_apart(written, self.shown, first)
        own = self.release.rows[self.shown[first]]
        at = first.astype(np.int64)
        frame = pl.DataFrame({name: _held(written.cells(name, at), policy) for name in written.columns})
        release = CategorySource("the release", frame, "parquet")
        times = np.bincount(member, minlength=len(first)).astype(np.int64)
        gone = np.setdiff1d(np.arange(len(rows.times)), self.release.rows)
        order = np.concatenate([own, gone])
        original = replace(rows.source, frame=rows.source.frame[order])
        before = replace(plain_rows(original, policy), times=np.concatenate([times, rows.times[gone]]))
        shown = checkable_rows(release, policy, times=times)
        place = np.empty(len(rows.times), dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        return LaidRows(Aligned.of(release, shown, original, before, np.arange(len(first))), place)

    def records(self, rows: DistinctRows, order: str) -> Longs:
        """Return the record of every written row; of records that show the same, in the order they came."""
        place = np.full(len(rows.times), -1, dtype=np.int32)
        place[self.release.rows] = np.arange(len(self.release.rows)) if order == "shuffle" else self._ranks(rows)
        of_record = place[rows.of_record]
        released = np.flatnonzero(of_record >= 0)
        if order == "keep":
            return released
        sorted_records = released[members_by_group(of_record[released]).rows]
        if order == "sorted":
            return sorted_records
        records = np.empty(len(self.shown), dtype=np.int64)
        records[members_by_group(self.shown).rows] = sorted_records
        return records

    def _ranks(self, rows: DistinctRows) -> Ints:
        """Return the rank of every row of a sorted release; those that show the same have the same."""
        differs = np.zeros(len(self.release.rows), dtype=bool)
        for name, made in self.release.columns.items():
            cells = rows.source.column(name).gather(self.release.source_rows) if made is None else made
            differs[1:] |= cells.ne_missing(cells.shift(1)).to_numpy()[1:]
        return np.cumsum(differs, dtype=np.int32)


def _held(cells: pl.Series, policy: Policy) -> pl.Series:
    """Return a column of a release as it is held: a quasi-identifier as categories, unless it is no text."""
    return as_categories(cells) if cells.name in policy.quasi_identifiers and cells.dtype == pl.String else cells


@dataclass(frozen=True)
class LaidRows:
    """A release beside its original, and the place that every different row of the input has there."""

    aligned: Aligned
    place: Ints
