"""Classfly and Classfly+: records that satisfy their constraints are set aside, only the rest is generalized.

Yang, Liu, Wang, Yu 2006. Where the paper is silent: the loop also ends when nothing may move any more; what is left
over beyond the suppression limit is taken in by groups already set aside; a group that would show nothing but `*` is
not set aside, since such rows count as suppressed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from kveil.algorithms.classfly.classfly_component import Aside, ClassflyComponent, Filter
from kveil.algorithms.classfly.left_over import take_in
from kveil.algorithms.classfly.rest import Rest
from kveil.algorithms.component import components_of
from kveil.algorithms.judge import PolicyJudge, Standing
from kveil.algorithms.shown_tuples import Tuples
from kveil.algorithms.suppression import beyond_limit
from kveil.arrays import Ints
from kveil.measures import least_lossy
from kveil.policy.components import most_suppressed
from kveil.policy.fields import Flag, PolicyPart
from kveil.stopping import check_deadline
from kveil.table.solution import Solution
from kveil.table.table import Table

NOTHING = 1e-12  # stands for a cost of nothing below a fraction


class ClassflyOptions(PolicyPart):
    """Options of the Classfly family.

    join: let a record that is left over join records already set aside if, at their values, everything holds, even
    within the suppression limit; it never raises the loss. choose: `distinct` generalizes the attribute with the
    most distinct values, as in the paper; `gain` the one whose climb, of one step or more, sets most records aside
    for the loss it costs: mostly a lower loss, several times the time.
    """

    join: Flag = False
    choose: Literal["distinct", "gain"] = "distinct"


def _set_aside(part: ClassflyComponent, options: ClassflyOptions) -> Aside:
    """Set aside and generalize, round by round; the rest is merged as its tuples become equal."""
    by_gain = options.choose == "gain"
    nodes = np.empty_like(part.leaf_nodes)
    rest = Rest(part, always_merged=by_gain)
    steps = {part.table.names[p]: 0 for p in part.positions}
    rounds = 0
    while True:
        check_deadline()
        rounds += 1
        good = rest.satisfied()
        if good.any():
            rest.set_aside(good, nodes)
        if int(rest.weights.sum()) < part.largest_k or rest.most_shown is None:
            break
        chosen = _most_gained(part, rest) if by_gain else None
        chosen = rest.most_shown if chosen is None else chosen
        rest.step(chosen)
        steps[part.table.names[part.positions[chosen]]] += 1
    left = rest.left
    nodes[:, left] = np.take(rest.nodes, rest.member[left], axis=1)
    # Sets of records in which every group has k of them are such a set together.
    return Aside(nodes, left, rounds, steps, hold=part.counts_only)


def _most_gained(part: ClassflyComponent, rest: Rest) -> int | None:
    """Return the attribute whose climb sets most records aside for what it costs, None where none is worth it.

    Every attribute is tried alone, as far up as it goes. A climb is worth it where it sets aside at least the share of
    the records that it costs of all there is left to lose. Ties go to the first attribute in the policy.
    """
    nodes, weights, moves = rest.nodes, rest.weights, rest.moves
    costs = [part.cost(a) for a in range(len(part.trees))]
    to_lose = sum(float(((cost[0] - cost[nodes[a]]) * weights).sum()) for a, cost in enumerate(costs))
    worth = dict.fromkeys(moves, 0.0)
    for a in moves:
        after = nodes.copy()
        step: Ints | None = moves[a]
        while step is not None:
            after[a] = step[after[a]]
            good = part.satisfied(after, weights, rest.pairs)
            paid = float(((costs[a][after[a]] - costs[a][nodes[a]]) * weights).sum()) / max(to_lose, NOTHING)
            worth[a] = max(worth[a], float(weights[good].sum() / weights.sum()) / max(paid, NOTHING))
            step = part.trees[a].one_step(np.flatnonzero(np.bincount(after[a])).astype(np.int32))
    best = max(worth, key=worth.__getitem__)
    return best if worth[best] >= 1 else None


def _solve(table: Table, options: ClassflyOptions, kind: Filter, name: str) -> Solution:
    allowed = most_suppressed(table.policy, table.records)
    judge = PolicyJudge(table)
    state = Tuples.at_leaves(table)
    parts = [ClassflyComponent(component, state, kind) for component in components_of(table)]
    asides = [_set_aside(part, options) for part in parts]
    both_ways = options.join and any(aside.left.any() for aside in asides)
    lost, best = _end(judge, state, parts, _copied(asides) if both_ways else asides, allowed, join=False)
    if both_ways:
        # A record that joins may keep its group from being widened over others, who are then suppressed, which can
        # cost more than the widening would have. So the end is reckoned both ways.
        _, joined = _end(judge, state, parts, asides, allowed, join=True)
        ends = [end for end in (joined, best) if end is not None]  # of equals the one with joins
        best = least_lossy(table, ends) if ends else None
    if best is None:
        raise beyond_limit(table, name, lost, allowed)
    return best


def _copied(asides: list[Aside]) -> list[Aside]:
    return [replace(aside, nodes=aside.nodes.copy(), left=aside.left.copy()) for aside in asides]


def _end(
    judge: PolicyJudge, state: Tuples, parts: list[ClassflyComponent], asides: list[Aside], allowed: int, *, join: bool
) -> tuple[int, Solution | None]:
    """Suppress what is left over within the limit, else take it in; return who is lost, and None beyond the limit.

    What was set aside changes.
    """
    joined = taken = 0
    if join:
        joined = sum(take_in(part, aside, widen=False) for part, aside in zip(parts, asides, strict=True))
    standing = _stand(judge, state, parts, asides)
    if int(state.weights[standing.lost].sum()) > allowed:
        taken = sum(take_in(part, aside, widen=True) for part, aside in zip(parts, asides, strict=True))
        standing = _stand(judge, state, parts, asides)
    lost = int(state.weights[standing.lost].sum())
    if lost > allowed:
        return lost, None
    details = {
        "rounds": [aside.rounds for aside in asides],
        "steps": {attribute: steps for aside in asides for attribute, steps in aside.steps.items()},
        "left_over_joined": joined,
        "left_over_taken_in": taken,
    }
    return lost, judge.solution(state, standing, details)


def _stand(judge: PolicyJudge, state: Tuples, parts: list[ClassflyComponent], asides: list[Aside]) -> Standing:
    """Return how the whole table stands with what the components show; the left over are suppressed."""
    dead = np.zeros((len(parts), state.nodes.shape[1]), dtype=bool)
    for c, (part, aside) in enumerate(zip(parts, asides, strict=True)):
        for position, shown in zip(part.positions, aside.nodes, strict=True):
            np.take(shown, part.member, out=state.nodes[position], mode="clip")
        dead[c] = aside.left[part.member]
    return judge.standing(state, dead=dead, others_hold=all(aside.hold for aside in asides))


def classfly(table: Table, options: ClassflyOptions, rng: np.random.Generator) -> Solution:
    """Set aside groups of the one constraint, generalize the rest."""
    return _solve(table, options, "complete", "classfly")


def classfly_naive(table: Table, options: ClassflyOptions, rng: np.random.Generator) -> Solution:
    """Run Classfly on every component's union constraint: all its attributes, its largest k."""
    return _solve(table, options, "naive", "classfly+naive")


def classfly_complete(table: Table, options: ClassflyOptions, rng: np.random.Generator) -> Solution:
    """Set aside, each round, the maximal anonymous subset under the whole component."""
    return _solve(table, options, "complete", "classfly+complete")


def classfly_partial(table: Table, options: ClassflyOptions, rng: np.random.Generator) -> Solution:
    """Set aside the same subset, found by adding constraints one at a time in order of growing k."""
    return _solve(table, options, "partial", "classfly+partial")
