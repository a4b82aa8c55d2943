"""Tables in memory: engine `local`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from kveil.engines.store import LaidRelease, ReleaseFile
from kveil.files import Source, read_table, with_commas, with_points, write_table
from kveil.policy.model import Policy
from kveil.table.decode import Release


@dataclass(frozen=True)
class MemoryStore:
    """Holds whole tables in memory, verifies a release there and writes it then."""

    engine: str = "local"
    by_tuples: bool = False

    def read(self, policy: Policy, path: Path, *, hashed: bool = False) -> Source:
        data = policy.data
        return numbers_held(read_table(path, data.separator, policy.attributes, hashed, encoding=data.encoding), policy)

    def read_release(self, policy: Policy, path: Path, *, hashed: bool = False) -> Source:
        return numbers_held(read_table(path, policy.data.separator, policy.attributes, hashed), policy)

    def lay_out(self, policy: Policy, source: Source, release: Release, out: ReleaseFile | None) -> LaidRelease:
        return LaidRelease(Source("the release", release.frame(source), source.kind, source.separator))

    def write(self, policy: Policy, source: Source, laid: LaidRelease, out: ReleaseFile) -> str:
        return write_release(laid.source.frame, source, policy, out)


def numbers_held(source: Source, policy: Policy) -> Source:
    """Return a table whose numbers have a decimal point, as kveil reads them, whatever sign they came with."""
    return with_points(source, policy.numeric, policy.data.missing, policy.data.decimal)


def write_release(frame: pl.DataFrame, source: Source, policy: Policy, out: ReleaseFile) -> str:
    """Write the release of a source to an open file; return the SHA-256 of its bytes.

    Columns that are released unchanged have the decimal commas, and the codes behind labels, that they came with.
    """
    unchanged = set(policy.unchanged)
    labels = {name: codes for name, codes in source.labels.items() if name in unchanged}
    written = with_commas(frame, source.commas & unchanged)
    return write_table(written, out.file, out.target, source.separator, policy.data.missing[0], labels)
