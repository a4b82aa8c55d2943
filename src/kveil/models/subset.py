"""The maximal anonymous subset (Yang et al. 2006, definition 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kveil.arrays import Bools, Ints, Longs
from kveil.models.groups import GroupModel, Groups, Pairs


@dataclass(frozen=True)
class Requirement:
    """A model on a grouping of tuples; ``taking_part`` are the tuples it counts, None for all."""

    model: GroupModel
    group: Ints
    groups: int
    taking_part: Bools | None = None


def maximal_anonymous_subset(
    requirements: Sequence[Requirement], weights: Longs, pairs: Mapping[str, Pairs], alive: Bools
) -> Bools:
    """Return the tuples that are left when every tuple of a failing group is dropped, until none fails.

    Unique for models with ``unique_subset``; for others one set that satisfies everything. A tuple that takes
    no part in a requirement is never dropped by it. O(tuples · requirements) per round.
    """
    alive = alive.copy()
    while True:
        before = int(alive.sum())
        for requirement in requirements:
            counted = alive if requirement.taking_part is None else alive & requirement.taking_part
            groups = Groups(requirement.group, requirement.groups, np.where(counted, weights, 0), pairs)
            alive &= requirement.model.good(groups)[requirement.group] | ~counted
        if int(alive.sum()) == before:
            return alive
