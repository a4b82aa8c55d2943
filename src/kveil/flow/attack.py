"""`kveil attack`: play the attacker on a release made by anyone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import polars as pl

from kveil.attack import Attacks, Means, play
from kveil.errors import KveilError
from kveil.files import Source, check_columns
from kveil.flow.inputs import check_released, rows_of
from kveil.frames import from_frame
from kveil.policy.model import Policy
from kveil.progress import Progress, silent
from kveil.report.owner import Owner


def attack_sources(
    release: Source,
    policy: Policy,
    original: Source,
    owner: Owner | None,
    *,
    attacker: Source | None = None,
    progress: Progress = silent,
) -> Attacks:
    """Return every attack with its success before and after; ``attacker`` is a table that the attacker has."""
    check_released(release, policy.released)
    check_columns(original.frame.columns, policy.attributes, original.name)
    places = rows_of(release, original, policy, owner)
    means = Means(attacker, partial(_remake, policy, original))
    return play(policy, original, release, places, means=means, progress=progress)


def _remake(policy: Policy, original: Source, sensitive: str, values: Sequence[str]) -> Counter[tuple[str, ...]] | None:
    """Return the rows that kveil releases of a table with other sensitive values; None where it releases nothing."""
    from kveil.flow.anonymize import anonymize

    frame = original.frame.with_columns(pl.Series(sensitive, list(values), dtype=pl.String))
    try:
        released = from_frame(anonymize(frame, policy).data)
    except KveilError:
        return None
    return Counter(zip(*(released.texts(name) for name in (*policy.quasi_identifiers, sensitive)), strict=True))
