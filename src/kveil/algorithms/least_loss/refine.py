"""Refine: lower the loss of a valid solution by moves from valid to valid.

Components whose models are all over the same attributes are searched as groups (`grouped`); those with several sets of
attributes as shown values with counts (`descent`). It can stop at any time and never returns anything worse than it was
given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kveil.algorithms.costs import NodeCosts
from kveil.algorithms.declared import DeclaredRule
from kveil.algorithms.least_loss.layout import TooLarge, base_codes, whole_numbers
from kveil.algorithms.least_loss.search_groups import Grouped
from kveil.algorithms.least_loss.search_overlaps import may_come_in, overlap_of, smallest
from kveil.algorithms.least_loss.unsuppress import come_back
from kveil.algorithms.rules.follow import followers_of
from kveil.arrays import Bools, Ints
from kveil.kernels.grouping.groups import group_rows
from kveil.measures import measure
from kveil.models.fingerprints import as_shown
from kveil.models.groups import AtLeastK, Groups, Pairs
from kveil.models.of_policy import group_model
from kveil.policy.components import implied
from kveil.progress import Progress
from kveil.stopping import Stop, current
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table
from kveil.table.tree import Tree

ASKED = "asked to stop"


@dataclass
class Watch:
    """Says when to stop, and counts and tells what was done until then."""

    stop: Stop
    progress: Progress
    whole: float  # what the loss of everything would be, in the search's whole numbers
    outside: float = 0.0  # what other components and suppressed rows cost
    tries: int = 0
    kept: int = 0

    def over(self) -> bool:
        """Tell whether to stop."""
        return self.stop.over()

    def tell(self, cost: float) -> None:
        """Show the loss as it falls."""
        self.progress(f"refining: loss {(cost + self.outside) / max(self.whole, 1):.3%} after {self.tries:,} tries")


class Part:
    """One component of a table: its columns and models, and the rows that take part in it."""

    def __init__(self, table: Table, number: int, solution: Solution, order: Ints) -> None:
        policy = table.policy
        component = table.components[number]
        skip = implied(policy)
        self.table = table
        self.number = number
        self.names = component.attributes
        self.positions = table.positions(component.attributes)
        wanted = [i for i in component.models if i not in skip]
        self.models = [group_model(policy.privacy[i], table) for i in wanted]
        self.over = [
            [component.attributes.index(name) for name in policy.attributes_of(policy.privacy[i])] for i in wanted
        ]
        self.grouped = all(len(over) == len(self.positions) for over in self.over)
        self.trees_only = all(isinstance(table.trees[p], Tree) for p in self.positions)
        star = np.ones(table.records, dtype=bool)
        for position in self.positions:
            star &= solution.shown[position].is_star[solution.shown[position].codes]
        self.hides = not table.stars_take_part or bool(solution.items)
        self.out = solution.suppressed[number] | (star if self.hides else False)
        self.suppressed = solution.suppressed[number]
        self.rows = order[~self.out[order]]
        self.k = smallest(self.models)
        self.plain = all(isinstance(m, AtLeastK) for m in self.models)

    def leaves(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return the spans of leaves of some rows, attribute × row."""
        low = np.ascontiguousarray(self.table.low[self.positions][:, rows])
        same = self.table.low is self.table.high
        return low, low if same else np.ascontiguousarray(self.table.high[self.positions][:, rows])

    def base(self, rows: Ints) -> Ints:
        """Return what rows would show alone, row × attribute."""
        return base_codes(self.table, self.positions, *self.leaves(rows))

    def zones(self) -> Ints:
        """Return every row's zone: rows of different limits are never joined."""
        limits = [
            tree.limit_of[self.table.low[p]]
            for p in self.positions
            if isinstance(tree := self.table.trees[p], Tree) and tree.limit_of.any()
        ]
        if not limits:
            return np.zeros(self.table.records, dtype=np.int32)
        group, first = group_rows(np.array(limits, dtype=np.int32))
        rank = np.empty(len(first), dtype=np.int32)  # zones in the order of their limits, not of their first rows
        rank[np.lexsort(tuple(np.array(limits)[::-1, first]))] = np.arange(len(first))
        return rank[group]

    def pairs(self, rows: Ints) -> dict[str, Pairs]:
        """Return the sensitive values of rows, by their place in ``rows``."""
        names = sorted({m.sensitive for m in self.models if m.sensitive is not None})
        place = np.full(self.table.records, -1, dtype=np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        kept = place >= 0
        return {
            name: Pairs(*self.table.pairs(name, place, len(rows), kept), self.table.sensitive[name].known)
            for name in names
        }

    def good(self, part: Ints, rows: Ints) -> Bools:
        """Tell which groups of rows satisfy every model; ``part`` gives the rows' groups."""
        groups = int(part.max(initial=-1)) + 1
        counted = Groups(part, groups, np.ones(len(rows), dtype=np.int64), self.pairs(rows))
        found = np.ones(groups, dtype=bool)
        for model in self.models:
            found &= model.good(counted)
        return found


def refine(
    table: Table,
    solution: Solution,
    tries_a_row: float,
    seconds: float | None,
    progress: Progress,
    rules: Sequence[DeclaredRule] = (),
) -> Solution:
    """Return a solution of the same policy with a loss no higher, and what was done for it in its details.

    With ``rules``, right sides follow their left sides where they can (see `followers`); other rules are not looked at.
    Cost: O(tries · (groups of a block · attributes + pool² · attributes)); memory linear in the table.
    """
    stop = Stop(seconds, within=current())
    if any(model.model == "k-km-anonymity" for model in table.policy.privacy):
        return solution  # its items were generalized class by class
    if not table.names:
        return solution  # plain sets of items
    try:
        costs = whole_numbers(table)
        with stop.listening():
            return _refine(table, solution, tries_a_row, stop, costs, progress, rules)
    except TooLarge:
        return solution


def _refine(
    table: Table,
    solution: Solution,
    tries_a_row: float,
    stop: Stop,
    costs: NodeCosts,
    progress: Progress,
    rules: Sequence[DeclaredRule],
) -> Solution:
    before = measure(table, solution).of(table.policy.loss)
    watch = Watch(stop, progress, float(costs.scale * table.records))
    order = table.canonical.astype(np.int32)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    given = solution
    if len(table.components) > 1 and table.whole_rows and not solution.items:

        def let_in(number: int, rows: Ints) -> tuple[Ints, list[Shown]]:
            part = Part(table, number, given, order)
            if not part.grouped:
                overlap = overlap_of(part, costs, watch, given, rows if may_come_in(part) else rows[:0])
                if overlap is None:
                    return rows[:0], [given.shown[p] for p in part.positions]
                overlap.descend()
                return overlap.came_in(), overlap.shown(given)
            grouped = Grouped(part, costs, watch, given, followers_of(table, part.positions, rules))
            grouped.part_rank = rank
            came = grouped.bring_back(rows) if grouped.valid(grouped.found) else rows[:0]
            return came, grouped.shown(given)

        solution = come_back(table, solution, order, let_in, stop)
    suppressed = solution.suppressed.copy()
    shown = list(solution.shown)
    back = given.suppressed_anywhere & ~solution.suppressed_anywhere
    view = as_shown(table, dict(solution.items)) if solution.items else table
    for number in range(len(table.components)):
        part = Part(view, number, solution, order)
        alone = (len(table.components) == 1 or not table.whole_rows) and not solution.items
        if not part.grouped:
            outside = order[part.out[order]] if alone and may_come_in(part) else order[:0]
            overlap = overlap_of(part, costs, watch, solution, outside)
            if overlap is None:
                continue
            overlap.descend()
            overlap.run(tries_a_row)
            suppressed[number][overlap.came_in()] = False
            back[overlap.came_in()] = True
            for position, column in zip(part.positions, overlap.shown(solution), strict=True):
                shown[position] = column
            continue
        grouped = Grouped(part, costs, watch, solution, followers_of(view, part.positions, rules))
        grouped.part_rank = rank
        if not grouped.valid(grouped.found):
            continue
        if alone:
            came = grouped.bring_back(order[part.out[order]])
            suppressed[number][came] = False
            back[came] = True
        grouped.start_over()
        grouped.run(tries_a_row)
        for position, column in zip(part.positions, grouped.shown(solution), strict=True):
            shown[position] = column
    gone = suppressed.any(axis=0)
    reasons = {reason: kept for reason, rows in solution.reasons.items() if len(kept := rows[gone[rows]])}
    details: dict[str, Any] = {"tries": watch.tries, "kept": watch.kept, "loss_before": before}
    if back.any():
        details["brought_back"] = int((back & ~gone).sum())
    if watch.over():
        details["stopped"] = ASKED if stop.asked else "out of time"
    found = replace(
        solution,
        shown=tuple(shown),
        suppressed=suppressed,
        reasons=reasons,
        details={**solution.details, "refine": details},
        alike=None,
    )
    if measure(table, found).of(table.policy.loss) <= before:
        return found
    details.pop("brought_back", None)
    return replace(given, details={**given.details, "refine": details})
