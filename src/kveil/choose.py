"""Choose among algorithms: `auto`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kveil.algorithms.registry import Algorithm, check_honours, find, honouring
from kveil.engines.local import Attempt, run
from kveil.errors import Unmeetable
from kveil.measures import measure
from kveil.policy.model import Policy
from kveil.table.encode import Table

Progress = Callable[[str], None]


def candidates(policy: Policy) -> list[Algorithm]:
    """Return the algorithms a policy's choice stands for; refuse what cannot honour it, before any data is read."""
    if policy.algorithm.name == "auto":
        return honouring(policy)
    algorithm = find(policy.algorithm.name)
    check_honours(algorithm, policy)
    return [algorithm]


def attempt(table: Table, progress: Progress) -> Attempt:
    """Return the chosen algorithm's solution, for `auto` the best of all that honour the policy."""
    options = table.policy.algorithm.options
    best: Attempt | None = None
    failure: Unmeetable | None = None
    tried: list[dict[str, Any]] = []
    for algorithm in candidates(table.policy):
        progress(f"solving with {algorithm.name}")
        try:
            solution = run(algorithm, table, options, progress)
        except Unmeetable as error:
            failure = failure or error
            tried.append({"algorithm": algorithm.name, "solved": False, "reason": str(error)})
            continue
        losses = measure(table, solution)
        tried.append({"algorithm": algorithm.name, "solved": True, "loss": losses.of(table.policy.loss)})
        if best is None or losses.of(table.policy.loss) < best.losses.of(table.policy.loss):
            best = Attempt(algorithm, options, solution, losses, tried)
    if best is None:
        assert failure is not None
        raise failure
    return best
