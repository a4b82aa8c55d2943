"""Tables in memory: engine `local`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kveil.engines.store import LaidRelease, ReleaseFile
from kveil.files import Source, read_table, write_table
from kveil.policy.model import Policy
from kveil.table.decode import Release


@dataclass(frozen=True)
class MemoryStore:
    """Holds whole tables in memory, verifies a release there and writes it then."""

    engine: str = "local"
    by_tuples: bool = False

    def read(self, policy: Policy, path: Path, *, hashed: bool = False) -> Source:
        return read_table(path, policy.data.separator, policy.attributes, hashed)

    def lay_out(self, policy: Policy, source: Source, release: Release, out: ReleaseFile | None) -> LaidRelease:
        return LaidRelease(Source("the release", release.frame(source), source.kind, source.separator))

    def write(self, policy: Policy, laid: LaidRelease, out: ReleaseFile) -> str:
        source = laid.source
        return write_table(source.frame, out.file, out.target, source.separator, policy.data.missing[0])
