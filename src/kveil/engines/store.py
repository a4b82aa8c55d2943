"""Where a run holds its tables: what every engine has to offer, the search aside, which is the same on all of them."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from kveil.databases import Place
from kveil.files import Source
from kveil.policy.model import Policy

if TYPE_CHECKING:  # what only reads tables need not load how they are decoded
    from kveil.table.decode import Release


@dataclass(frozen=True)
class LaidRelease:
    """A release as the verifier reads it; with its SHA-256 where it stands in its file already, else to be written."""

    source: Source
    sha256: str | None = None


@dataclass(frozen=True)
class ReleaseFile:
    """The file that a release is written to, which has no name yet, and the name that it will get."""

    file: IO[bytes]
    target: Path

    @property
    def unseen(self) -> bool:
        """Whether nobody can read it before it gets its name: no pipe, and no hidden file either."""
        told = os.fstat(self.file.fileno())
        return stat.S_ISREG(told.st_mode) and told.st_nlink == 0


class Store(Protocol):
    """Reads tables, and lays out releases.

    ``engine`` is its name in policies and accounts; ``by_tuples`` says whether it gives tuples with counts to the
    algorithms that work on them, which takes less memory.
    """

    @property
    def engine(self) -> str:
        """The name of the engine."""

    @property
    def by_tuples(self) -> bool:
        """Whether algorithms are given tuples with counts."""

    def read(self, policy: Policy, place: Place, *, hashed: bool = False) -> Source:
        """Read a table that a policy speaks about."""

    def open(self, policy: Policy, place: Place, *, hashed: bool = False) -> Source:
        """Open a table that a policy speaks about, of which nothing need be in memory yet."""

    def hold(self, policy: Policy, source: Source) -> Source:
        """Return an opened table as `read` returns it."""

    def read_release(self, policy: Policy, place: Place, *, hashed: bool = False) -> Source:
        """Read a release of a policy, which is in UTF-8 whatever the original is in."""

    def lay_out(self, policy: Policy, source: Source, release: Release, out: ReleaseFile | None) -> LaidRelease:
        """Return a release of a source as the verifier reads it, written already where the engine does so first."""
