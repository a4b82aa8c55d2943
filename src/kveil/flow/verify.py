"""`kveil verify`: check a release made by anyone."""

from __future__ import annotations

from typing import Any

from kveil.files import Source
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


def verify_sources(release: Source, policy: Policy, original: Source | None, owner: Owner | None) -> Verdict:
    """Check a release that has been read."""
    can_verify(policy)
    if original is None:
        return verify_release(release, policy)
    return verify_release(release, policy, original, rows_of(release, original, policy, owner))
