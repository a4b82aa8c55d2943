"""Association generalization after any algorithm: right sides climb until every declared rule holds.

Huang, Song, Gao, Cai 2014, definition 8: a group of equal left sides shows the lowest value that covers its right
sides. The paper does so inside its own algorithm and for one constraint. Here it follows any algorithm: rules meet,
form chains and cycles, name columns that are released as they are, and stand beside boundaries and several
constraints. A climb may split the group of a constraint that holds the right side without the left; such a group is
made to climb as a whole, and only what no climb can save is suppressed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kveil.algorithms.declared_rules import DeclaredRule, rules_of
from kveil.algorithms.neighbourhoods import hide_with_neighbours
from kveil.algorithms.rules.climb import beyond_rules, let_sides_climb
from kveil.algorithms.rules.tighten import tighten_limits
from kveil.algorithms.settle import settle
from kveil.algorithms.stars import NOTHING_LEFT
from kveil.errors import Unmeetable
from kveil.measures import least_lossy
from kveil.models.fingerprints import as_shown
from kveil.policy.components import most_suppressed
from kveil.policy.privacy import KKmAnonymity, named_k
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.words import count

SolveTable = Callable[[Table], Solution]


def solve_keeping_rules(table: Table, solve: SolveTable, *, multivalued: bool = False) -> Solution:
    """Return an algorithm's solution in which every declared functional rule holds.

    Where a right side cannot climb freely (a boundary, a column released as is), the algorithm also runs with
    boundaries on the left that never merge what the right side keeps apart; the smaller loss is taken.
    """
    rules = rules_of(table, multivalued=multivalued)
    if not rules:
        return solve(table)
    _check_possible(table, rules)
    tight = tighten_limits(table, rules)
    solutions: list[Solution] = []
    failures: list[Unmeetable] = []
    for under in [table] if tight is None else [tight, table]:
        try:
            solutions.append(keep_rules(table, solve(under), rules))
        except Unmeetable as error:
            failures.append(error)
    if not solutions:
        raise failures[0]
    return least_lossy(table, solutions)


def _check_possible(table: Table, rules: list[DeclaredRule]) -> None:
    """Raise Unmeetable, before any search, where a right side that is released as is makes a rule hopeless.

    In a group of a model with k over the left side all right sides would be equal: a value that occurs fewer than k
    times cannot be kept.
    """
    allowed = most_suppressed(table.policy, table.records)
    quasi = len(table.names)
    for rule in rules:
        if rule.right < quasi or any(left >= quasi for left in rule.left):
            continue
        names = {table.names[left] for left in rule.left}
        models = [model for model in table.policy.privacy if names <= set(table.policy.attributes_of(model))]
        k = max((named_k(model) or 1 for model in models), default=1)
        others = list(table.others.values())[rule.right - quasi]
        tally = table.tally(others, int(others.max(initial=-1)) + 1)
        lost = int(tally[tally < k].sum())
        if lost > allowed:
            name = list(table.others)[rule.right - quasi]
            role = table.policy.attributes[name].role
            raise Unmeetable(
                f"the dependency {rule.text} cannot be kept: {name} is {role}, so it is released as is and cannot be "
                f"generalized, and {count(lost, table.noun)} of {table.records:,} have a value of it that occurs "
                f"fewer than {k} times, while the limit allows {allowed:,}; give {name} role quasi-identifier, or take "
                "the rule out."
            )


def keep_rules(table: Table, solution: Solution, rules: list[DeclaredRule]) -> Solution:
    """Return a solution in which all rules hold, and the whole policy still does.

    Every round lets right sides climb to what covers their group; then whoever a model lost is made to climb along
    with the group it had, or else suppressed. Values only climb and rows only go, so it ends. O(distinct released
    rows · rules) per round. Raises Unmeetable beyond the suppression limit.
    """
    if not solution.items:
        while True:
            kept = let_sides_climb(table, solution, rules)
            solution = settle(table, kept, "the pass that keeps dependencies")
            if solution is kept:
                return kept
    view = as_shown(table, dict(solution.items))
    found = let_sides_climb(view, solution, rules)
    while (hidden := hide_with_neighbours(table, found.shown, found.items, ~found.suppressed_anywhere)).any():
        # Who shows nothing any more counts as suppressed, and what they shared with others is missing there.
        before = found.reasons.get(NOTHING_LEFT, np.zeros(0, dtype=np.int32))
        reasons = {**found.reasons, NOTHING_LEFT: np.append(before, np.flatnonzero(hidden)).astype(np.int32)}
        found = replace(found, suppressed=found.suppressed | hidden, reasons=reasons, alike=None)
        found = let_sides_climb(view, found, rules)
    lost, allowed = table.count(found.suppressed_anywhere), most_suppressed(table.policy, table.records)
    if lost > allowed:
        raise beyond_rules(table, lost, allowed)
    if lost > table.count(solution.suppressed_anywhere) and any(
        isinstance(model, KKmAnonymity) for model in table.policy.privacy
    ):
        raise Unmeetable(
            "the dependencies cannot be kept without suppressing people, whose items others of their group would "
            "then miss for k-km-anonymity; take a rule out, or ask for kl-diversity."
        )
    return found
