"""The maximal anonymous subset (Yang et al. 2006, definition 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.grouping.equal_rows import drop_rare
from kveil.models.groups import AtLeastK, GroupModel, Groups, Pairs


@dataclass(frozen=True)
class Requirement:
    """A model on a grouping of tuples; ``taking_part`` are the tuples it counts, None for all."""

    model: GroupModel
    group: Ints
    groups: int
    taking_part: Bools | None = None

    def holds(self, weights: Longs, pairs: Mapping[str, Pairs]) -> Bools:
        """Tell which tuples are in a group that satisfies the model; who is out has no weight."""
        return self.model.good(Groups(self.group, self.groups, weights, pairs))[self.group]

    def leave(self, weights: Longs, pairs: Mapping[str, Pairs], alive: Bools) -> int:
        """Drop every tuple of a failing group from those that are alive; return how many these are."""
        if isinstance(self.model, AtLeastK) and self.taking_part is None:
            return drop_rare(self.group, self.groups, weights, self.model.k, alive)
        counted = alive if self.taking_part is None else alive & self.taking_part
        failing = counted & ~self.holds(np.where(counted, weights, 0), pairs)
        alive &= ~failing
        return int(np.count_nonzero(failing))


def maximal_anonymous_subset(
    requirements: Sequence[Requirement], weights: Longs, pairs: Mapping[str, Pairs], alive: Bools
) -> Bools:
    """Return the tuples that are left when every tuple of a failing group is dropped, until none fails.

    Unique for models with ``unique_subset``; for others one set that satisfies everything. A tuple that takes
    no part in a requirement is never dropped by it. O(tuples · requirements) per round.
    """
    alive = alive.copy()
    at = content = 0  # requirements that dropped nobody, one after another
    while content < len(requirements):
        dropped = requirements[at % len(requirements)].leave(weights, pairs, alive)
        at, content = at + 1, 0 if dropped else content + 1
    return alive
