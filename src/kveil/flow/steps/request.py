"""What a run is asked for, known before a table is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from kveil.algorithms.algorithm import Algorithm
from kveil.choose import candidates
from kveil.engines.choosing import refuse_earlier
from kveil.errors import Refused
from kveil.flow.steps.outputs import Targets
from kveil.policy.model import Policy

if TYPE_CHECKING:  # few runs hold together with earlier releases
    from kveil.flow.previous import EarlierReleases


NOTHING_EARLIER = "--weaker is about earlier releases; give --previous, or name archives under `previous`, too."


@dataclass(frozen=True)
class Request:
    """What a run is asked for: a policy, the algorithms its choice stands for, a bound, and earlier releases."""

    policy: Policy
    able: Sequence[Algorithm]
    bounded: bool
    earlier: EarlierReleases | None

    @classmethod
    def of(
        cls, policy: Policy, *, bounded: bool = False, previous: Sequence[str | Path] = (), weaker: bool = False
    ) -> Self:
        """Return what a policy and a caller ask for; ``previous`` are archives beside those that the policy names.

        Where the release may be ``weaker``, it need not keep what earlier ones promised. What no algorithm honours is
        refused here.
        """
        if policy.engine == "spark":
            refuse_earlier(policy, previous)
        if weaker and not policy.previous and not previous:
            raise Refused(NOTHING_EARLIER)
        earlier = _earlier_releases(policy, previous, weaker=weaker)
        able = candidates(policy)
        return cls(policy, able if earlier is None else earlier.able(policy), bounded, earlier)

    def only_local(self, targets: Targets) -> str:
        """Return the first thing a run is asked for that only the local engine can do, nothing where there is none."""
        wants = ((targets.report, "--report"), (targets.archive, "--archive"), (self.earlier, "--previous"))
        return next((what for wanted, what in wants if wanted is not None), "")


def _earlier_releases(policy: Policy, given: Sequence[str | Path], *, weaker: bool) -> EarlierReleases | None:
    """Return the earlier releases that a policy and the caller name, None where that is nothing."""
    if not policy.previous and not given:
        return None
    from kveil.flow.previous import EarlierReleases

    return EarlierReleases.of(policy, [Path(folder) for folder in given], weaker=weaker)
