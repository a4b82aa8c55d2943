"""`kveil verify`: check a release made by anyone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from kveil.verifier.starred_identifiers import without_starred_identifiers

if TYPE_CHECKING:  # imported by the runs that need them, which few do
    from kveil.archive import Archive


@dataclass(frozen=True)
class VerifyTerms:
    """What a release is checked with.

    Of its ``file`` also what that holds beside the cells is looked at, and the release is held together with those of
    the archives ``previous``, whose promises it has to keep unless it may be ``weaker``. Of a ``foreign`` one, which
    another tool made, identifiers that show nothing but `*` are left aside.
    """

    file: Path | None = None
    previous: Sequence[Path] = ()
    weaker: bool = False
    foreign: bool = False


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
    foreign: bool = False,
) -> Verdict:
    """Check a release made by anyone; with the original also truth, boundaries and unchanged cells.

    ``release`` and ``original`` are pandas, Polars or PyArrow tables. Rows are aligned by ``owner``, or by position
    where the policy says `order: keep` and none is missing. ``previous`` are archives of earlier releases, beside those
    that the policy names: the release is checked together with them, and what they promised must still hold, unless it
    may be ``weaker``; then a warning says how many people get less. ``foreign`` says that another tool made it: a
    column of an identifier that shows nothing but `*` is then a warning and no finding. The verdict is true if
    everything that was checked holds.
    """
    before = None if original is None else table_of(original, policy)
    folders = [Path(folder) for folder in previous]
    terms = VerifyTerms(previous=folders, weaker=weaker, foreign=foreign)
    return verify_sources(table_of(release, policy), policy, before, owner, terms=terms).verdict


def verify_sources(
    release: Source,
    policy: Policy,
    original: Source | None,
    owner: Owner | None,
    *,
    terms: VerifyTerms = VerifyTerms(),  # noqa: B008 (frozen)
) -> Checked:
    """Check a release that has been read, on some terms; the way back to an original is the owner's.

    One whose different lines were counted is checked alone: nobody knows which record is which.
    """
    file = terms.file
    if terms.weaker and not policy.previous and not terms.previous:
        raise Refused(NOTHING_EARLIER)
    times = release.times if isinstance(release, RepeatedSource) else None
    if times is not None and (original is not None or policy.previous or terms.previous):
        raise ValueError("records are needed one by one beside an original, and together with earlier releases")
    beside = NOTHING_BESIDE
    if file is not None:
        beside = look_beside(file, release, policy.data.missing[0], unchanged=policy.unchanged)
    release, hints = without_starred_identifiers(release, policy) if terms.foreign else (release, [])
    rows = checkable_rows(release, policy, times=times)
    archives = _archives(policy, terms.previous)
    aligned, places = None, None
    if original is not None:
        strange = release.codebook.strange_to(original.codebook)
        beside = beside.with_notes(release.name, strange)
        before = original_rows(original, policy)
        places = align(owner, policy, released=rows.height, original=before.height)
        aligned = Aligned.of(release, rows, original, before, places)
    verdict = verify_rows(release, rows, policy, aligned=aligned, beside=beside)
    verdict = replace(verdict, warnings=[*hints, *verdict.warnings])
    if archives:
        from kveil.flow.previous import earlier_releases, link_release, who_is_who
        from kveil.verifier.together import verify_together

        digest = None if file is None else sha256(file.read_bytes()).hexdigest()
        way_back = original, places, digest
        newest, earlier = link_release(release, policy, archives[0], earlier_releases(archives), way_back)
        known = None if original is None else who_is_who(original, policy, archives[0])
        together = verify_together(policy, [*earlier, newest], known=known, weaker=terms.weaker)
        verdict = verdict.with_previous(together.check, together.findings, together.lapsed)
    return Checked(verdict, policy_sha256(policy, rows))


def _archives(policy: Policy, given: Sequence[Path]) -> list[Archive]:
    """Return the archives of earlier releases that a policy or the caller names."""
    if not policy.previous and not given:
        return []
    from kveil.flow.previous import archives_of

    return archives_of(policy, given)
