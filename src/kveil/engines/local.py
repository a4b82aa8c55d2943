"""Run an algorithm in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import ValidationError

from kveil.algorithms.efforts import RefineOptions
from kveil.algorithms.registry import MULTIVALUED, Algorithm
from kveil.errors import Unmeetable
from kveil.measures import Losses, measure
from kveil.policy.wording import policy_error
from kveil.table.encode import Table
from kveil.table.solution import Solution


@dataclass(frozen=True)
class Attempt:
    """A solution with its losses, and everything that was tried for it."""

    algorithm: Algorithm
    options: dict[str, Any]
    solution: Solution
    losses: Losses
    tried: list[dict[str, Any]]


def _silent(stage: str) -> None:
    """Say nothing."""


def run(
    algorithm: Algorithm,
    table: Table,
    options: dict[str, Any],
    progress: Callable[[str], None] = _silent,
    seconds: float | None = None,
) -> Solution:
    """Solve a table with an algorithm, refine that as asked, and keep its rules.

    The policy's seed is all the randomness there is. ``seconds`` is a limit for refining beside the options'.
    """
    own = {key: value for key, value in options.items() if key not in RefineOptions.model_fields}
    try:
        checked = algorithm.options.model_validate(own)
        more = RefineOptions.model_validate({key: options[key] for key in options if key not in own})
    except ValidationError as error:
        raise policy_error(error, f"algorithm {algorithm.name}") from None
    tries = more.tries_a_row(algorithm.refine)
    limits = [float(limit) for limit in (more.refine_seconds, seconds) if limit is not None]

    def solve(under: Table) -> Solution:
        return algorithm.solve(under, checked, np.random.default_rng(under.policy.seed))

    def refined(under: Table) -> Solution:
        from kveil.algorithms.refine import refine

        return refine(under, solve(under), tries, min(limits, default=None), progress)

    if not table.policy.dependencies:
        return refined(table) if tries else solve(table)
    from kveil.algorithms.association import solve_keeping_rules

    multivalued = MULTIVALUED in algorithm.honours
    if not tries:
        return solve_keeping_rules(table, solve, multivalued)
    # Right sides climb after refining, which may cost what it gained: the better of both is taken.
    found = solve_keeping_rules(table, solve, multivalued)
    try:
        other = solve_keeping_rules(table, refined, multivalued)
    except Unmeetable:
        return found
    loss = table.policy.loss
    return other if measure(table, other).of(loss) < measure(table, found).of(loss) else found
