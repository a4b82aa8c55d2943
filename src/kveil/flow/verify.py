"""`kveil verify`: check a release made by anyone."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from kveil.files import Source, look_beside
from kveil.flow.inputs import rows_of
from kveil.flow.previous import archives_of, earlier_releases, linked_release, who_is_who
from kveil.frames import from_frame
from kveil.policy.model import Policy
from kveil.report.owner import Owner
from kveil.verifier import Verdict, verify_release
from kveil.verifier.release import can_verify
from kveil.verifier.together import check_several, verify_together


def verify(
    release: Any,
    policy: Policy,
    original: Any = None,
    owner: Owner | None = None,
    *,
    previous: Sequence[str | Path] = (),
) -> Verdict:
    """Check a release made by anyone; with the original also truth, boundaries and unchanged cells.

    ``release`` and ``original`` are pandas, Polars or PyArrow tables. Rows are aligned by ``owner``, or by position
    where the policy says `order: keep` and none is missing. ``previous`` are archives of earlier releases, beside those
    that the policy names: the release is checked together with them. The verdict is true if everything that was
    checked holds.
    """
    was = None if original is None else from_frame(original)
    return verify_sources(from_frame(release), policy, was, owner, previous=[Path(folder) for folder in previous])


def verify_sources(
    release: Source,
    policy: Policy,
    original: Source | None,
    owner: Owner | None,
    *,
    file: Path | None = None,
    previous: Sequence[Path] = (),
) -> Verdict:
    """Check a release that has been read; of its ``file`` also what it holds beside the cells."""
    can_verify(policy)
    archives = archives_of(policy, previous)
    if archives:
        check_several(policy)
    beside = None if file is None else look_beside(file, release, policy.data.missing[0])
    places = None if original is None else rows_of(release, original, policy, owner)
    verdict = verify_release(release, policy, original, places, beside=beside)
    if not archives:
        return verdict
    digest = None if file is None else sha256(file.read_bytes()).hexdigest()
    way_back = original, places, digest
    newest, earlier = linked_release(release, policy, archives[0], earlier_releases(archives), way_back)
    known = None if original is None else who_is_who(original, policy, archives[0])
    return verdict.with_previous(*verify_together(policy, [*earlier, newest], known))
