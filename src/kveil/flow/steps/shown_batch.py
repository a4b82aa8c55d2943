"""What a batch that a release is applied to does to what the releases of its archive promise together."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from kveil.archive import Archive, Archived
from kveil.archive.entry import AppliedBatch
from kveil.archive.growth import releases_with_batches
from kveil.errors import Unmeetable
from kveil.verifier.links import PERSON, LinkedRelease
from kveil.verifier.together import verify_together
from kveil.words import count


def lapses_of_batch(archive: Archive, archived: Archived, batch: AppliedBatch, *, weaker: bool) -> list[str]:
    """Say how many people whom other releases show get less than these promised, once a batch is shown.

    Raises Unmeetable unless a ``weaker`` outcome is allowed. Who is in the new records alone is judged with the release
    that they are shown as: nobody promised them more.
    """
    others = [
        part
        for one in archive.releases()
        if one.number != archived.number
        for part in releases_with_batches(one, one.batches)
    ]
    after = [*others, *releases_with_batches(archived, [*archived.batches, batch])]
    if len(after) == 1:
        return []
    before = [*others, *releases_with_batches(archived, archived.batches)]
    told_before = pl.concat([_linked(one).shown[PERSON] for one in before]).unique()
    fallen = _fallen(after, archived)
    fallen = fallen.filter(fallen.is_in(told_before.implode()))
    fallen = fallen.filter(~fallen.is_in(_fallen(before, archived).implode()))
    if not len(fallen):
        return []
    people = count(len(fallen), "person")
    if weaker:
        verb = "gets" if len(fallen) == 1 else "get"
        return [f"{people} whom {archive.folder.name} showed before {verb} less than was promised, as --weaker allows."]
    raise Unmeetable(
        f"with the new records, {people} whom {archive.folder.name} showed before would get less than was promised, "
        "since they would be shown once more; nothing was written. Take them out of the new records, make a release "
        "with --previous, or give --weaker to allow it.",
        lost=len(fallen),
    )


def _linked(one: Archived) -> LinkedRelease:
    return LinkedRelease(one.name, one.policy, one.release, one.people)


def _fallen(releases: Sequence[Archived], archived: Archived) -> pl.Series:
    """Return the people for whom some promise of the releases does not hold; of one release, nobody."""
    if len(releases) == 1:
        return releases[0].people.head(0)
    return verify_together(archived.policy, [_linked(one) for one in releases], weaker=True).fallen
