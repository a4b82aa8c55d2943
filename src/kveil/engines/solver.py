"""Run an algorithm in this process: solve, refine as asked, keep the declared rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from time import perf_counter

import numpy as np

from kveil.algorithms.algorithm import MULTIVALUED, START_EFFORT, Algorithm, DivideOptions, check_divide
from kveil.algorithms.declared_rules import DeclaredRule
from kveil.algorithms.least_loss.refine_options import RefineOptions
from kveil.algorithms.registry import FEW_ROWS, last_starts_of, starts_of
from kveil.algorithms.settle import settle_unless_dearer
from kveil.errors import PolicyError, Unmeetable
from kveil.free_form import GivenOptions
from kveil.measures import Losses, loses_less, measure_solution, measure_written
from kveil.policy.fields import PolicyPart
from kveil.progress import Progress, silent
from kveil.stopping import OutOfTime, current
from kveil.table.midpoints import as_written
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.words import did_you_mean, listing


@dataclass(frozen=True)
class Solved:
    """A solution with its losses."""

    solution: Solution
    losses: Losses


@dataclass
class _Budget:
    """The seconds that refining may take in all, shared out among the passes that are still to come."""

    seconds: float | None
    passes: int = 1
    spent: float = field(default=0.0, init=False)

    def next(self) -> float | None:
        """Return the seconds of the next pass: an equal part of what is left."""
        if self.seconds is None:
            return None
        part = max(self.seconds - self.spent, 0.0) / max(self.passes, 1)
        self.passes -= 1
        return part


@dataclass(frozen=True)
class _Task:
    """One algorithm with its options on one table."""

    algorithm: Algorithm
    table: Table
    options: PolicyPart
    tries_per_row: float  # of refining, 0 for none
    budget: _Budget
    progress: Progress
    _: KW_ONLY
    solutions: list[tuple[Table, Solution]] = field(default_factory=list)  # tables, and what was found for each

    def solve(self, table: Table) -> Solution:
        """Run the algorithm on a table, once; the policy's seed is all the randomness there is."""
        for known, solution in self.solutions:
            if known is table:
                return solution
        random = np.random.default_rng(table.policy.seed)
        self.solutions.append((table, self.algorithm.solve(table, self.options, random)))
        return self.solutions[-1][1]

    def starts(self) -> list[Callable[[Table], Solution]]:
        """Return the algorithm and, where it goes on from others and the table is small, each of these by itself.

        What loses least may be what a declared rule costs most, or be unable to keep it.
        """
        return [self.solve, *(self._solves(self._given_starts()) if self.table.rows <= FEW_ROWS else [])]

    def other_starts(self) -> list[Callable[[Table], Solution]]:
        """Return, for a larger table on which the algorithm finds nothing, each of those it goes on from by itself."""
        if not self.algorithm.starts or self.table.rows <= FEW_ROWS:
            return []
        starts = self._given_starts()
        last = last_starts_of(self.algorithm, self.table.policy, starts)
        cheap = [start for start in last if start.effort and start.effort(self.table) <= START_EFFORT]
        return self._solves([*starts, *cheap])

    def _given_starts(self) -> list[Algorithm]:
        return starts_of(self.algorithm, self.table.policy, self.table.rows) if self.algorithm.starts else []

    def _solves(self, starts: Sequence[Algorithm]) -> list[Callable[[Table], Solution]]:
        return [replace(self, algorithm=start, options=start.options(), solutions=[]).solve for start in starts]

    def refine(self, table: Table, solution: Solution, *, rules: Sequence[DeclaredRule] = ()) -> Solution:
        """Refine a solution of a table for as long as the budget allows."""
        from kveil.algorithms.least_loss.refine import refine

        started = perf_counter()
        try:
            refined = refine(table, solution, self.tries_per_row, self.budget.next(), self.progress, rules=rules)
        except OutOfTime:  # before anything was better; a solution once found is never lost, unless nobody wants it
            current().check_cancelled()
            return solution
        finally:
            self.budget.spent += perf_counter() - started
        return settle_unless_dearer(table, refined, solution)

    def solve_part(self, part: Table) -> Solution:
        """Run the algorithm on a part of the table, which is not kept, and refine that as asked."""
        own = replace(self, table=part, solutions=[])
        return own.solve_and_refine(part) if self.tries_per_row else own.solve(part)

    def solve_and_refine(self, table: Table) -> Solution:
        """Run the algorithm on a table and refine what it finds."""
        return self.refine(table, self.solve(table))


def run(algorithm: Algorithm, table: Table, options: GivenOptions, *, progress: Progress = silent) -> Solution:
    """Return the solution of an algorithm, refined as its options ask, with the policy's rules kept."""
    return solve(algorithm, table, options, progress=progress).solution


def solve(algorithm: Algorithm, table: Table, options: GivenOptions, *, progress: Progress = silent) -> Solved:
    """Solve a table with an algorithm, refine that as asked, and keep its rules.

    It stops as `kveil.stopping` tells: refining then returns the best so far, so that a solution once found is never
    lost; before there is one, OutOfTime is raised.
    """
    task = _task(algorithm, table, options, progress)
    if isinstance(task.options, DivideOptions) and task.options.divide is not None:
        from kveil.engines.part_solutions import solve_parts  # few runs need it

        check_divide(table.policy)
        by_parts = partial(solve_parts, most=task.options.divide, name=algorithm.name, solve=task.solve_part)
        return finish_solution(table, _keeping_afterwards(task, by_parts))
    if table.policy.dependencies:
        return finish_solution(table, _keeping_rules(task).solution)
    return finish_solution(table, task.solve_and_refine(table) if task.tries_per_row else task.solve(table))


def _keeping_afterwards(task: _Task, solve: Callable[[Table], Solution]) -> Solution:
    """Return what solves a table, with its rules kept once it is solved: no part knows of the others."""
    if not task.table.policy.dependencies:
        return solve(task.table)
    from kveil.algorithms.rules.keep import solve_keeping_rules

    return solve_keeping_rules(task.table, solve, multivalued=MULTIVALUED in task.algorithm.honours)


def part_solver(algorithm: Algorithm, table: Table, options: GivenOptions) -> Callable[[Table], Solution]:
    """Return what solves parts of a table with an algorithm, and refines them as its options ask."""
    return _task(algorithm, table, options, silent).solve_part


def finish_solution(table: Table, solution: Solution) -> Solved:
    """Return a solution as it is written once it is known who is released, with its losses."""
    written = as_written(table, solution)
    return Solved(written, measure_solution(table, written))


def _weighed(table: Table, solution: Solution) -> Solved:
    """Return a solution with what it will lose once it is written."""
    return Solved(solution, measure_written(table, solution))


def check_options(algorithm: Algorithm, options: GivenOptions) -> tuple[PolicyPart, RefineOptions]:
    """Return the options of an algorithm, its own and those of refining, which all take; raise PolicyError if wrong."""
    own = {key: value for key, value in options.items() if key not in RefineOptions.model_fields}
    names = [*algorithm.options.model_fields, *RefineOptions.model_fields]
    for key in own:
        if key not in names:
            raise PolicyError(
                f"algorithm {algorithm.name} has no option {key!r}; allowed here: {listing(names)}"
                f"{did_you_mean(key, names) or '.'}"
            )
    where = f"algorithm {algorithm.name}"
    refining = RefineOptions.read({key: options[key] for key in options if key not in own}, where)
    return algorithm.options.read(own, where), refining


def _task(algorithm: Algorithm, table: Table, options: GivenOptions, progress: Progress) -> _Task:
    checked, refining = check_options(algorithm, options)
    seconds = None if refining.refine_seconds is None else float(refining.refine_seconds)
    return _Task(algorithm, table, checked, refining.tries_per_row(algorithm.refine), _Budget(seconds), progress)


def _least_of(table: Table, solves: Sequence[Callable[..., Solution]], *, multivalued: bool) -> Solved:
    """Return the solution that loses least, the first of equals; raise what the first raised where there is none."""
    best: Solved | None = None
    failures: list[Unmeetable] = []
    for solve_it in solves:
        try:
            found = solve_it(multivalued=multivalued)
        except Unmeetable as error:
            failures.append(error)
            continue
        solved = _weighed(table, found)
        if best is None or loses_less(solved.losses, best.losses, table.policy):
            best = solved
    if best is None:
        raise failures[0]
    return best


def _keeping_rules(task: _Task) -> Solved:
    """Return the best of the ways to refine a table with declared rules.

    Right sides that follow their left sides keep the rules in the search; otherwise they climb after it, which may
    cost what the search gained. So both are tried, beside the solution that was not refined.
    """
    from kveil.algorithms.declared_rules import rules_of
    from kveil.algorithms.rules.follow import followers_of
    from kveil.algorithms.rules.keep import keep_rules, solve_keeping_rules
    from kveil.algorithms.rules.tighten import tighten_limits

    table = task.table
    multivalued = MULTIVALUED in task.algorithm.honours

    def keeping(solves: Sequence[Callable[[Table], Solution]]) -> list[Callable[..., Solution]]:
        return [partial(solve_keeping_rules, table, solve) for solve in solves]

    try:
        best = _least_of(table, keeping(task.starts()), multivalued=multivalued)
    except Unmeetable:
        others = task.other_starts()
        if not others:
            raise
        best = _least_of(table, keeping(others), multivalued=multivalued)
    first = best.solution
    if not task.tries_per_row:
        return best
    rules = rules_of(table, multivalued=multivalued)
    tight = tighten_limits(table, rules)

    def follow() -> Solution:
        return keep_rules(table, task.refine(tight or table, first, rules=rules), rules)

    def climb() -> Solution:
        return solve_keeping_rules(table, task.solve_and_refine, multivalued=multivalued)

    searches: list[Callable[[], Solution]] = [climb]
    task.budget.passes = 1 if tight is None else 2  # where rules tighten the table, both tables are solved
    if any(followers_of(tight or table, table.positions(part.attributes), rules) for part in table.components):
        searches.insert(0, follow)
        task.budget.passes += 1
    for search in searches:
        try:
            solution = search()
        except (Unmeetable, OutOfTime):
            continue
        new = _weighed(table, solution)
        if loses_less(new.losses, best.losses, table.policy):
            best = new
        if current().over():
            break
    return best
