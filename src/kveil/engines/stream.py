"""Tables that stay on the disk, on one machine: engine `stream`.

Quasi-identifiers are held in memory as categories, every other column passes through it one at a time. A release is
written to its file, which has no name yet, read back from there as anybody would read it, and judged by the verifier;
only then the file gets its name. See docs/large.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from kveil.databases import Place
from kveil.engines.memory import numbers_held
from kveil.engines.store import LaidRelease, ReleaseFile
from kveil.errors import NotVerified
from kveil.files import Source, StoredSource, check_layout, open_file_path, open_stored, sink_parquet, with_commas
from kveil.kernels.threads import threads
from kveil.policy.model import Policy
from kveil.table.decode import Release

AT_A_TIME = 2  # columns that are read: each takes room for a batch of its texts


@dataclass(frozen=True)
class StreamStore:
    """Reads Parquet files column by column, and writes a release before it is verified, to a file without a name."""

    engine: str = "stream"
    by_tuples: bool = True

    def read(self, policy: Policy, place: Place, *, hashed: bool = False) -> Source:
        return self.hold(policy, self.open(policy, place, hashed=hashed))

    def open(self, policy: Policy, place: Place, *, hashed: bool = False) -> Source:
        assert isinstance(place, Path), "tables of databases are refused before"
        check_layout(policy.data, "parquet", place.name)
        return numbers_held(open_stored(place, hashed=hashed), policy)

    def hold(self, policy: Policy, source: Source) -> Source:
        assert isinstance(source, StoredSource), "what is opened stays on the disk"
        held = [name for name in policy.quasi_identifiers if name in source.columns]
        return source.holding(held, at_a_time=min(threads(), AT_A_TIME))

    def read_release(self, policy: Policy, place: Place, *, hashed: bool = False) -> Source:
        assert isinstance(place, Path), "tables of databases are refused before"
        return self.hold(policy, numbers_held(open_stored(place, hashed=hashed), policy))

    def lay_out(self, policy: Policy, source: Source, release: Release, out: ReleaseFile | None) -> LaidRelease:
        assert out is not None, "a release that streams needs a file"

        commas = source.commas.intersection(policy.unchanged)

        def carried(name: str) -> Callable[[], pl.Series]:
            return lambda: _as_it_came(source.column(name).gather(release.source_rows), commas)

        columns = {
            name: carried(name) if column is None else _as_it_came(column, commas)
            for name, column in release.columns.items()
        }
        digest = sink_parquet(columns, len(release.source_rows), out.file, out.target)
        laid = self.read_back(policy, out)
        if laid.rows != len(release.source_rows):
            raise NotVerified(
                f"the file of the release has {laid.rows:,} rows instead of {len(release.source_rows):,}; nothing was "
                "written. Check the disk, and run again."
            )
        return LaidRelease(laid, digest)

    def read_back(self, policy: Policy, out: ReleaseFile) -> Source:
        """Read a release that was written, as anybody would read it."""
        return self.hold(policy, self.reopened(policy, out))

    def reopened(self, policy: Policy, out: ReleaseFile) -> Source:
        """Open a release that was written, of which every column is read when it is asked for."""
        return numbers_held(open_stored(open_file_path(out.file), name="the release"), policy)


def _as_it_came(column: pl.Series, commas: frozenset[str]) -> pl.Series:
    """Return a column that is released unchanged with the decimal commas that it came with."""
    return with_commas(column.to_frame(), commas)[column.name] if column.name in commas else column
