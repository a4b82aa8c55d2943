"""Earlier releases: which archives a policy and the command line name, and who is who in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from kveil.algorithms.algorithm import Algorithm
from kveil.archive import Archive, Archived, key_texts, open_archives
from kveil.arrays import Longs
from kveil.choose import candidates
from kveil.errors import DataError, Refused
from kveil.files import Source
from kveil.policy.model import Policy
from kveil.previous.attempt import TogetherAttempt, attempt_together
from kveil.previous.earlier_looks import Past
from kveil.previous.fixed_attributes import with_looks
from kveil.progress import Progress
from kveil.table.table import Table
from kveil.verifier.links import KnownPeople, LinkedRelease
from kveil.verifier.rows import original_rows
from kveil.verifier.together import check_several, verify_together
from kveil.verifier.verdict import TogetherCheck


@dataclass(frozen=True)
class EarlierReleases:
    """The releases that a new one must hold together with, and the archive whose key says who is who."""

    archive: Archive
    releases: list[Archived]

    @classmethod
    def of(cls, policy: Policy, given: Sequence[Path]) -> EarlierReleases | None:
        """Return what a policy and the command line name, None where that is nothing."""
        archives = archives_of(policy, given)
        if not archives:
            return None
        check_several(policy)
        return cls(archives[0], earlier_releases(archives))

    def people_of(self, source: Source, policy: Policy) -> pl.Series:
        """Return who the people of a table are, by the archive's key."""
        return self.archive.hashes(key_texts(source, policy))

    def able(self, policy: Policy) -> list[Algorithm]:
        """Return the algorithms that a policy's choice stands for, of those that keep groups within earlier ones."""
        try:
            return candidates(with_looks(policy, (0,) * len(policy.privacy)))
        except Refused:
            raise Refused(
                f"{policy.algorithm.name} knows no boundaries, so that it cannot keep groups within those of earlier "
                "releases; use an algorithm that does, such as least-loss."
            ) from None

    def attempt(
        self, table: Table, people: pl.Series, able: Sequence[Algorithm], progress: Progress
    ) -> TogetherAttempt:
        """Solve a table, whose rows are these people, so that it holds together with the earlier releases."""
        past = Past.of(table.policy, people, self.releases, dict(table.sensitive))
        return attempt_together(table, past, able, progress)

    def check(self, newest: Source, policy: Policy, people: pl.Series) -> tuple[TogetherCheck, list[str]]:
        """Return the verifier's word on a new release, whose rows are these people, together with the earlier ones."""
        last = LinkedRelease(newest.name, policy, newest, people)
        return verify_together(policy, [*map(as_linked, self.releases), last])


def archives_of(policy: Policy, given: Sequence[Path]) -> list[Archive]:
    """Return the archives that a policy names, from its folder, and those given beside it."""
    return open_archives([*(policy.folder / path for path in policy.previous), *given])


def earlier_releases(archives: Sequence[Archive]) -> list[Archived]:
    """Return all releases of some archives in the order in which they were made."""
    releases = [archived for archive in archives for archived in archive.releases()]
    return sorted(releases, key=lambda archived: archived.made)


def as_linked(archived: Archived) -> LinkedRelease:
    """Return an archived release as the verifier takes it."""
    return LinkedRelease(archived.name, archived.policy, archived.release, archived.people)


def link_release(
    release: Source,
    policy: Policy,
    archive: Archive,
    earlier: Sequence[Archived],
    way_back: tuple[Source | None, Longs | None, str | None],
) -> tuple[LinkedRelease, list[LinkedRelease]]:
    """Return a release with who each row is, and the earlier ones.

    ``way_back`` is the original with the row of it that each released row is, and the hash of the released file. One
    that is itself in the archive is known from there, and is none of the earlier ones.
    """
    original, places, digest = way_back
    same = [archived for archived in earlier if archived.release_sha256 == digest]
    others = [as_linked(archived) for archived in earlier if archived.release_sha256 != digest]
    if same:
        return LinkedRelease(release.name, policy, release, same[-1].people), others
    if original is None or places is None:
        raise DataError(
            f"{release.name} is in none of the archives, so that it is not known who is who in it; give --original and "
            "--owner, or the archive it was made with."
        )
    return LinkedRelease(release.name, policy, release, who_is_who(original, policy, archive).people[places]), others


def who_is_who(original: Source, policy: Policy, archive: Archive) -> KnownPeople:
    """Return everybody of a table under the keyed hash of an archive."""
    return KnownPeople(archive.hashes(key_texts(original, policy)), original, original_rows(original, policy).source)
