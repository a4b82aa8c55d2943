"""Run an algorithm in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kveil.algorithms.least_loss.options import RefineOptions
from kveil.algorithms.registry import MULTIVALUED, Algorithm
from kveil.errors import PolicyError, Unmeetable
from kveil.measures import Losses, measure
from kveil.progress import silent
from kveil.table.encode import Table
from kveil.table.solution import Solution
from kveil.words import did_you_mean, listing


@dataclass(frozen=True)
class Attempt:
    """A solution with its losses, and everything that was tried for it."""

    algorithm: Algorithm
    options: dict[str, Any]
    solution: Solution
    losses: Losses
    tried: list[dict[str, Any]]


def _check_names(algorithm: Algorithm, own: dict[str, Any]) -> None:
    """Raise PolicyError for an option that neither the algorithm has nor every algorithm takes."""
    names = [*algorithm.options.model_fields, *RefineOptions.model_fields]
    for key in own:
        if key not in names:
            raise PolicyError(
                f"algorithm {algorithm.name} has no option {key!r}; allowed here: {listing(names)}"
                f"{did_you_mean(key, names) or '.'}"
            )


def run(
    algorithm: Algorithm,
    table: Table,
    options: dict[str, Any],
    progress: Callable[[str], None] = silent,
    seconds: float | None = None,
) -> Solution:
    """Solve a table with an algorithm, refine that as asked, and keep its rules.

    The policy's seed is all the randomness there is. ``seconds`` is a limit for refining beside the options'.
    """
    own = {key: value for key, value in options.items() if key not in RefineOptions.model_fields}
    _check_names(algorithm, own)
    where = f"algorithm {algorithm.name}"
    checked = algorithm.options.read(own, where)
    more = RefineOptions.read({key: options[key] for key in options if key not in own}, where)
    tries = more.tries_a_row(algorithm.refine)
    limit = min((float(most) for most in (more.refine_seconds, seconds) if most is not None), default=None)

    def solve(under: Table) -> Solution:
        return algorithm.solve(under, checked, np.random.default_rng(under.policy.seed))

    def refined(under: Table) -> Solution:
        return refine(under, solve(under), tries, limit, progress)

    if tries:
        from kveil.algorithms.least_loss.refine import ASKED, refine
    if not table.policy.dependencies:
        return refined(table) if tries else solve(table)
    from kveil.algorithms.rules.follow import followers_of
    from kveil.algorithms.rules.keep import keep_rules, rules_of, solve_keeping_rules, tightened

    multivalued = MULTIVALUED in algorithm.honours
    found = solve_keeping_rules(table, solve, multivalued)
    if not tries:
        return found
    rules = rules_of(table, multivalued)
    under = tightened(table, rules) or table
    searches: list[Callable[[], Solution]] = [lambda: solve_keeping_rules(table, refined, multivalued)]
    if any(followers_of(under, table.positions(part.attributes), rules) for part in table.components):
        searches.insert(0, lambda: keep_rules(table, refine(under, found, tries, limit, progress, rules), rules))
    # Right sides that follow their left sides keep the rules in the search; otherwise they climb after it, which may
    # cost what it gained. The best of all is taken.
    limit = None if limit is None else limit / len(searches)
    best, least = found, measure(table, found).of(table.policy.loss)
    for search in searches:
        try:
            new = search()
        except Unmeetable:
            continue
        if (lost := measure(table, new).of(table.policy.loss)) < least:
            best, least = new, lost
        if new.details.get("refine", {}).get("stopped") == ASKED:
            break
    return best
