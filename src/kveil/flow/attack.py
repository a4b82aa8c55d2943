"""`kveil attack`: play the attacker on a release made by anyone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from kveil.arrays import Longs
from kveil.attacker.attacks import Attacks
from kveil.attacker.play import Means, play
from kveil.attacker.several import SideBySide
from kveil.errors import KveilError
from kveil.files import Source, check_columns
from kveil.flow.previous import EarlierReleases, as_linked, who_is_who
from kveil.flow.steps.cancelling import cancellable
from kveil.flow.steps.inputs import check_released, rows_of, table_of
from kveil.frames import from_frame
from kveil.policy.model import Policy
from kveil.progress import Progress, silent
from kveil.report.owner import Owner
from kveil.verifier.links import LinkedRelease


@dataclass(frozen=True)
class AttackMeans:
    """What an attacker has beside the release: a table of their own, and archives of earlier releases."""

    table: Source | None = None
    previous: Sequence[Path] = ()


def attack(
    release: Any,
    policy: Policy,
    original: Any,
    owner: Owner | None = None,
    *,
    attacker: Any = None,
    previous: Sequence[str | Path] = (),
) -> Attacks:
    """Play the attacker on a release made by anyone: every attack with its success before and after.

    ``release`` and ``original`` are tables, aligned by ``owner`` or by position as in `kveil.verify`.
    ``attacker`` is a table that the attacker has, joined by quasi-identifiers; ``previous`` are archives of earlier
    releases.
    """
    table = None if attacker is None else table_of(attacker, policy)
    means = AttackMeans(table, [Path(folder) for folder in previous])
    with cancellable():
        return attack_sources(table_of(release, policy), policy, table_of(original, policy), owner, means=means)


def attack_sources(
    release: Source,
    policy: Policy,
    original: Source,
    owner: Owner | None,
    *,
    means: AttackMeans = AttackMeans(),  # noqa: B008 (frozen)
    progress: Progress = silent,
) -> Attacks:
    """Return every attack with its success before and after."""
    check_released(release, policy.released)
    check_columns(original.frame.columns, policy.attributes, original.name)
    places = rows_of(release, original, policy, owner)
    side_by_side = _side_by_side(release, policy, original, places, means.previous)
    all_means = Means(means.table, partial(_remake, policy, original), side_by_side)
    return play(policy, original, release, places, means=all_means, progress=progress)


def _side_by_side(
    release: Source, policy: Policy, original: Source, places: Longs, previous: Sequence[Path]
) -> SideBySide | None:
    """Return the release beside the earlier ones, None where there are none; it is no earlier one of itself."""
    earlier = EarlierReleases.of(policy, previous, weaker=True)  # no promise is judged
    if earlier is None:
        return None
    known = who_is_who(original, policy, earlier.archive)
    newest = LinkedRelease(release.name, policy, release, known.people.gather(places))
    rows = release.frame.height  # what was applied since follows
    others = [as_linked(one) for one in earlier.releases if not one.release.frame.head(rows).equals(release.frame)]
    return SideBySide(others, newest, known)


def _remake(policy: Policy, original: Source, sensitive: str, values: Sequence[str]) -> Counter[tuple[str, ...]] | None:
    """Return the rows that kveil releases of a table with other sensitive values; None where it releases nothing."""
    from kveil.flow.anonymize import anonymize

    here = policy.model_copy(update={"engine": "local"})  # which makes the same release as any other
    frame = original.frame.with_columns(pl.Series(sensitive, list(values), dtype=pl.String))
    try:
        released = from_frame(anonymize(frame, here).data)
    except KveilError:
        return None
    return Counter(zip(*(released.texts(name) for name in (*policy.quasi_identifiers, sensitive)), strict=True))
