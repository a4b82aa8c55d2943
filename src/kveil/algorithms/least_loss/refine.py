"""Refine: lower the loss of a valid solution by moves from valid to valid.

Components whose models are all over the same attributes are searched as groups (`search_groups`); those with several
sets of attributes as shown values with counts (`search_overlaps`). It can stop at any time and never returns anything
worse than it was given.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NotRequired, TypedDict

import numpy as np

from kveil.algorithms.component import SearchComponent, components_of
from kveil.algorithms.costs import NodeCosts
from kveil.algorithms.declared_rules import DeclaredRule
from kveil.algorithms.least_loss.items import (
    loses_no_more,
    with_searched_items,
    with_shared_items,
    without_combinations,
)
from kveil.algorithms.least_loss.layout import TooLarge, whole_numbers
from kveil.algorithms.least_loss.search_groups import group_search_of
from kveil.algorithms.least_loss.search_overlaps import may_come_in, overlap_search_of
from kveil.algorithms.least_loss.small_search import MOST_ROWS_TRIED, try_everything
from kveil.algorithms.least_loss.state import RefinedComponent, Watch
from kveil.algorithms.least_loss.unsuppress import come_back
from kveil.algorithms.neighbourhoods import come_by_runs, looks_at_values, runs_of_rows
from kveil.algorithms.rules.follow import followers_of
from kveil.algorithms.stars import no_items_left
from kveil.arrays import Bools, Ints, Longs
from kveil.measures import released_loss
from kveil.models.distributions import Close
from kveil.models.fingerprints import as_shown
from kveil.policy.privacy import KKmAnonymity, KLDiversity
from kveil.progress import Progress
from kveil.stopping import Stop, current
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table

ASKED = "asked to stop"


class RefineDetails(TypedDict):
    """What refining tells of its work: moves tried and kept, the loss before it, who came back, and what stopped it."""

    tries: int
    kept: int
    loss_before: float
    brought_back: NotRequired[int]
    stopped: NotRequired[str]


def refine(
    table: Table,
    solution: Solution,
    tries_per_row: float,
    seconds: float | None,
    progress: Progress,
    *,
    rules: Sequence[DeclaredRule] = (),
) -> Solution:
    """Return a solution of the same policy with a loss no higher, and what was done for it in its details.

    With ``rules``, right sides follow their left sides where they can (see `rules/follow`); other rules are not looked
    at. Cost: O(tries · (groups of a block · attributes + pool² · attributes)); memory linear in the table.
    """
    stop = Stop(seconds=seconds, within=current())
    with stop.listening():
        try:
            search = partial(_refine_classes, tries_per_row=tries_per_row, stop=stop, progress=progress)
            if any(isinstance(model, KKmAnonymity) for model in table.policy.privacy):
                return _refine_sharing(table, solution, search, rules)
            items = Stop(seconds=None if seconds is None else seconds / 2, within=stop)
            finer = with_searched_items(table, solution, tries_per_row, items)
            refined = None if finer is None else search(table, solution=finer, rules=rules)
            if refined is not None and loses_no_more(table, refined, solution):
                return refined
            return search(table, solution=solution, rules=rules)
        except TooLarge:
            return solution


def _refine_sharing(
    table: Table, solution: Solution, search: Callable[..., Solution], rules: Sequence[DeclaredRule]
) -> Solution:
    """Refine classes that must share combinations of items: their quasi-identifiers at the sizes they have, then items.

    Where fingerprints must be shared, too, nothing is changed: what is generalized class by class tears them apart.
    """
    if any(isinstance(model, KLDiversity) for model in table.policy.privacy):
        return solution
    refined = (
        solution if not table.names else search(without_combinations(table, solution), solution=solution, rules=rules)
    )
    found = with_shared_items(table, solution, refined)
    return solution if found is None else found


def _refine_classes(
    table: Table,
    solution: Solution,
    tries_per_row: float,
    stop: Stop,
    progress: Progress,
    rules: Sequence[DeclaredRule],
) -> Solution:
    """Refine the quasi-identifiers of a solution; plain sets of items have none."""
    if not table.names:
        return solution
    costs = whole_numbers(table)
    watch = Watch(stop, progress, float(costs.scale * table.records))
    return _Refinement(table, solution, costs, watch, rules, table.canonical.astype(np.int32)).run(tries_per_row)


@dataclass(frozen=True)
class _Refinement:
    """One call of `refine`: the solution that was given, and what its searches share."""

    table: Table
    given: Solution
    costs: NodeCosts
    watch: Watch
    rules: Sequence[DeclaredRule]
    order: Ints  # rows in canonical order

    def run(self, tries_per_row: float) -> Solution:
        """Search every component, and return what that gave, or what was given where that is no better."""
        before = released_loss(self.table, self.given)
        solution = self._unsuppressed()
        back = self.given.suppressed_anywhere & ~solution.suppressed_anywhere
        suppressed, shown = solution.suppressed.copy(), list(solution.shown)
        # Rows come back into a component by themselves only where no other one could keep them out.
        alone = (len(self.table.components) == 1 or not self.table.whole_rows) and not solution.items
        view = as_shown(self.table, dict(solution.items)) if solution.items else self.table
        for component in components_of(view):
            part = RefinedComponent(component, solution, self.order)
            coming = part.outside if alone else self.order[:0]
            coming = self._coming_by_runs(part, solution, coming, self._runs(coming))
            came, columns = self._search(part, solution, coming, tries_per_row)
            columns = self._try_everything(part, came, columns)
            if len(came) < len(coming) and not part.component.counts_only:  # out of time: runs would be torn
                came, columns = came[:0], [solution.shown[position] for position in part.positions]
            suppressed[part.number][came] = False
            back[came] = True
            for position, column in zip(part.positions, columns, strict=True):
                shown[position] = column
        gone = suppressed.any(axis=0)
        # A start may have descended already: the account tells of both together. Nothing is decided by these figures.
        earlier = self.given.details.get("refine", {})
        details: RefineDetails = {
            "tries": self.watch.tries,
            "kept": self.watch.kept,
            "loss_before": earlier.get("loss_before", before),
        }
        if back.any() or "brought_back" in earlier:
            details["brought_back"] = earlier.get("brought_back", 0) + int((back & ~gone).sum())
        if self.watch.over():
            details["stopped"] = ASKED if self.watch.stop.asked else "out of time"
        refined = replace(
            solution,
            shown=tuple(shown),
            suppressed=suppressed,
            reasons={reason: left for reason, rows in solution.reasons.items() if len(left := rows[gone[rows]])},
            details={**solution.details, "refine": details},
            alike=None,
        )
        if released_loss(self.table, refined) <= before:
            return refined
        details.pop("brought_back", None)
        return replace(self.given, details={**self.given.details, "refine": details})

    def _try_everything(self, part: RefinedComponent, came: Ints, columns: list[Shown]) -> list[Shown]:
        """Return what a component of few rows shows at least cost, what it shows already where that cannot be told."""
        rows = np.union1d(np.union1d(part.rows, part.parked), came).astype(np.int32)
        if self.rules or len(rows) > MOST_ROWS_TRIED or self.watch.over():
            return columns
        shown: list[Shown | None] = [None] * len(self.table.names)
        cost = 0
        for position, column in zip(part.positions, columns, strict=True):
            shown[position] = column
            own = self.costs.nodes.get(position)
            loss = column.ncp * self.costs.whole[position] if own is None else own
            cost += int(np.rint(loss[column.codes[rows]]).astype(np.int64).sum())
        items = self.given.items
        # Who shows `*` for all items and for everything else, too, would be gone, and missed by the others of a group.
        shows = ~no_items_left(self.table, items) if items else None
        found = try_everything(part.component, rows, self.costs, shown, cost, may_be_star=shows).columns
        return columns if found is None else found

    def _unsuppressed(self) -> Solution:
        """Return the given solution with rows back that a row's suppression in one component took from all."""
        if len(self.table.components) == 1 or not self.table.whole_rows or self.given.items:
            return self.given
        components = components_of(self.table)

        coming = self.order[self.given.suppressed_anywhere[self.order]]
        run = self._runs(coming)
        # Who cannot come back by sizes alone is public: taking these out of their runs first tells nothing of values.
        if looks_at_values(self.table):
            by_size = partial(self._let_in, [component.sizes_only() for component in components])
            each = np.arange(len(coming))
            back = come_back(self.table, self.given, coming, each, by_size, self.watch.stop)
            able = ~back.suppressed_anywhere[coming]
            coming, run = coming[able], run[able]
        return come_back(self.table, self.given, coming, run, partial(self._let_in, components), self.watch.stop)

    def _let_in(self, components: list[SearchComponent], number: int, rows: Ints) -> tuple[Ints, list[Shown]]:
        """Let rows into a component of the given solution; return who came in, and what is shown."""
        return self._search(RefinedComponent(components[number], self.given, self.order), self.given, rows, None)

    def _runs(self, coming: Ints) -> Longs:
        """Return the runs by which rows may come back: one per row where no model looks at sensitive values."""
        return runs_of_rows(self.table, coming) if looks_at_values(self.table) else np.arange(len(coming))

    def _coming_by_runs(self, part: RefinedComponent, solution: Solution, coming: Ints, run: Longs) -> Ints:
        """Return the rows that come back into a component by whole runs, where its models look at sensitive values."""
        if not len(coming) or part.component.counts_only:
            return coming
        if not part.component.over_everything and not may_come_in(part):
            return coming[:0]

        def attempt(under: RefinedComponent, offered: Bools) -> Bools:
            came, _ = self._search(under, solution, coming[offered], None)
            return np.isin(coming, came)

        by_size = RefinedComponent(part.component.sizes_only(), solution, self.order)
        able = attempt(by_size, np.ones(len(coming), dtype=bool))
        return np.asarray(coming[come_by_runs(run, able, lambda offered: attempt(part, offered))])

    def _search(
        self, part: RefinedComponent, solution: Solution, coming: Ints, tries_per_row: float | None
    ) -> tuple[Ints, list[Shown]]:
        """Let rows into a component and, where tries are given, search it; return who came in, and what is shown.

        Nobody comes in and nothing changes where the solution to begin with breaks a constraint of the component.
        """
        if part.component.over_everything:
            if len(part.parked) and any(isinstance(model, Close) for model in part.models):
                # Groups are held against all that take part, of whom the search knows only its own rows.
                return coming[:0], [solution.shown[position] for position in part.positions]
            followers = followers_of(part.table, part.positions, self.rules)
            groups = group_search_of(part, self.costs, self.watch, solution, followers)
            if groups is None:
                return coming[:0], [solution.shown[position] for position in part.positions]
            came = groups.bring_back(coming) if len(coming) else coming
            if tries_per_row is not None:
                groups.start_over()
                groups.run(tries_per_row)
            return came, groups.shown(solution)
        return self._search_overlaps(part, solution, coming, tries_per_row)

    def _search_overlaps(
        self, part: RefinedComponent, solution: Solution, coming: Ints, tries_per_row: float | None
    ) -> tuple[Ints, list[Shown]]:
        """Do so under overlapping constraints: once from the same start, since the same would come of it.

        Rules tighten a table: then one start may be refined with and without them, which makes no difference here.
        """
        start = _same_start(part, solution, coming)
        if start is None or self.watch.stop.deadline is not None:
            return self._search_shown(part, solution, coming, tries_per_row)
        before = self.watch.tries, self.watch.kept

        def search() -> tuple[Ints, list[Shown], int, int]:
            came, columns = self._search_shown(part, solution, coming, tries_per_row)
            return came, columns, self.watch.tries - before[0], self.watch.kept - before[1]

        came, columns, tries, kept = self.table.once(("overlaps searched", tries_per_row, start), search)
        self.watch.tries, self.watch.kept = before[0] + tries, before[1] + kept
        return came, columns

    def _search_shown(
        self, part: RefinedComponent, solution: Solution, coming: Ints, tries_per_row: float | None
    ) -> tuple[Ints, list[Shown]]:
        """Let rows in and search what is shown."""
        overlap = overlap_search_of(part, self.costs, self.watch, solution, coming)
        if overlap is None:
            return coming[:0], [solution.shown[position] for position in part.positions]
        overlap.descend(tries_follow=tries_per_row is not None)
        if tries_per_row is not None and not overlap.solve(tries_per_row):
            overlap.run(tries_per_row)
        return overlap.came_in(), overlap.shown(solution)


def _same_start(part: RefinedComponent, solution: Solution, coming: Ints) -> str | None:
    """Return a digest of all that a search of a component begins with, None where it shows spans of numbers."""
    if not part.component.trees_only:
        return None
    columns = [solution.shown[position].codes for position in part.positions]
    digest = hashlib.sha256(repr((part.number, sorted(solution.items), part.models)).encode())
    for array in (*columns, part.out, coming, *(solution.items[name] for name in sorted(solution.items))):
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
