"""Tables in memory: engine `local`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from kveil.databases import Place, read_database
from kveil.engines.store import LaidRelease, ReleaseFile
from kveil.files import (
    CategorySource,
    EarlyText,
    FileLayout,
    SharedSource,
    Source,
    as_categories,
    check_layout,
    parse_early,
    read_repeated,
    read_table,
    with_points,
)
from kveil.kernels.threads import threads
from kveil.policy.model import Policy
from kveil.table.columns import ROWS_WORTH_A_THREAD

if TYPE_CHECKING:  # what only reads tables need not load how they are decoded
    from kveil.table.decode import Release


@dataclass(frozen=True)
class MemoryStore:
    """Holds whole tables in memory, where a release is verified before its file gets a name."""

    engine: str = "local"
    by_tuples: bool = False

    def read(self, policy: Policy, place: Place, *, hashed: bool = False) -> Source:
        return _table(policy, place, hashed=hashed, in_pieces=False)

    def open(self, policy: Policy, place: Place, *, hashed: bool = False, early: EarlyText | None = None) -> Source:
        # In pieces: a run looks at most of its columns once.
        return _table(policy, place, hashed=hashed, in_pieces=True, early=early)

    def hold(self, policy: Policy, source: Source) -> Source:
        if source.kind != "csv" or source.rows < ROWS_WORTH_A_THREAD or isinstance(source, SharedSource):
            return source
        # Search, release and verifier share one set of categories, made while the first trees are built of them.
        pool = ThreadPoolExecutor(min(threads(), 2))
        held = {
            name: pool.submit(as_categories, source.column(name), compact=False)
            for name in policy.quasi_identifiers
            if name in source.columns and source.dtype(name) == pl.String
        }
        pool.shutdown(wait=False)
        own = {field.name: getattr(source, field.name) for field in fields(Source)}
        return SharedSource(**own, shared={name: made.result for name, made in held.items()})

    def read_release(self, policy: Policy, place: Place, *, hashed: bool = False) -> Source:
        if not isinstance(place, Path):
            return numbers_held(read_database(place, hashed=hashed), policy)
        return numbers_held(
            read_table(place, layout=released_layout(policy), columns=policy.attributes, hashed=hashed), policy
        )

    def count_release(self, policy: Policy, place: Path, *, hashed: bool = False) -> Source:
        """Read a release of records by its different lines, where a CSV has few; else as `read_release` does."""
        counted = read_repeated(place, released_layout(policy), columns=policy.attributes, hashed=hashed)
        return self.read_release(policy, place, hashed=hashed) if counted is None else numbers_held(counted, policy)

    def lay_out(self, policy: Policy, source: Source, release: Release, out: ReleaseFile | None) -> LaidRelease:
        kind = CategorySource if isinstance(source, SharedSource) else Source
        codebook = release.codebook(source, policy)
        frame = release.frame(source)
        return LaidRelease(kind("the release", frame, source.kind, separator=source.separator, codebook=codebook))


@dataclass(frozen=True)
class BeingRead:
    """A table that is being read already, and where it comes from; ``source`` waits for it."""

    place: Place
    source: Callable[[], Source]


def _table(policy: Policy, place: Place, *, hashed: bool, in_pieces: bool, early: EarlyText | None = None) -> Source:
    if not isinstance(place, Path):
        check_layout(policy.data, "database", place.name)
        return numbers_held(read_database(place, hashed=hashed), policy)
    read = partial(read_table, place, in_pieces=in_pieces) if early is None else partial(parse_early, early, place)
    source = read(layout=FileLayout.said(policy.data), columns=policy.attributes, hashed=hashed)
    return numbers_held(source, policy)


def released_layout(policy: Policy) -> FileLayout:
    """Return how a release lies in its file: in UTF-8, without other sheets, the names of columns in its first line."""
    return FileLayout(separator=policy.data.separator)


def numbers_held(source: Source, policy: Policy) -> Source:
    """Return a table whose numbers have a decimal point, as kveil reads them, whatever sign they came with."""
    data = policy.data
    return with_points(source, policy.numeric, data.missing, decimal=data.decimal, sets=policy.sets)
