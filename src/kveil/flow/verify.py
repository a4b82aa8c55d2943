"""`kveil verify`: check a release made by anyone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kveil.files import Source, look_beside
from kveil.flow.inputs import align
from kveil.flow.publish import policy_sha256
from kveil.frames import from_frame
from kveil.policy.model import Policy
from kveil.report.owner import Owner
from kveil.verifier import Verdict
from kveil.verifier.release import NOTHING_BESIDE, checkable_rows, verify_rows
from kveil.verifier.rows import original_rows
from kveil.verifier.truth import Aligned


@dataclass(frozen=True)
class Checked:
    """What `kveil verify` says of a release: its verdict, and the policy's hash as a receipt has it."""

    verdict: Verdict
    policy_sha256: str


def verify(release: Any, policy: Policy, original: Any = None, owner: Owner | None = None) -> Verdict:
    """Check a release made by anyone; with the original also truth, boundaries and unchanged cells.

    ``release`` and ``original`` are pandas, Polars or PyArrow tables. Rows are aligned by ``owner``, or by position
    where the policy says `order: keep` and none is missing. The verdict is true if everything that was checked holds.
    """
    before = None if original is None else from_frame(original)
    return verify_sources(from_frame(release), policy, before, owner).verdict


def verify_sources(
    release: Source, policy: Policy, original: Source | None, owner: Owner | None, *, file: Path | None = None
) -> Checked:
    """Check a release that has been read; of its ``file`` also what it holds beside the cells."""
    rows = checkable_rows(release, policy)
    beside = NOTHING_BESIDE if file is None else look_beside(file, release, policy.data.missing[0])
    aligned = None
    if original is not None:
        before = original_rows(original, policy)
        places = align(owner, policy, released=rows.height, original=before.height)
        aligned = Aligned.of(release, rows, original, before, places)
    return Checked(verify_rows(release, rows, policy, aligned, beside), policy_sha256(policy, rows))
