"""Settle a solution: who counts as suppressed where, exactly as the released texts will be read.

Algorithms work on one component after another. What their solutions come to together is settled here, after each of
them: rows that show nothing anywhere are suppressed; so are, in their component, rows of stars that are no group by
themselves; whoever is suppressed in one component is suppressed in those that go with it; and whoever is left behind
in a group that has become too small goes, too. Nothing here looks at a single row's sensitive value: rows that show
the same share their fate.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kveil.algorithms.component import SearchComponent, components_of
from kveil.algorithms.stars import NOTHING_LEFT, star_cells
from kveil.algorithms.suppression import LEFT_BEHIND, WAYS_OUT, beyond_limit
from kveil.arrays import Bools, Ints
from kveil.errors import Unmeetable
from kveil.measures import least_lossy
from kveil.models.groups import Groups
from kveil.models.of_policy import sensitive_pairs_of_rows
from kveil.models.subset import maximal_anonymous_subset
from kveil.policy.components import components_suppressed_with, most_suppressed, sensitive_starred_with
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table
from kveil.table.tree import Tree

STARS_ARE_NO_GROUP = "shown as * with too few, or too much alike, others"


def settle(table: Table, solution: Solution, name: str) -> Solution:
    """Return a solution in which every row that counts as suppressed is marked as such, and everything holds.

    Raises Unmeetable where that are more than the policy allows; ``name`` is the algorithm's. With one component there
    is nothing to settle. O(records · attributes) per round, and every round suppresses more.
    """
    if len(table.components) == 1 or table.stars_take_part:
        return solution
    settling = _Settling(table, solution)
    settling.run()
    shown = settling.take_back()
    settling.check_that_somebody_takes_part(name)
    if np.array_equal(settling.out, solution.suppressed):
        return solution
    lost, allowed = table.count(settling.out.any(axis=0)), most_suppressed(table.policy, table.records)
    if lost > allowed:
        raise beyond_limit(table, name, lost, allowed)
    reasons = dict(solution.reasons)
    for reason, rows in settling.reasons.items():
        new = np.flatnonzero(rows & ~solution.suppressed_anywhere).astype(np.int32)
        if len(new):
            before = reasons.get(reason, np.zeros(0, dtype=np.int32))
            reasons[reason] = np.union1d(before, new).astype(np.int32)
    gone = settling.out.any(axis=0)
    reasons = {reason: rows[gone[rows]] for reason, rows in reasons.items() if gone[rows].any()}
    return replace(solution, shown=shown, suppressed=settling.out, reasons=reasons, alike=None)


class _Settling:
    """The state of settling: who is out of which component, and why."""

    def __init__(self, table: Table, solution: Solution) -> None:
        self.table = table
        self.solution = solution
        self.components = components_of(table)
        self.together = components_suppressed_with(table.policy)
        self.out = solution.suppressed.copy()
        self.weights = table.weights
        self.pairs = sensitive_pairs_of_rows(table)
        self.stars = [
            star_cells([solution.shown[position] for position in component.positions], table.rows)
            for component in self.components
        ]
        self.required = [component.requirements(component.shown_by(solution)) for component in self.components]
        self.reasons: dict[str, Bools] = {}

    def run(self) -> None:
        """Suppress until everything holds."""
        before = -1
        while (number := int(self.out.sum())) != before:
            before = number
            self._spread()
            self._leave_out_everywhere()
            for c in range(len(self.components)):
                self._leave_out(c, self._stars_that_fail(c), STARS_ARE_NO_GROUP)
                alive = ~self.out[c]
                kept = maximal_anonymous_subset(self.required[c], self.weights, self.pairs, alive)
                self._leave_out(c, alive & ~kept, LEFT_BEHIND)

    def _spread(self) -> None:
        """Suppress whoever is suppressed in one component in all that go with it."""
        self.out = np.array([self.out[sorted(together)].any(axis=0) for together in self.together])

    def _everywhere(self) -> Bools:
        """Return the rows that show nothing but `*`, be it by generalization or by suppression."""
        stars = [star | out for star, out in zip(self.stars, self.out, strict=True)]
        return np.asarray(np.logical_and.reduce(stars))

    def _leave_out_everywhere(self) -> None:
        """Suppress everywhere whoever shows nothing anywhere."""
        everywhere = self._everywhere()
        for c in range(len(self.components)):
            self._leave_out(c, everywhere & ~self.out[c], NOTHING_LEFT)

    def _stars_that_fail(self, c: int) -> Bools:
        """Return the rows of stars of a component if they, as one group, break one of its models."""
        rows: Bools = self.stars[c] & ~self.out[c]
        if not rows.any():
            return rows
        # Everybody else is one more group, so that t-closeness is to all who take part.
        group: Ints = np.where(rows, 0, 1).astype(np.int32)
        groups = Groups(group, 2, np.where(self.out[c], 0, self.weights), self.pairs)
        holds = all(bool(model.good(groups)[0]) for model in self.components[c].models)
        return np.zeros_like(rows) if holds else rows

    def check_that_somebody_takes_part(self, name: str) -> None:
        """Raise Unmeetable where records are shown of whom none takes part in some component."""
        if self.out.all():
            return
        for component, out in zip(self.components, self.out, strict=True):
            if out.all():
                raise Unmeetable(
                    f"{name} cannot meet the policy: over {', '.join(component.names)} no {self.table.noun} has a "
                    f"group that satisfies it, so that nobody would be protected there; {WAYS_OUT}",
                    lost=self.table.count(out),
                )

    def take_back(self) -> tuple[Shown, ...]:
        """Take back rows that suppression shows as stars where such stars are a group; return what rows show then.

        Where no sensitive cell is starred beside them, a starred row cannot be told from one that was generalized
        to `*`: on the release they are one group.
        """
        shown = list(self.solution.shown)
        if self.table.policy.suppression.show == "drop" or self.table.persons is not None:
            return tuple(shown)
        everywhere = self._everywhere()
        beside = sensitive_starred_with(self.table.policy)
        for c, component in enumerate(self.components):
            if beside[c]:
                continue
            rows = (self.stars[c] | self.out[c]) & ~everywhere & self._may_be_stars(component)
            if (rows & self.out[c]).any() and self.table.count(rows) >= component.least_members:
                self.out[c] &= ~rows
                for position in component.positions:
                    shown[position] = shown[position].starred(rows)
        return tuple(shown)

    def _may_be_stars(self, component: SearchComponent) -> Bools:
        """Return the rows that generalization, too, could show as `*` in all attributes of a component."""
        able = np.ones(self.table.rows, dtype=bool)
        for position, tree in zip(component.positions, component.trees, strict=True):
            if isinstance(tree, Tree):
                able &= tree.is_star[tree.limit_of[self.table.leaves[position]]]
            else:
                able &= tree.missing is not None
        return able

    def _leave_out(self, c: int, rows: Bools, reason: str) -> None:
        if rows.any():
            self.out[c] |= rows
            self.reasons[reason] = self.reasons.get(reason, np.zeros_like(rows)) | rows


def settle_unless_dearer(table: Table, refined: Solution, before: Solution) -> Solution:
    """Return a refined solution settled, or the one before, where settling costs more than refining has gained."""
    try:
        settled = settle(table, refined, "refine")
    except Unmeetable:
        return before
    if settled is refined:
        return refined
    return least_lossy(table, (before, settled))
