"""Least loss: a start from the table's own structure, then neighbourhood search (`refine`). Our own; see docs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kveil.algorithms import classfly, fulldomain, mondrian
from kveil.errors import Unmeetable
from kveil.measures import measure
from kveil.policy.constraints import implied
from kveil.policy.fields import PolicyPart
from kveil.policy.model import PrivacyModel
from kveil.table.encode import Table
from kveil.table.solution import Solution
from kveil.table.tree import Tree


class LeastLossOptions(PolicyPart):
    """Least loss has the options of refine alone."""


def least_loss(table: Table, options: LeastLossOptions, rng: np.random.Generator) -> Solution:
    """Return a valid solution to begin with: the best of Mondrian's, Classfly+'s and Datafly's.

    Refining follows. Where the models are all over one set of attributes, refining starts top-down and one valid
    solution is enough, whoever finds it.
    """
    several = len({frozenset(table.policy.attributes_of(m)) for m in _models(table)}) > 1
    trees = all(isinstance(tree, Tree) for tree in table.trees)
    starts: list[Callable[[], Solution]] = [
        lambda: mondrian.mondrian(table, mondrian.MondrianOptions(choose="gain"), rng)
    ]
    if trees:
        starts.append(lambda: classfly.classfly_complete(table, classfly.ClassflyOptions(), rng))
        starts.append(lambda: fulldomain.datafly(table, fulldomain.DataflyOptions(), rng))
    best: Solution | None = None
    failure: Unmeetable | None = None
    for start in starts:
        if best is not None and not several:
            break
        try:
            found = start()
        except Unmeetable as error:
            failure = failure or error
            continue
        if best is None or _loss(table, found) < _loss(table, best):
            best = found
    if best is None:
        assert failure is not None
        raise Unmeetable(str(failure).replace("mondrian", "least-loss", 1))
    return Solution(best.shown, best.suppressed, best.reasons, {})


def _models(table: Table) -> list[PrivacyModel]:
    skip = implied(table.policy)
    return [model for i, model in enumerate(table.policy.privacy) if i not in skip]


def _loss(table: Table, solution: Solution) -> float:
    return measure(table, solution).of(table.policy.loss)
