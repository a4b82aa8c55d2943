"""Choose among algorithms: `auto`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kveil.algorithms.registry import check_honours, find, honouring
from kveil.engines.local import Attempt, run
from kveil.errors import Unmeetable
from kveil.measures import measure
from kveil.policy.model import AlgorithmChoice
from kveil.table.encode import Table

Progress = Callable[[str], None]


def attempt(table: Table, choice: AlgorithmChoice, progress: Progress) -> Attempt:
    """Return the chosen algorithm's solution, for `auto` the best of all that honour the policy."""
    if choice.name != "auto":
        algorithm = find(choice.name)
        check_honours(algorithm, table.policy)
        candidates = [algorithm]
    else:
        candidates = honouring(table.policy)
    best: Attempt | None = None
    failure: Unmeetable | None = None
    tried: list[dict[str, Any]] = []
    for algorithm in candidates:
        progress(f"solving with {algorithm.name}")
        try:
            solution = run(algorithm, table, choice.options)
        except Unmeetable as error:
            failure = failure or error
            tried.append({"algorithm": algorithm.name, "solved": False, "reason": str(error)})
            continue
        losses = measure(table, solution)
        tried.append({"algorithm": algorithm.name, "solved": True, "loss": losses.of(table.policy.loss)})
        if best is None or losses.of(table.policy.loss) < best.losses.of(table.policy.loss):
            best = Attempt(algorithm, choice.options, solution, losses, tried)
    if best is None:
        assert failure is not None
        raise failure
    return best
