"""What Classfly knows of the groups of the tuples that are left, from round to round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from kveil.algorithms.component import Constraint
from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.grouping.equal_rows import drop_rare

NEARLY_NONE = 0.25  # of k members that groups are expected to have: then hardly any has k of them


@dataclass
class KnownGroup:
    """Every tuple's group by one constraint, how many groups there are, and which tuples are in one of k or more."""

    group: Ints
    number: int
    large: Bools | None = None  # None as long as nobody has asked

    def in_large(self, weights: Longs, k: int) -> Bools:
        """Tell which tuples are in a group of k records or more, all that are left counted."""
        if self.large is None:
            self.large = np.ones(len(self.group), dtype=bool)
            drop_rare(self.group, self.number, weights, k, self.large)
        return self.large


@dataclass
class KnownGroups:
    """The groups of all tuples that are left by the constraints that were asked, until any of this changes.

    A step changes the constraints over the attribute that moves, and no others. ``shown`` has, per attribute, how many
    nodes are shown, ``next_step`` the attribute that moves next where nothing is set aside.
    """

    shown: Sequence[int] = ()
    next_step: int | None = None
    of: dict[int, KnownGroup] = field(default_factory=dict)

    def forget(self, constraints: Sequence[Constraint], moved: int) -> None:
        """Forget the groups of the constraints over an attribute."""
        self.of = {j: known for j, known in self.of.items() if moved not in constraints[j].over}

    def merge(self, first: Ints) -> None:
        """Go on with the first tuple of each set of equal ones."""
        self.of = {j: KnownGroup(known.group[first], known.number) for j, known in self.of.items()}

    def order(self, constraints: Sequence[Constraint], records: int, left_share: Sequence[float]) -> list[int]:
        """Return the constraints whose groups are not known, that which is likely to leave least first.

        If attributes were independent, its groups would have so many records. Of those that leave hardly any tuple, one
        that the next step does not change: its answer serves the next round, too.
        """

        def rank(j: int) -> tuple[bool, float, float]:
            over = constraints[j].over
            size = records / prod(self.shown[a] for a in over) / constraints[j].k if self.shown else 1.0
            if size < NEARLY_NONE:
                return False, float(self.next_step in over), size
            return True, left_share[j], size

        return sorted((j for j in range(len(constraints)) if j not in self.of), key=rank)
