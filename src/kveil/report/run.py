"""What one run made, before anything of it is told or written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kveil.arrays import Ints, Longs
from kveil.choose import Attempt
from kveil.files import Source
from kveil.measures import GroupSizes
from kveil.policy.model import Policy
from kveil.report.owner import Owner
from kveil.table.decode import Release
from kveil.table.table import Table
from kveil.verifier import Verdict
from kveil.verifier.alignment import Aligned

if TYPE_CHECKING:  # imported by the runs that make such, which few do
    from kveil.algorithms.bound.bound import Bound
    from kveil.verifier.counts import CountedSides


@dataclass(frozen=True)
class WayBack:
    """The record of every row of a release, and those that are suppressed, by reason."""

    rows: Longs
    reasons: Mapping[str, Ints]


@dataclass(kw_only=True, frozen=True)
class Run:
    """A verified release with all that led to it: the table as read and as encoded, the solution, the verdict.

    ``aligned`` is the release as anybody would read it, with the original beside it. ``warnings`` are about its own
    cells, ``private_warnings`` are reckoned with the original; those of the verdict come beside them.
    ``policy_sha256`` is of the policy as others get it.
    """

    source: Source
    table: Table
    attempt: Attempt
    release: Release
    aligned: Aligned | CountedSides
    verdict: Verdict
    warnings: list[str]
    private_warnings: list[str]
    policy_sha256: str
    bound: Bound | None = None
    engine: str = "local"
    release_sha256: str | None = None  # where it was written before it was verified
    records: Longs | None = None  # of individuals taken together: how many records each row of the table stands for
    way_back: Callable[[], WayBack] | None = None  # where rows of the table stand for several records
    groups: GroupSizes | None = None  # of the release, where `aligned` does not tell its rows apart

    @property
    def released(self) -> Source:
        """The release as a table."""
        return self.aligned.release

    @property
    def policy(self) -> Policy:
        """The policy that the release holds to."""
        return self.table.policy

    def with_warning(self, warning: str) -> Run:
        """Return the run with one more warning for the owner."""
        return replace(self, private_warnings=[*self.private_warnings, warning])

    def owner(self, release_sha256: str | None) -> Owner:
        """Return the owner's way back from the release to the input."""
        rows, reasons = self.release.rows, self.attempt.solution.reasons
        if self.way_back is not None:
            back = self.way_back()
            rows, reasons = back.rows, back.reasons
        return Owner(
            rows,
            self.table.records,
            reasons,
            self.source.sha256,
            release_sha256,
        )
