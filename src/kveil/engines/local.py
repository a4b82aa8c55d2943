"""Run an algorithm in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import ValidationError

from kveil.algorithms.refine import RefineOptions, refine
from kveil.algorithms.registry import Algorithm
from kveil.measures import Losses
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
    algorithm: Algorithm, table: Table, options: dict[str, Any], progress: Callable[[str], None] = _silent
) -> Solution:
    """Solve a table with an algorithm, and refine that as asked; the policy's seed is all the randomness there is."""
    own = {key: value for key, value in options.items() if key not in RefineOptions.model_fields}
    try:
        checked = algorithm.options.model_validate(own)
        more = RefineOptions.model_validate({key: options[key] for key in options if key not in own})
    except ValidationError as error:
        raise policy_error(error, f"algorithm {algorithm.name}") from None
    solution = algorithm.solve(table, checked, np.random.default_rng(table.policy.seed))
    tries = more.tries_a_row(algorithm.refine)
    if not tries:
        return solution
    seconds = None if more.refine_seconds is None else float(more.refine_seconds)
    return refine(table, solution, tries, seconds, progress)
