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
    """Say how many people who were shown before get less than was promised, once a batch shows them again.

    Raises Unmeetable where another release of the archive promised it, unless a ``weaker`` outcome is allowed. Who is
    in the new records alone is judged with the release that they are shown as: nobody promised them more.
    """
    others = [
        part
        for one in archive.releases()
        if one.number != archived.number
        for part in releases_with_batches(one, one.batches)
    ]
    before = [*others, *releases_with_batches(archived, archived.batches)]
    after = [*others, *releases_with_batches(archived, [*archived.batches, batch])]
    if len(after) == 1:
        return []
    fallen = _fallen(after, archived)
    fallen = fallen.filter(fallen.is_in(_people_of(before, fallen).implode()))
    fallen = fallen.filter(~fallen.is_in(_fallen(before, archived).implode()))
    elsewhere = fallen.is_in(_people_of(others, fallen).implode())
    again, theirs = int((~elsewhere).sum()), int(elsewhere.sum())
    told = []
    if theirs and not weaker:
        raise Unmeetable(
            f"with the new records, {count(theirs, 'person')} whom other releases of {archive.folder.name} show would "
            "get less than these promised; nothing was written. Take out of the new records whom they show, make a "
            "release with --previous, or give --weaker to allow it.",
            lost=theirs,
        )
    if theirs:
        verb = "gets" if theirs == 1 else "get"
        told.append(
            f"{count(theirs, 'person')} whom other releases of {archive.folder.name} show {verb} less than these "
            "promised, which --weaker allows."
        )
    if again:
        verb = "is" if again == 1 else "are"
        told.append(
            f"{count(again, 'person')} whom the release, or an earlier batch, showed before {verb} in smaller or less "
            "diverse company once both are laid side by side, since some of them are shown once more; where that "
            "matters, take those out of the new records."
        )
    return told


def _people_of(releases: Sequence[Archived], none: pl.Series) -> pl.Series:
    """Return the people whom some releases show, like ``none`` where there are none."""
    return pl.concat([none.head(0), *(_linked(one).shown[PERSON] for one in releases)]).unique()


def _linked(one: Archived) -> LinkedRelease:
    return LinkedRelease(one.name, one.policy, one.release, one.people)


def _fallen(releases: Sequence[Archived], archived: Archived) -> pl.Series:
    """Return the people for whom some promise of the releases does not hold; of one release, nobody."""
    if len(releases) == 1:
        return releases[0].people.head(0)
    return verify_together(archived.policy, [_linked(one) for one in releases], weaker=True).fallen
