"""Least loss: any valid solution to start from, then a neighbourhood search; see docs/least-loss-research.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kveil.errors import Unmeetable
from kveil.measures import measure
from kveil.policy.components import implied
from kveil.policy.fields import PolicyPart
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.table.tree import Tree

SPLITTING = {"mondrian", "1m-generalization"}  # choose what to split by width, or by how much the loss falls


class LeastLossOptions(PolicyPart):
    """Least loss has the options of refine alone."""


@dataclass(frozen=True)
class Start:
    """An algorithm whose solution may be refined: its name, the class of its options, and its search."""

    name: str
    options: type[PolicyPart]
    solve: Callable[[Table, Any, np.random.Generator], Solution]


def least_loss(table: Table, starts: Sequence[Start], rng: np.random.Generator) -> Solution:
    """Return a valid solution to refine: the one that loses least, of the starts that find one.

    So what is refined never loses more than any of them. Fingerprints are generalized by
    Partition, as 1m-generalization does; refining then keeps them.
    """
    best: Solution | None = None
    least = 0.0
    failure: Unmeetable | None = None
    for start in starts:
        for chosen in _ways(table) if start.name in SPLITTING else [{}]:
            try:
                solution = start.solve(table, start.options.model_validate(chosen), rng)
            except Unmeetable as error:  # the first one's reason is told, as least-loss's own
                failure = failure or Unmeetable(str(error).replace(start.name, "least-loss", 1), error.lost)
                continue
            loss = measure(table, solution).of(table.policy.loss)
            if best is None or loss < least:
                best, least = replace(solution, details={"start": start.name, **chosen}), loss
    if best is None:
        raise failure or Unmeetable("least-loss has no algorithm to start from; name another algorithm.")
    return best


def _ways(table: Table) -> list[dict[str, str]]:
    """Return how a splitting start may choose: refining splits by gain itself, where sizes and trees are all there is.

    Elsewhere either way of choosing may be far better.
    """
    policy = table.policy
    skip = implied(policy)
    several = len({policy.attributes_of(m) for i, m in enumerate(policy.privacy) if i not in skip}) > 1
    sizes = all(m.model == "k-anonymity" for m in policy.privacy) and all(isinstance(t, Tree) for t in table.trees)
    return [{"choose": way} for way in (["gain"] if sizes and not several else ["gain", "widest"])]
