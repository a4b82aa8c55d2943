"""Full-domain generalization: one map from values to shown nodes for all records.

Datafly: Sweeney 2002, in the form with many constraints that Yang et al. 2006 compare against.
"""

from __future__ import annotations

import numpy as np

from kveil.algorithms.full_domain.samples import GroupSamples
from kveil.algorithms.judge import PolicyJudge
from kveil.algorithms.shown_tuples import Tuples
from kveil.algorithms.suppression import WAYS_OUT
from kveil.algorithms.telling_labels import find_telling
from kveil.arrays import Ints
from kveil.errors import Unmeetable
from kveil.kernels.threads import each_in_threads
from kveil.policy.components import most_suppressed
from kveil.policy.fields import PolicyPart
from kveil.stopping import check_deadline
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.table.tree import Tree
from kveil.words import count


class DataflyOptions(PolicyPart):
    """Datafly has no options."""


def datafly(table: Table, options: DataflyOptions, rng: np.random.Generator) -> Solution:
    """Generalize the attribute with the most distinct values until few enough records violate.

    One whose labels would name a rare value is generalized further.

    Cost: at most the sum of the trees' heights steps, each O(distinct tuples · attributes).
    """
    judge = PolicyJudge(table)
    trees = judge.trees
    allowed = most_suppressed(table.policy, table.records)
    state = Tuples.at_leaves(table)
    shown = each_in_threads(lambda a: _present(trees[a], state.nodes[a]), range(len(trees)), state.nodes.shape[1])
    steps = [0] * len(trees)
    samples = GroupSamples(judge, state, allowed)
    first: Solution | None = None  # that holds; taken where the labels of all later ones tell too much, too
    while True:
        check_deadline()
        violators = samples.violators()
        telling: int | None = None
        if violators is None:
            state = samples.catch_up()
            standing = judge.standing(state)
            if int(state.weights[standing.lost].sum()) <= allowed:
                found = judge.solution(state, standing, {"steps": dict(zip(table.names, steps, strict=True))})
                telling = find_telling(table, found)
                if telling is None:
                    return found
                first = first or found
            violators = {c for c, out in enumerate(standing.outside) if out.any()}
        violating = {a for c in violators for a in judge.components[c].positions} if telling is None else {telling}
        steps_of = {a: step for a, tree in enumerate(trees) if (step := tree.one_step(shown[a])) is not None}
        # Where no violating attribute can move, others may: records dropped for the former break the groups of these.
        moves = {a: step for a, step in steps_of.items() if a in violating} or steps_of
        if not moves:
            if first is not None:
                return first
            raise _unmeetable(table, allowed)
        chosen = max(moves, key=lambda a: len(shown[a]))
        samples.climb(chosen, moves[chosen])
        shown[chosen] = _present(trees[chosen], moves[chosen][shown[chosen]])
        steps[chosen] += 1


def _present(tree: Tree, nodes: Ints) -> Ints:
    """Return the nodes of a tree that are shown, in their order."""
    present = np.zeros(len(tree.labels), dtype=bool)
    present[nodes] = True
    return np.flatnonzero(present).astype(np.int32)


def _unmeetable(table: Table, allowed: int) -> Unmeetable:
    return Unmeetable(
        f"datafly cannot meet the policy: at every step, up to values as general as they may be, more of the "
        f"{count(table.records, table.noun)} would have to be suppressed than the {allowed:,} that the limit allows; "
        f"{WAYS_OUT}"
    )
