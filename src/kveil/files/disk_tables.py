"""Tables that stay on the disk: some columns are held in memory as categories, others are read when asked for.

What a run needs all the time of a table are its quasi-identifiers, and of these only which record has which of few
values. As categories they take one to four bytes per cell, where texts take sixteen and more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.io.plugins import register_io_source

from kveil.arrays import Longs
from kveil.errors import DataError, FileError
from kveil.files.dataset import dataset_files, is_dataset, rows_together, with_folder_columns
from kveil.files.source import Source, check_plain_names
from kveil.files.texts import as_texts

BATCH = 1 << 18  # rows that are turned into texts and codes at once
ROOM = 10_000  # of the categories in two bytes that are kept free


@dataclass(frozen=True)
class StoredFile:
    """One Parquet file of a table: its own columns and rows, the folders it lies in, and what it was at first."""

    path: Path
    within: Path
    columns: tuple[str, ...]
    rows: int
    seen: tuple[int, int]

    def batches(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Return some columns, some rows at a time; columns that stand for folders are texts."""
        here = [name for name in names if name in self.columns] or list(self.columns[:1])
        scanned = pl.scan_parquet(self.path, glob=False, hive_partitioning=False).select(here)
        try:
            for batch in scanned.collect_batches(chunk_size=BATCH, maintain_order=True):
                yield with_folder_columns(batch, self.within).select(names)
        except pl.exceptions.PolarsError:  # its texts quote bytes of the file
            raise _unreadable(self.path) from None


@dataclass(frozen=True)
class StoredSource(Source):
    """A table in Parquet files; ``frame`` has only the columns that are held in memory, as categories.

    ``changes`` are made to columns as they are read.
    """

    files: tuple[StoredFile, ...] = ()
    schema: pl.Schema = field(default_factory=pl.Schema)
    changes: Mapping[str, pl.Expr] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    @property
    def columns(self) -> list[str]:
        return self.schema.names()

    def dtype(self, name: str) -> pl.DataType:
        return self.schema[name]

    def column(self, name: str) -> pl.Series:
        parts = [batch.to_series() for batch in self.batches([name])]
        return pl.concat([pl.Series(name, [], dtype=self.schema[name]), *parts]).rechunk()

    def texts(self, column: str) -> pl.Series:
        if column in self._types:
            return self.frame[column].cast(pl.String)
        return super().texts(column)

    def held(self, column: str) -> pl.Series:
        return self.frame[column] if column in self._types else super().held(column)

    def held_type(self, number: int) -> pl.DataType:
        return _categories(number)

    def distinct(self, names: Sequence[str]) -> int:
        def batches(
            wanted: list[str] | None, predicate: pl.Expr | None, most: int | None, size: int | None
        ) -> Iterator[pl.DataFrame]:
            return self.batches(names)

        rows = register_io_source(batches, schema={name: self.schema[name] for name in names})
        return int(rows.unique().select(pl.len()).collect(engine="streaming").item())

    def unchanged(self, name: str) -> Callable[[], pl.Series]:
        """Return a way to a column as its file has it."""
        return lambda: replace(self, changes={}).column(name)

    def batches(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Return some columns, some rows at a time; raise DataError where a file has changed meanwhile."""
        typed = [pl.col(name).cast(self.schema[name]) for name in names]
        changes = [self.changes[name].alias(name) for name in names if name in self.changes]
        for file in self.files:
            if _seen(file.path) != file.seen:
                raise DataError(f"{self.name} changed while kveil read it; run again once nobody writes to it.")
            yield from (batch.select(typed).with_columns(changes) for batch in file.batches(names))

    def with_changed(self, changes: Mapping[str, pl.Expr], **others: Any) -> Source:
        changed = replace(self, changes={**self.changes, **changes}, **others)
        mine = {name: change for name, change in changes.items() if name in self.frame.columns}
        cells = [self.frame.select(pl.col(name).cast(pl.String)).select(own).to_series() for name, own in mine.items()]
        frame = self.frame.with_columns(_compact(column.cast(_categories(None))) for column in cells)
        return replace(changed, frame=frame)

    def holding(self, names: Sequence[str], *, at_a_time: int = 1) -> StoredSource:
        """Return the same table with some columns in memory, as categories of their texts; so many are read at once."""
        with ThreadPoolExecutor(at_a_time) as pool:
            made = list(pool.map(self._categories_of, names))
        return replace(self, frame=pl.DataFrame(dict(zip(names, made, strict=True))))

    def _categories_of(self, name: str) -> pl.Series:
        """Return a column as categories of its texts; batch after batch, so that room for one is enough."""
        kind = _categories(None)
        try:
            parts = [as_texts(batch[name]).cast(kind) for batch in self.batches([name])]
        except DataError as error:
            raise error if str(error).startswith(self.name) else DataError(f"{self.name}: {error}") from None
        return _compact(_joined(parts, kind))

    def cells(self, name: str, rows: NDArray[np.int64]) -> pl.Series:
        """Return a column's cells in some rows, typed as their file has them, without room for the whole column."""
        order = np.argsort(rows, kind="stable")
        wanted, start = rows[order], 0
        parts = [pl.Series(name, [], dtype=self.schema[name])]
        for batch in self.batches([name]):
            begin, end = np.searchsorted(wanted, [start, start + batch.height])
            parts.append(batch[name].gather(wanted[begin:end] - start))
            start += batch.height
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return pl.concat(parts).gather(place)


@dataclass(frozen=True)
class CategorySource(Source):
    """A table in memory, some columns of which are categories of their texts."""

    def held(self, column: str) -> pl.Series:
        own = self.frame[column]
        return own if isinstance(own.dtype, pl.Categorical) else super().held(column)

    def held_type(self, number: int) -> pl.DataType:
        return _categories(number)


@dataclass(frozen=True)
class SharedSource(Source):
    """A table in memory with ways to some of its columns as categories of their texts, made once for all who ask."""

    shared: Mapping[str, Callable[[], pl.Series]] = field(default_factory=dict)

    def held(self, column: str) -> pl.Series:
        return self.shared[column]() if column in self.shared else super().held(column)

    def held_type(self, number: int) -> pl.DataType:
        return _categories(number)


def as_categories(texts: pl.Series, *, compact: bool = True) -> pl.Series:
    """Return texts as categories of their own, in as few bytes as they allow unless they need not be ``compact``."""
    return texts.cast(_categories(texts.n_unique() if compact else None))


def number_texts(texts: pl.Series) -> tuple[Longs, Longs]:
    """Return the number of every row's text, in the order in which texts come first, and the first row of each.

    Null is a text of its own. By categories that takes a third of the time of grouping and joining the texts.
    """
    codes = as_categories(texts, compact=False).to_physical().cast(pl.Int64)
    if codes.null_count():
        codes = codes.fill_null(len(texts))
    rows = codes.to_numpy()
    first = np.full(int(rows.max(initial=-1)) + 1, len(rows), dtype=np.int64)
    first[rows[::-1]] = np.arange(len(rows) - 1, -1, -1)
    order = np.argsort(first, kind="stable")
    order = order[first[order] < len(rows)]
    number = np.empty(len(first), dtype=np.int64)
    number[order] = np.arange(len(order))
    return number[rows], first[order]


def open_stored(path: Path, *, name: str | None = None, hashed: bool = False) -> StoredSource:
    """Return a table of Parquet files, a folder of them or a pattern, of which nothing is in memory yet."""
    several = is_dataset(path)
    files = dataset_files(path) if several else [path]
    empty: list[pl.DataFrame] = []
    stored: list[StoredFile] = []
    for file in files:
        within = (file.relative_to(path) if path.is_dir() else file) if several else Path(file.name)
        try:
            scanned = pl.scan_parquet(file, glob=False, hive_partitioning=False)
            own = pl.DataFrame(schema=scanned.collect_schema())
            rows = int(scanned.select(pl.len()).collect().item())
            seen = _seen(file)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise _unreadable(file, reason=getattr(error, "strerror", None)) from None
        empty.append(with_folder_columns(own, within))
        stored.append(StoredFile(file, within, tuple(own.columns), rows, seen))
    told = name or path.name
    schema = rows_together(empty, files, told).schema if several else empty[0].schema
    check_plain_names(list(schema), told)
    digest = _digest(files, several=several) if hashed else None
    return StoredSource(told, pl.DataFrame(), "parquet", sha256=digest, files=tuple(stored), schema=schema)


def _digest(files: Sequence[Path], *, several: bool) -> str:
    digests = []
    for file in files:
        with file.open("rb") as opened:
            digests.append(hashlib.file_digest(opened, "sha256"))
    return hashlib.sha256(b"".join(d.digest() for d in digests)).hexdigest() if several else digests[0].hexdigest()


def _seen(file: Path) -> tuple[int, int]:
    told = file.stat()
    return told.st_size, told.st_mtime_ns


def _unreadable(file: Path, *, reason: str | None = None) -> FileError:
    told = f"cannot be read ({reason})" if reason else "is not a whole Parquet file; it may be cut off"
    return FileError(f"{file.name}: the file {told}; check the path.")


def _categories(number: int | None) -> pl.DataType:
    """Return categories of their own, in two bytes where so many different texts leave room for others.

    Polars takes a text that a column is compared with for one more category.
    """
    few = number is not None and number < np.iinfo(np.uint16).max - ROOM
    return pl.Categorical(pl.Categories.random(physical=pl.UInt16 if few else pl.UInt32))


def _joined(parts: list[pl.Series], kind: pl.DataType) -> pl.Series:
    return pl.concat([pl.Series([], dtype=kind), *parts]).rechunk()


def _compact(column: pl.Series) -> pl.Series:
    """Return a column of categories in as few bytes as its different texts allow."""
    most = column.to_physical().max()
    kind = _categories(most if isinstance(most, int) else 0)
    return column.cast(kind)
