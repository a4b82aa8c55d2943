"""Classfly and Classfly+: records that satisfy their constraints are set aside, only the rest is generalized.

Yang, Liu, Wang, Yu, "K-anonymization approaches for supporting multiple constraints" (2006), seed 001. Where the
paper is silent: the loop also ends when nothing may move any more; what is left over beyond the suppression limit
is taken in by groups already set aside; a group that would show nothing but `*` is not set aside, since such rows
count as suppressed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from kveil.errors import Unmeetable, count
from kveil.kernels.groups import group_rows
from kveil.models.counts import GroupModel, Groups, Pairs, Weights
from kveil.models.distributions import Close
from kveil.models.standing import Judge, Standing, Tuples, group_model
from kveil.models.subset import Requirement, maximal_anonymous_subset
from kveil.policy.constraints import Component, implied, most_suppressed
from kveil.policy.fields import Flag, PolicyPart
from kveil.table.encode import Table
from kveil.table.solution import Solution
from kveil.table.tree import Bools, Floats, Ints, Tree

Filter = Literal["naive", "complete", "partial"]


class ClassflyOptions(PolicyPart):
    """Options of the Classfly family.

    join: let a record that is left over join records already set aside if, at their values, everything holds, even
    within the suppression limit; it never raises the loss. choose: `distinct` generalizes the attribute with the
    most distinct values, as in the paper; `gain` the one whose step sets most records aside for the loss it costs.
    """

    join: Flag = False
    choose: Literal["distinct", "gain"] = "distinct"


@dataclass(frozen=True)
class _Constraint:
    """A model over some attributes of its component, given as rows of the component's nodes."""

    over: list[int]
    model: GroupModel
    k: int


class _Part:
    """One component of a table: its columns, its constraints, and its distinct tuples with what they show."""

    def __init__(self, table: Table, component: Component, state: Tuples, kind: Filter) -> None:
        policy = table.policy
        skip = implied(policy)
        self.table = table
        self.positions = table.positions(component.attributes)
        self.trees = [tree for p in self.positions if isinstance(tree := table.trees[p], Tree)]
        self.member, first = group_rows(state.nodes[self.positions])
        self.leaf_nodes = np.ascontiguousarray(state.nodes[self.positions][:, first])
        self.weights = np.bincount(self.member, weights=state.weights, minlength=len(first)).astype(np.int64)
        self.pairs = {name: pairs.moved(self.member) for name, pairs in state.pairs.items()}
        self.constraints = [
            _Constraint(
                [component.attributes.index(name) for name in policy.attributes_of(policy.privacy[i])],
                _fixed_reference(group_model(policy.privacy[i], table), self.weights, self.pairs),
                getattr(policy.privacy[i], "k", 1),
            )
            for i in component.models
            if i not in skip
        ]
        self.constraints.sort(key=lambda constraint: constraint.k)  # growing k; the sort is stable
        self.largest_k = max(constraint.k for constraint in self.constraints)
        self.kind = kind
        # Rows of stars in the only component show nothing: they are not set aside.
        self.hides = len(table.components) == 1 and not table.stars_take_part

    def satisfied(self, nodes: Ints, weights: Weights, pairs: dict[str, Pairs]) -> Bools:
        """Return the tuples that may be set aside: by the union constraint, or the maximal anonymous subset."""
        alive = np.ones(nodes.shape[1], dtype=bool)
        if self.hides:
            alive &= ~np.logical_and.reduce([tree.is_star[nodes[a]] for a, tree in enumerate(self.trees)])
        if self.kind == "naive":
            group, first = group_rows(nodes)
            counted = Groups(group, len(first), np.where(alive, weights, 0), pairs)
            good = counted.sizes >= self.largest_k
            for constraint in self.constraints:
                good &= constraint.model.good(counted)
            return np.asarray(alive & good[group])
        if self.kind == "complete":
            return maximal_anonymous_subset(self._requirements(nodes, self.constraints), weights, pairs, alive)
        for number in range(1, len(self.constraints) + 1):
            chosen = np.flatnonzero(alive)
            if not len(chosen):
                break
            mine = nodes[:, chosen]
            renumber = np.full(nodes.shape[1], -1, dtype=np.int32)
            renumber[chosen] = np.arange(len(chosen), dtype=np.int32)
            kept = {name: _only(p, renumber) for name, p in pairs.items()}
            everyone = np.ones(len(chosen), dtype=bool)
            required = self._requirements(mine, self.constraints[:number])
            alive[chosen] = maximal_anonymous_subset(required, weights[chosen], kept, everyone)
        return alive

    def _requirements(self, nodes: Ints, constraints: list[_Constraint]) -> list[Requirement]:
        found = []
        for constraint in constraints:
            whole = len(constraint.over) == len(nodes)
            group, first = group_rows(nodes if whole else nodes[constraint.over])
            found.append(Requirement(constraint.model, group, len(first)))
        return found

    def holds(self, nodes: Ints, weights: Weights) -> bool:
        """Tell whether every group of the weighted tuples satisfies every constraint."""
        for constraint in self.constraints:
            group, first = group_rows(nodes[constraint.over])
            if not constraint.model.good(Groups(group, len(first), weights, self.pairs)).all():
                return False
        return True

    def cost(self, attribute: int) -> Floats:
        """Return the loss of showing each node of an attribute, by the policy's measure and weight."""
        tree = self.trees[attribute]
        name = self.table.names[self.positions[attribute]]
        own = tree.il if self.table.policy.loss == "il" else tree.ncp
        return own * float(self.table.policy.attributes[name].weight)


def _only(pairs: Pairs, renumber: Ints) -> Pairs:
    keep = renumber[pairs.tuples] >= 0
    return Pairs(renumber[pairs.tuples[keep]], pairs.codes[keep], pairs.counts[keep], pairs.known)


def _fixed_reference(model: GroupModel, weights: Weights, pairs: dict[str, Pairs]) -> GroupModel:
    """Return a model whose reference is the whole table: groups are set aside round by round, the whole stays."""
    if not isinstance(model, Close):
        return model
    whole = Groups(np.zeros(len(weights), dtype=np.int32), 1, weights, pairs).histogram(model.sensitive)
    share = np.bincount(whole.code, weights=whole.count, minlength=whole.known + 1)
    return replace(model, reference=share / max(share.sum(), 1))


@dataclass
class _Aside:
    """What the tuples of a component show, and which are left over."""

    nodes: Ints
    left: Bools
    rounds: int
    steps: dict[str, int]


def _set_aside(part: _Part, options: ClassflyOptions) -> _Aside:
    """Set aside and generalize, round by round; the rest is merged as its tuples become equal."""
    nodes = part.leaf_nodes.copy()
    left = np.ones(nodes.shape[1], dtype=bool)
    member = np.arange(nodes.shape[1], dtype=np.int32)  # of tuples that are left → rest
    rest, weights, pairs = part.leaf_nodes.copy(), part.weights, part.pairs
    steps = {part.table.names[p]: 0 for p in part.positions}
    rounds = 0
    while True:
        rounds += 1
        good = part.satisfied(rest, weights, pairs)
        if good.any():
            done = np.flatnonzero(left)[good[member[left]]]
            nodes[:, done] = rest[:, member[done]]
            left[done] = False
        if int(weights[~good].sum()) < part.largest_k or not left.any():
            break
        rest, weights, pairs, member = _compress(rest, weights, pairs, member, left, ~good)
        shown = [np.flatnonzero(np.bincount(column)).astype(np.int32) for column in rest]
        moves = {a: step for a, tree in enumerate(part.trees) if (step := tree.one_step(shown[a])) is not None}
        if not moves:
            break
        chosen = _choose(part, options, rest, weights, pairs, shown, moves)
        rest[chosen] = moves[chosen][rest[chosen]]
        steps[part.table.names[part.positions[chosen]]] += 1
        rest, weights, pairs, member = _compress(rest, weights, pairs, member, left, np.ones(len(weights), dtype=bool))
    nodes[:, left] = rest[:, member[left]]
    return _Aside(nodes, left, rounds, steps)


def _compress(
    rest: Ints, weights: Weights, pairs: dict[str, Pairs], member: Ints, left: Bools, keep: Bools
) -> tuple[Ints, Weights, dict[str, Pairs], Ints]:
    """Drop the tuples that were set aside, and merge those of the rest that show the same; updates ``member``."""
    chosen = np.flatnonzero(keep)
    renumber = np.full(len(keep), -1, dtype=np.int32)
    if len(chosen) < len(keep):
        renumber[chosen] = np.arange(len(chosen), dtype=np.int32)
        rest, weights = np.ascontiguousarray(rest[:, chosen]), weights[chosen]
        pairs = {name: _only(p, renumber) for name, p in pairs.items()}
        member[left] = renumber[member[left]]
    group, first = group_rows(rest)
    if len(first) < len(group):
        rest = np.ascontiguousarray(rest[:, first])
        weights = np.bincount(group, weights=weights, minlength=len(first)).astype(np.int64)
        pairs = {name: p.moved(group) for name, p in pairs.items()}
        member[left] = group[member[left]]
    return rest, weights, pairs, member


def _choose(
    part: _Part,
    options: ClassflyOptions,
    rest: Ints,
    weights: Weights,
    pairs: dict[str, Pairs],
    shown: list[Ints],
    moves: dict[int, Ints],
) -> int:
    """Return the attribute to generalize; ties go to the first in the policy."""
    if options.choose == "distinct":
        return max(moves, key=lambda a: len(shown[a]))
    worth: dict[int, float] = {}
    for a, step in moves.items():
        after = rest.copy()
        after[a] = step[rest[a]]
        good = part.satisfied(after, weights, pairs)
        cost = part.cost(a)
        paid = float(((cost[after[a]] - cost[rest[a]]) * weights).sum())
        worth[a] = float(weights[good].sum()) / max(paid, 1e-12)
    if max(worth.values()) > 0:
        return max(worth, key=worth.__getitem__)
    return max(moves, key=lambda a: len(shown[a]))


def _solve(table: Table, options: ClassflyOptions, kind: Filter, name: str) -> Solution:
    allowed = most_suppressed(table.policy, table.records)
    judge = Judge(table)
    state = Tuples.at_leaves(table)
    parts = [_Part(table, component, state, kind) for component in table.components]
    asides = [_set_aside(part, options) for part in parts]
    if options.join:
        for part, aside in zip(parts, asides, strict=True):
            _take_in(part, aside, widen=False)
    standing = _stand(judge, state, parts, asides)
    taken = False
    if int(state.weights[standing.lost].sum()) > allowed:
        taken = True
        for part, aside in zip(parts, asides, strict=True):
            _take_in(part, aside, widen=True)
        standing = _stand(judge, state, parts, asides)
    lost = int(state.weights[standing.lost].sum())
    if lost > allowed:
        raise _unmeetable(table, name, lost, allowed)
    details = {
        "rounds": [aside.rounds for aside in asides],
        "steps": {attribute: steps for aside in asides for attribute, steps in aside.steps.items()},
        "left_over_taken_in": taken,
    }
    return judge.solution(state, standing, details)


def _stand(judge: Judge, state: Tuples, parts: list[_Part], asides: list[_Aside]) -> Standing:
    """Return how the whole table stands with what the components show; the left over are suppressed."""
    dead = np.zeros((len(parts), state.nodes.shape[1]), dtype=bool)
    for c, (part, aside) in enumerate(zip(parts, asides, strict=True)):
        state.nodes[part.positions] = aside.nodes[:, part.member]
        dead[c] = aside.left[part.member]
    return judge.standing(state, dead)


def _take_in(part: _Part, aside: _Aside, widen: bool) -> None:
    """Give left-over tuples to groups already set aside.

    To one that covers the tuple as it is; else, if it may ``widen``, to the one that costs least to generalize.
    Tuples in canonical order; of several groups the cheapest, then the first in the order of their nodes. Whatever
    would break a constraint is not done.
    """
    waiting = np.flatnonzero(aside.left)
    leaves = [tree.first[part.leaf_nodes[a, waiting]] for a, tree in enumerate(part.trees)]
    waiting = waiting[np.lexsort(tuple(reversed(leaves)))]
    costs = [part.cost(a) for a in range(len(part.trees))]
    for at in waiting.tolist():
        inside = np.flatnonzero(~aside.left)
        if not len(inside):
            return
        group, first = group_rows(np.ascontiguousarray(aside.nodes[:, inside]))
        shown = aside.nodes[:, inside[first]]
        order = np.lexsort(tuple(reversed(list(shown))))
        shown = shown[:, order]
        sizes = np.bincount(group, weights=part.weights[inside], minlength=len(first))[order]
        covers = np.ones(shown.shape[1], dtype=bool)
        allowed = np.ones(shown.shape[1], dtype=bool)
        wider = np.empty_like(shown)
        own, more = np.zeros(shown.shape[1]), np.zeros(shown.shape[1])
        for a, tree in enumerate(part.trees):
            leaf = part.leaf_nodes[a, at]
            low = np.minimum(tree.first[shown[a]], tree.first[leaf])
            high = np.maximum(tree.last[shown[a]], tree.last[leaf])
            wider[a] = np.where(_is_above(tree, shown[a], int(leaf)), shown[a], tree.lca(low, high))
            covers &= wider[a] == shown[a]
            allowed &= ~_beyond(tree, shown[a], wider[a]) & ~_beyond(tree, np.full_like(wider[a], leaf), wider[a])
            own += costs[a][wider[a]]
            more += (costs[a][wider[a]] - costs[a][shown[a]]) * sizes + costs[a][wider[a]] * part.weights[at]
        if part.hides:
            allowed &= ~np.logical_and.reduce([t.is_star[wider[a]] for a, t in enumerate(part.trees)])
        if not _join(part, aside, at, np.where(covers & allowed, own, np.inf), shown, wider) and widen:
            _join(part, aside, at, np.where(allowed, more, np.inf), shown, wider)


def _join(part: _Part, aside: _Aside, at: int, price: Floats, shown: Ints, wider: Ints) -> bool:
    """Let a tuple join the cheapest group where everything still holds; tell whether there is one."""
    for target in np.argsort(price, kind="stable").tolist():
        if not np.isfinite(price[target]):
            return False
        nodes = aside.nodes.copy()
        moving = ~aside.left & (aside.nodes == shown[:, target : target + 1]).all(axis=0)
        moving[at] = True
        nodes[:, moving] = wider[:, target : target + 1]
        left = aside.left.copy()
        left[at] = False
        if part.holds(nodes, np.where(left, 0, part.weights)):
            aside.nodes, aside.left = nodes, left
            return True
    return False


def _is_above(tree: Tree, node: Ints, leaf: int) -> Any:
    """Tell which nodes are a node or its ancestors."""
    return (tree.first[node] <= tree.first[leaf]) & (tree.last[leaf] <= tree.last[node]) & (node <= leaf)


def _beyond(tree: Tree, node: Ints, wider: Ints) -> Any:
    """Tell where ``wider`` lies above the limit on the way up from a node."""
    limit = node.copy()
    while True:
        free = ~tree.limit[limit]
        if not free.any():
            return tree.depth[wider] < tree.depth[limit]
        limit[free] = tree.parent[limit[free]]


def _unmeetable(table: Table, name: str, lost: int, allowed: int) -> Unmeetable:
    noun = "record" if table.persons is None else "individual"
    return Unmeetable(
        f"{name} cannot meet the policy: {count(lost, noun)} of {table.records:,} would be left over and the limit "
        f"allows {allowed:,}; raise suppression.limit, ask for less, or move boundaries up."
    )


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
