"""`kveil verify`: check a release made by anyone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kveil.errors import Refused
from kveil.files import RepeatedSource, Source, look_beside
from kveil.flow.steps.inputs import align, table_of
from kveil.flow.steps.request import NOTHING_EARLIER
from kveil.flow.steps.shown_policy import policy_sha256
from kveil.policy.model import Policy
from kveil.report.owner import Owner
from kveil.verifier import Verdict
from kveil.verifier.alignment import Aligned
from kveil.verifier.release import NOTHING_BESIDE, checkable_rows, verify_rows
from kveil.verifier.rows import original_rows

if TYPE_CHECKING:  # imported by the runs that need them, which few do
    from kveil.archive import Archive


@dataclass(frozen=True)
class WhatIsBeside:
    """What a release is checked with: its ``file``, which may hold more than cells, and archives of earlier releases.

    Where it may be ``weaker``, it need not keep what these promised.
    """

    file: Path | None = None
    previous: Sequence[Path] = ()
    weaker: bool = False


@dataclass(frozen=True)
class Checked:
    """What `kveil verify` says of a release: its verdict, and the policy's hash as a receipt has it."""

    verdict: Verdict
    policy_sha256: str


def verify(
    release: Any,
    policy: Policy,
    original: Any = None,
    owner: Owner | None = None,
    *,
    previous: Sequence[str | Path] = (),
    weaker: bool = False,
) -> Verdict:
    """Check a release made by anyone; with the original also truth, boundaries and unchanged cells.

    ``release`` and ``original`` are pandas, Polars or PyArrow tables. Rows are aligned by ``owner``, or by position
    where the policy says `order: keep` and none is missing. ``previous`` are archives of earlier releases, beside those
    that the policy names: the release is checked together with them, and what they promised must still hold, unless it
    may be ``weaker``; then a warning says how many people get less. The verdict is true if everything that was checked
    holds.
    """
    before = None if original is None else table_of(original, policy)
    folders = [Path(folder) for folder in previous]
    return verify_sources(
        table_of(release, policy), policy, before, owner, beside=WhatIsBeside(previous=folders, weaker=weaker)
    ).verdict


def verify_sources(
    release: Source,
    policy: Policy,
    original: Source | None,
    owner: Owner | None,
    *,
    beside: WhatIsBeside = WhatIsBeside(),  # noqa: B008 (frozen)
) -> Checked:
    """Check a release that has been read, and what is beside it.

    One whose different lines were counted is checked alone: nobody knows which record is which.
    """
    file, previous = beside.file, beside.previous
    if beside.weaker and not policy.previous and not previous:
        raise Refused(NOTHING_EARLIER)
    times = release.times if isinstance(release, RepeatedSource) else None
    if times is not None and (original is not None or policy.previous or previous):
        raise ValueError("records are needed one by one beside an original, and together with earlier releases")
    rows = checkable_rows(release, policy, times=times)
    archives = _archives(policy, previous)
    found = NOTHING_BESIDE
    if file is not None:
        found = look_beside(file, release, policy.data.missing[0], unchanged=policy.unchanged)
    aligned, places = None, None
    if original is not None:
        strange = release.codebook.strange_to(original.codebook)
        found = found.with_notes(release.name, strange)
        before = original_rows(original, policy)
        places = align(owner, policy, released=rows.height, original=before.height)
        aligned = Aligned.of(release, rows, original, before, places)
    verdict = verify_rows(release, rows, policy, aligned=aligned, beside=found)
    if archives:
        from kveil.flow.previous import earlier_releases, link_release, who_is_who
        from kveil.verifier.together import verify_together

        digest = None if file is None else sha256(file.read_bytes()).hexdigest()
        way_back = original, places, digest
        newest, earlier = link_release(release, policy, archives[0], earlier_releases(archives), way_back)
        known = None if original is None else who_is_who(original, policy, archives[0])
        together = verify_together(policy, [*earlier, newest], known=known, weaker=beside.weaker)
        verdict = verdict.with_previous(together.check, together.findings, together.lapsed)
    return Checked(verdict, policy_sha256(policy, rows))


def _archives(policy: Policy, given: Sequence[Path]) -> list[Archive]:
    """Return the archives of earlier releases that a policy or the caller names."""
    if not policy.previous and not given:
        return []
    from kveil.flow.previous import archives_of

    return archives_of(policy, given)
