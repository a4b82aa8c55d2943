"""`kveil attack`: play the attacker on a release made by anyone."""

from __future__ import annotations

from kveil.attack import Attacks, play
from kveil.files import Source, check_columns
from kveil.flow.inputs import check_released, rows_of
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
    return play(policy, original, release, places, attacker=attacker, progress=progress)
