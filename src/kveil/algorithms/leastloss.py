"""Least loss: any valid solution to start from, then neighbourhood search (`refine`). Our own; see docs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kveil.errors import Unmeetable
from kveil.measures import measure
from kveil.policy.constraints import implied
from kveil.policy.fields import PolicyPart
from kveil.table.encode import Table
from kveil.table.solution import Solution

STARTS = ("mondrian", "classfly+complete", "datafly")


class LeastLossOptions(PolicyPart):
    """Least loss has the options of refine alone."""


def least_loss(table: Table, options: LeastLossOptions, rng: np.random.Generator) -> Solution:
    """Return a valid solution to refine: of the first algorithm that honours the policy and finds one.

    Where constraints are over different attributes, the best of all of them: there the start matters. Elsewhere
    refining starts top-down, and what it starts from only says who is suppressed.
    """
    from kveil.algorithms.registry import DEPENDENCIES, asks, find  # which lists this algorithm too

    policy = table.policy
    skip = implied(policy)
    several = len({policy.attributes_of(m) for i, m in enumerate(policy.privacy) if i not in skip}) > 1
    wanted = {part for part in asks(policy) if part != DEPENDENCIES}  # rules are kept by a pass after
    starts = [algorithm for name in STARTS if wanted <= (algorithm := find(name)).honours]
    best: Solution | None = None
    least = 0.0
    failure: Unmeetable | None = None
    for algorithm in starts:
        if best is not None and not several:
            break
        chosen = {"choose": "gain"} if algorithm.name == "mondrian" else {}
        try:
            found = algorithm.solve(table, algorithm.options.model_validate(chosen), rng)
        except Unmeetable as error:
            failure = failure or Unmeetable(str(error).replace(algorithm.name, "least-loss", 1))
            continue
        loss = measure(table, found).of(policy.loss)
        if best is None or loss < least:
            best, least = replace(found, details={"start": algorithm.name}), loss
    if best is None:
        assert failure is not None
        raise failure
    return best
