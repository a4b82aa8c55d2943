"""Run an algorithm in this process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import ValidationError

from kveil.algorithms.association import solve_keeping_rules
from kveil.algorithms.registry import MULTIVALUED, Algorithm
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


def run(algorithm: Algorithm, table: Table, options: dict[str, Any]) -> Solution:
    """Solve a table with an algorithm and keep its rules; the policy's seed is all the randomness there is."""
    try:
        checked = algorithm.options.model_validate(options)
    except ValidationError as error:
        raise policy_error(error, f"algorithm {algorithm.name}") from None

    def solve(under: Table) -> Solution:
        return algorithm.solve(under, checked, np.random.default_rng(under.policy.seed))

    return solve_keeping_rules(table, solve, MULTIVALUED in algorithm.honours)
