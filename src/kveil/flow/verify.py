"""`kveil verify`: check a release made by anyone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kveil.files import Source, look_beside
from kveil.flow.inputs import rows_of
from kveil.frames import from_frame
from kveil.policy.model import Policy
from kveil.report.owner import Owner
from kveil.verifier import Verdict, verify_release
from kveil.verifier.release import can_verify


def verify(release: Any, policy: Policy, original: Any = None, owner: Owner | None = None) -> Verdict:
    """Check a release made by anyone; with the original also truth, boundaries and unchanged cells.

    ``release`` and ``original`` are pandas, Polars or PyArrow tables. Rows are aligned by ``owner``, or by position
    where the policy says `order: keep` and none is missing. The verdict is true if everything that was checked holds.
    """
    return verify_sources(from_frame(release), policy, None if original is None else from_frame(original), owner)


def verify_sources(
    release: Source, policy: Policy, original: Source | None, owner: Owner | None, *, file: Path | None = None
) -> Verdict:
    """Check a release that has been read; of its ``file`` also what it holds beside the cells."""
    can_verify(policy)
    beside = None if file is None else look_beside(file, release, policy.data.missing[0])
    if original is None:
        return verify_release(release, policy, beside=beside)
    return verify_release(release, policy, original, rows_of(release, original, policy, owner), beside=beside)
