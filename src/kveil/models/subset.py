"""The maximal anonymous subset (Yang et al. 2006, definition 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.grouping.equal_rows import drop_rare
from kveil.models.groups import AtLeastK, GroupModel, Groups, Pairs

MANY = 10_000  # tuples: with fewer, a round over all of them takes no longer than setting those apart that are left


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

    @property
    def least(self) -> int | None:
        """How many records each group must have, where it asks for that of all tuples and for nothing else."""
        return self.model.k if isinstance(self.model, AtLeastK) and self.taking_part is None else None

    def among(self, chosen: Longs) -> Requirement:
        """Return the same for some tuples alone, whose groups have numbers of their own."""
        group = np.take(self.group, chosen)
        present = np.zeros(self.groups, dtype=bool)
        present[group] = True
        renumber = np.cumsum(present, dtype=np.int32) - 1
        return replace(self, group=np.take(renumber, group), groups=int(np.count_nonzero(present)))

    def leave(self, weights: Longs, pairs: Mapping[str, Pairs], alive: Bools) -> int:
        """Drop every tuple of a failing group from those that are alive; return how many these are."""
        if self.least is not None:
            return drop_rare(self.group, self.groups, weights, self.least, alive)
        counted = alive if self.taking_part is None else alive & self.taking_part
        failing = counted & ~self.holds(np.where(counted, weights, 0), pairs)
        alive &= ~failing
        return int(np.count_nonzero(failing))


def maximal_anonymous_subset(
    requirements: Sequence[Requirement], weights: Longs, pairs: Mapping[str, Pairs], alive: Bools
) -> Bools:
    """Return the tuples that are left when every tuple of a failing group is dropped, until none fails.

    Unique for models with ``unique_subset``; for others one set that satisfies everything. A tuple that takes
    no part in a requirement is never dropped by it. O(tuples · requirements) per round; where sizes alone count, of the
    tuples that are left.
    """
    alive = alive.copy()
    number = np.count_nonzero(alive)
    places: Longs | None = None  # of those that are looked at, where these are not all tuples
    everyone = len(alive)
    apart = all(requirement.least is not None for requirement in requirements)
    at = content = 0  # requirements that dropped nobody, one after another
    while content < len(requirements):
        if apart and len(alive) > MANY and 2 * number < len(alive):
            chosen = np.flatnonzero(alive)
            requirements = [requirement.among(chosen) for requirement in requirements]
            weights, alive = weights[chosen], np.ones(len(chosen), dtype=bool)
            places = chosen if places is None else places[chosen]
        dropped = requirements[at % len(requirements)].leave(weights, pairs, alive)
        number -= dropped
        at, content = at + 1, 0 if dropped else content + 1
    if places is None:
        return alive
    found = np.zeros(everyone, dtype=bool)
    found[places[alive]] = True
    return found
