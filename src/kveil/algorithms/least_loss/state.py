"""What both searches of refining are given: a component with the rows that take part in it, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kveil.algorithms.component import SearchComponent
from kveil.algorithms.least_loss.layout import base_codes
from kveil.algorithms.limits import limit_groups
from kveil.algorithms.stars import star_cells
from kveil.arrays import Bools, Ints
from kveil.models.distributions import AlphaShare, DistinctValues
from kveil.models.groups import AtLeastK, GroupModel, Groups, Pairs
from kveil.models.of_policy import least_members
from kveil.progress import Progress, Stage
from kveil.stopping import Stop
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.table.tree import Tree


@dataclass
class Watch:
    """Says when to stop, and counts and tells what was done until then."""

    stop: Stop
    progress: Progress
    whole: float  # what the table would cost if every cell of it showed nothing, in whole numbers
    outside: float = 0.0  # what other components and suppressed rows cost
    tries: int = 0
    kept: int = 0

    def over(self) -> bool:
        """Tell whether to stop."""
        return self.stop.over()

    def tell(self, cost: float) -> None:
        """Show the loss as it falls."""
        loss = (cost + self.outside) / max(self.whole, 1)
        self.progress(Stage.with_loss(f"refining: loss {loss:.3%} after {self.tries:,} tries", loss))


def plain_size(models: list[GroupModel], table: Table) -> int:
    """Return how few members a group can have by what models say of sizes and of numbers of different values.

    The search asks for so many before it looks at anything else; what shares and distances ask for shows in its tries.
    """
    sizes = [model.k for model in models if isinstance(model, (AtLeastK, AlphaShare))]
    diverse = [least_members(model, table) for model in models if isinstance(model, DistinctValues)]
    return max([1, *sizes, *diverse])


class RefinedComponent:
    """A component of a table with the rows of a solution that take part in it, in canonical order.

    ``out`` are the rows that do not: suppressed ones, and those that show nothing but stars where it ``hides`` them. Of
    these, ``parked`` ones are counted by the models all the same: they say something elsewhere.
    """

    def __init__(self, component: SearchComponent, solution: Solution, order: Ints) -> None:
        self.component = component
        self.table = component.table
        self.number = component.number
        self.positions = component.positions
        self.models = component.models
        self.hides = not self.table.stars_take_part or bool(solution.items)
        self.suppressed = solution.suppressed[self.number]
        star = star_cells([solution.shown[position] for position in self.positions], self.table.rows)
        self.out = self.suppressed | (star if self.hides else False)
        counted = self.table.stars_take_part or len(self.table.components) > 1
        self.parked = order[(self.out & ~self.suppressed & counted)[order]]
        self.rows = order[~self.out[order]]
        self.order = order
        self.k = plain_size(self.models, self.table)

    @cached_property
    def rank(self) -> Ints:
        """Every row's place in canonical order."""
        rank = np.empty(len(self.order), dtype=np.int32)
        rank[self.order] = np.arange(len(self.order), dtype=np.int32)
        return rank

    @property
    def outside(self) -> Ints:
        """The rows that take no part, in canonical order."""
        return np.asarray(self.order[self.out[self.order]])

    def leaves(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return the spans of leaves of some rows, attribute × row."""
        low = np.take(self.table.low[self.positions], rows, axis=1)
        same = self.table.low is self.table.high
        return low, low if same else np.take(self.table.high[self.positions], rows, axis=1)

    def base(self, rows: Ints) -> Ints:
        """Return what rows would show alone, row × attribute."""
        return base_codes(self.table, self.positions, *self.leaves(rows))

    def zones(self) -> Ints:
        """Return every row's zone: rows of different limits are never joined."""
        low = self.table.low[self.positions]
        group, first = limit_groups(self.table, self.positions, low)
        limits = [
            tree.limit_of[low[a, first]]
            for a, p in enumerate(self.positions)
            if isinstance(tree := self.table.trees[p], Tree)
        ]
        rank = np.empty(len(first), dtype=np.int32)  # zones in the order of their limits, not of their first rows
        rank[np.lexsort(tuple(limits[::-1])) if limits else np.arange(len(first))] = np.arange(len(first))
        return rank[group]

    def pairs(self, rows: Ints) -> dict[str, Pairs]:
        """Return the sensitive values of rows, by their place in ``rows``."""
        place = np.full(self.table.rows, -1, dtype=np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        kept = place >= 0
        return {
            name: Pairs(*self.table.pairs(name, place, len(rows), kept=kept), self.table.sensitive[name].known)
            for name in self.component.sensitive
        }

    def good(self, group: Ints, rows: Ints) -> Bools:
        """Tell which groups of rows satisfy every model; ``group`` gives the rows' groups."""
        groups = int(group.max(initial=-1)) + 1
        return self.component.good(Groups(group, groups, np.ones(len(rows), dtype=np.int64), self.pairs(rows)))
