"""`kveil attack`: play the attacker on a release made by anyone."""

from __future__ import annotations

from typing import Any

from kveil.attack import play
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
) -> dict[str, Any]:
    """Return every attack with its success before and after; ``attacker`` is a table that the attacker has."""
    check_released(release, policy.released)
    check_columns(original.frame.columns, policy.attributes, original.name)
    return play(policy, original, release, rows_of(release, original, policy, owner), attacker, progress)
