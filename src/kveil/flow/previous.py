"""Earlier releases: which archives a policy and the command line name, and who is who in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from kveil.algorithms.algorithm import Algorithm
from kveil.archive import Archive, Archived, key_texts, open_archives
from kveil.archive.growth import releases_with_batches
from kveil.arrays import Longs
from kveil.choose import candidates
from kveil.errors import DataError, Refused, Unmeetable
from kveil.files import Source
from kveil.policy.model import Policy
from kveil.policy.privacy import single_sensitive
from kveil.previous.attempt import TogetherAttempt, attempt_together, check_before
from kveil.previous.demands import Demand, binding_demands, demand_in_words, demands_of, value_name
from kveil.previous.earlier_looks import Past
from kveil.previous.fixed_attributes import with_looks
from kveil.previous.new_columns import NewColumns
from kveil.progress import Progress
from kveil.table.decode import decode
from kveil.table.sensitive import Sensitive
from kveil.table.table import Table
from kveil.verifier.given_promises import check_several
from kveil.verifier.links import KnownPeople, LinkedRelease
from kveil.verifier.rows import original_rows
from kveil.verifier.together import Together, verify_together
from kveil.words import count, listing, model_in_words


@dataclass(frozen=True)
class EarlierReleases:
    """The releases that a new one must hold together with, and the archive whose key says who is who.

    Where it may be ``weaker``, what they promised is counted, and only what the new policy asks for must hold.
    """

    archive: Archive
    releases: list[Archived]
    weaker: bool = False
    archives: tuple[Archive, ...] = ()

    @classmethod
    def of(cls, policy: Policy, given: Sequence[Path], *, weaker: bool = False) -> EarlierReleases | None:
        """Return what a policy and the command line name, None where that is nothing."""
        archives = archives_of(policy, given)
        if not archives:
            return None
        releases = earlier_releases(archives)
        check_several(policy, [(one.name, one.policy) for one in releases], weaker=weaker)
        return cls(archives[0], releases, weaker, tuple(archives))

    def people_of(self, source: Source, policy: Policy) -> pl.Series:
        """Return who the people of a table are, by the archive's key."""
        return self.archive.hashes(key_texts(source, policy))

    def able(self, policy: Policy) -> list[Algorithm]:
        """Return the algorithms that a policy's choice stands for, of those that keep groups within earlier ones."""
        own = demands_of(policy, self.releases, weaker=True)
        try:
            able = candidates(with_looks(policy, own, self._binding(policy, own)))
        except Refused:
            raise Refused(
                f"{policy.algorithm.name} knows no boundaries, so that it cannot keep groups within those of earlier "
                "releases; use an algorithm that does, such as least-loss."
            ) from None
        demands = demands_of(policy, self.releases, weaker=self.weaker)
        if len(demands) == len(own):
            return able
        try:
            return candidates(with_looks(policy, demands, self._binding(policy, demands)))
        except Refused:
            told = listing([demand_in_words(demand) for demand in demands[len(own) :]], 3)
            raise Refused(
                f"{policy.algorithm.name} cannot keep what earlier releases promised beside what the policy asks for "
                f"({told}); use an algorithm that can, such as least-loss, or give --weaker to go on without that "
                "promise."
            ) from None

    def _binding(self, policy: Policy, demands: Sequence[Demand]) -> dict[int, int]:
        """Return the demands that a search will keep, all with one look: how many there are is not known yet."""
        return dict.fromkeys(binding_demands(policy, [one.policy for one in self.releases], demands), 0)

    def attempt(
        self, source: Source, table: Table, people: pl.Series, able: Sequence[Algorithm], progress: Progress
    ) -> TogetherAttempt:
        """Solve a table, whose rows are these people, so that it holds together with the earlier releases.

        Where nothing but their promises is in the way, the error says which, and for how many people.
        """
        demands = demands_of(table.policy, self.releases, weaker=self.weaker)
        beside = NewColumns.of(source, table, demands)
        now = dict(table.sensitive) | _by_column(demands, beside)
        past = Past.of(demands, people, self.releases, now, beside=beside)
        check_before(past)
        try:
            return attempt_together(table, past, able, progress)
        except Unmeetable as failure:
            if all(demand.given is None for demand in demands):
                raise
            raise self._because_of_promises(failure, source, table, people, progress) from None

    def _because_of_promises(
        self, failure: Unmeetable, source: Source, table: Table, people: pl.Series, progress: Progress
    ) -> Unmeetable:
        """Return a failure with what a release would break that keeps nothing but the new policy, if there is one."""
        weaker = replace(self, weaker=True)
        try:
            solution = weaker.attempt(source, table, people, weaker.able(table.policy), progress).attempt.solution
        except Unmeetable:
            return failure
        release = decode(source, table, solution)
        shown = Source("the release", release.frame(source), source.kind, separator=source.separator)
        check = weaker.check(shown, table.policy, people.gather(release.rows)).check
        broken = [own for own in check["promised"] if own["below"]]
        if not broken:
            return failure
        told = [
            f"{model_in_words(own)} over {listing(own['attributes']) or 'everyone'}, promised by "
            f"{listing(own['releases'])}, for {count(own['below'], 'person')}"
            for own in broken
        ]
        fallen, reason = count(check["below"], "person"), str(failure).split(";")[0].rstrip(".")
        return Unmeetable(
            f"what earlier releases promised cannot be kept under this policy ({reason}). A release that keeps the "
            f"policy alone would give {fallen} less than was promised: {listing(told)}. Ask for as much "
            "as before, raise suppression.limit, or give --weaker to allow it.",
            lost=failure.lost,
        )

    def check(self, newest: Source, policy: Policy, people: pl.Series) -> Together:
        """Return the verifier's word on a new release, whose rows are these people, together with the earlier ones."""
        last = LinkedRelease(newest.name, policy, newest, people)
        return verify_together(policy, [*map(as_linked, self.releases), last], weaker=self.weaker)


def _by_column(demands: Sequence[Demand], beside: NewColumns) -> dict[str, Sensitive]:
    """Return the values that only demands of earlier releases count, by the column they stand in."""
    columns = {value_name(i): single_sensitive(demand.model) for i, demand in enumerate(demands)}
    return {str(columns[name]): values for name, values in beside.values.items()}


def archives_of(policy: Policy, given: Sequence[Path]) -> list[Archive]:
    """Return the archives that a policy names, from its folder, and those given beside it."""
    return open_archives([*(policy.folder / path for path in policy.previous), *given])


def earlier_releases(archives: Sequence[Archive]) -> list[Archived]:
    """Return all releases of some archives in the order in which they were made, with the batches they were applied to.

    A batch with people who were shown before is a release of its own.
    """
    releases = sorted((one for archive in archives for one in archive.releases()), key=lambda one: one.made)
    return [part for one in releases for part in releases_with_batches(one, one.batches)]


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
    if same:  # what was applied since belongs to it
        return LinkedRelease(release.name, policy, same[-1].release, same[-1].people), others
    if original is None or places is None:
        raise DataError(
            f"{release.name} is in none of the archives, so that it is not known who is who in it; give --original and "
            "--owner, or the archive it was made with."
        )
    return LinkedRelease(release.name, policy, release, who_is_who(original, policy, archive).people[places]), others


def who_is_who(original: Source, policy: Policy, archive: Archive) -> KnownPeople:
    """Return everybody of a table under the keyed hash of an archive."""
    return KnownPeople(archive.hashes(key_texts(original, policy)), original, original_rows(original, policy).source)
