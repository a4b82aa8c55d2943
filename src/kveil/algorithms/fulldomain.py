"""Full-domain generalization: one map from values to shown nodes for all records.

Datafly: Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression" (2002), in
the form with many constraints that seed 001 compares against.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kveil.errors import Unmeetable, count
from kveil.kernels.groups import group_rows, sample_of_groups
from kveil.models.counts import AtLeastK, GroupModel
from kveil.models.subset import Requirement, maximal_anonymous_subset
from kveil.policy.constraints import implied, most_suppressed
from kveil.policy.fields import PolicyPart
from kveil.policy.model import PrivacyModel
from kveil.table.encode import Table
from kveil.table.solution import Shown, Solution
from kveil.table.tree import Bools, Ints, Tree

SMALL = 50_000  # tuples below which a look at a part of the groups saves nothing
PART_BITS = 6  # that part: one group in 64, or more where the limit asks for more proof


class DataflyOptions(PolicyPart):
    """Datafly has no options."""


def group_model(model: PrivacyModel) -> GroupModel:
    """Return the search-time check of a policy's model."""
    if model.model == "k-anonymity":
        return AtLeastK(model.k)
    raise TypeError(f"no search-time check for {model.model}")


@dataclass
class _State:
    """The distinct shown tuples while the search goes on: node codes, weights, and who is where."""

    nodes: Ints
    member: Ints
    weights: np.ndarray[tuple[int], np.dtype[np.int64]]

    def over(self, positions: list[int]) -> Ints:
        """Return the tuples' projection on some attributes."""
        return self.nodes if len(positions) == len(self.nodes) else self.nodes[positions]

    def shrink(self) -> None:
        """Merge tuples that have become equal. O(tuples · attributes)."""
        group, first = group_rows(self.nodes)
        if len(first) < len(group):
            self.nodes = np.ascontiguousarray(self.nodes[:, first])
            self.weights = np.bincount(group, weights=self.weights, minlength=len(first)).astype(np.int64)
            self.member = group[self.member]


def one_step(tree: Tree, shown: Ints) -> Ints | None:
    """Return the map node → node of one generalization step, None where nothing may still move.

    The deepest shown nodes that are not at their limit move to their parents.
    """
    free = shown[~tree.limit[shown]]
    if not len(free):
        return None
    depth = tree.depth[free]
    deepest = free[depth == depth.max()]
    step = np.arange(len(tree.labels), dtype=np.int32)
    step[deepest] = tree.parent[deepest]
    return step


@dataclass(frozen=True)
class _Standing:
    """How a state stands: tuples outside each component's maximal anonymous subset, and those lost in all."""

    outside: Bools  # component × tuple
    lost: Bools  # tuples that count as suppressed


class _Judge:
    """Judges states by the table's whole policy."""

    def __init__(self, table: Table) -> None:
        policy = table.policy
        self.records = table.records
        self.trees = [tree for tree in table.trees if isinstance(tree, Tree)]
        self.drop = policy.suppression.show == "drop"
        skip = implied(policy)
        self.components = [
            (
                table.positions(component.attributes),
                [
                    (table.positions(policy.attributes_of(policy.privacy[i])), group_model(policy.privacy[i]))
                    for i in component.models
                    if i not in skip
                ],
            )
            for component in table.components
        ]

    def hopeless(self, state: _State, allowed: int) -> set[int] | None:
        """Return the violating components where a part of the groups already proves that too much is lost.

        The part is all of some groups and nothing of others, so what fails in it fails in the whole. None where
        it proves nothing. Costs a fraction of :meth:`standing` on large tables.
        """
        if state.nodes.shape[1] < SMALL:
            return None
        enough = self.records // max(4 * allowed, 1)
        bits = min(PART_BITS, max(enough.bit_length() - 1, 0))
        lost = [self._lost_in_part(state, attributes, models, bits) for attributes, models in self.components]
        if max(lost) <= allowed:
            return None
        return {
            c
            for c, (attributes, models) in enumerate(self.components)
            if lost[c] or self._outside(state, attributes, models)[0].any()
        }

    def _lost_in_part(
        self, state: _State, attributes: list[int], models: list[tuple[list[int], GroupModel]], bits: int
    ) -> int:
        most = 0
        for positions, model in models:
            rows = sample_of_groups(state.over(positions), bits)
            nodes, weights = state.nodes[:, rows], state.weights[rows]
            free = np.logical_and.reduce([self.trees[a].is_star[nodes[a]] for a in attributes])
            group, first = group_rows(nodes[positions])
            counted = np.where(free, 0, weights)
            good = model.good(group, len(first), counted)
            most = max(most, int(counted[~good[group]].sum()))
        return most

    def _outside(
        self, state: _State, attributes: list[int], models: list[tuple[list[int], GroupModel]]
    ) -> tuple[Bools, list[Requirement]]:
        free = np.logical_and.reduce([self.trees[a].is_star[state.nodes[a]] for a in attributes])
        taking_part = ~free if free.any() else None
        found = []
        for positions, model in models:
            group, first = group_rows(state.over(positions))
            found.append(Requirement(model, group, len(first), taking_part))
        everyone = np.ones(state.nodes.shape[1], dtype=bool)
        return ~maximal_anonymous_subset(found, state.weights, everyone), found

    def standing(self, state: _State) -> _Standing:
        """Find who lies outside, on texts: rows of stars take no part in their component's models.

        With `show: drop` a record outside one component is gone from all, so the subset is taken under all
        constraints together.
        """
        all_star = np.logical_and.reduce([tree.is_star[state.nodes[a]] for a, tree in enumerate(self.trees)])
        outside = np.zeros((len(self.components), state.nodes.shape[1]), dtype=bool)
        together: list[Requirement] = []
        for c, (attributes, models) in enumerate(self.components):
            outside[c], found = self._outside(state, attributes, models)
            together += found
        lost = outside.any(axis=0) | all_star
        if self.drop and lost.any():
            lost = ~maximal_anonymous_subset(together, state.weights, ~lost)
        return _Standing(outside, lost)


def datafly(table: Table, options: DataflyOptions, rng: np.random.Generator) -> Solution:
    """Generalize the attribute with the most distinct values until few enough records violate.

    Cost: at most the sum of the trees' heights steps, each O(distinct tuples · attributes).
    """
    distinct = table.distinct
    trees = [tree for tree in table.trees if isinstance(tree, Tree)]
    allowed = most_suppressed(table.policy, table.records)
    judge = _Judge(table)
    leaf_nodes = np.array(
        [tree.leaf_nodes[column] for tree, column in zip(trees, distinct.tuples, strict=True)], dtype=np.int32
    ).reshape(len(trees), -1)
    state = _State(leaf_nodes, np.arange(len(distinct.weights), dtype=np.int32), distinct.weights)
    shown = [np.flatnonzero(np.bincount(column)).astype(np.int32) for column in leaf_nodes]
    steps = [0] * len(trees)
    while True:
        violators = judge.hopeless(state, allowed)
        if violators is None:
            state.shrink()
            standing = judge.standing(state)
            if int(state.weights[standing.lost].sum()) <= allowed:
                break
            violators = {c for c, out in enumerate(standing.outside) if out.any()}
        violating = {a for c in violators for a in judge.components[c][0]} or set(range(len(trees)))
        moves = {a: step for a in sorted(violating) if (step := one_step(trees[a], shown[a])) is not None}
        if not moves:
            raise _unmeetable(table, int(state.weights[judge.standing(state).lost].sum()), allowed)
        chosen = max(moves, key=lambda a: len(shown[a]))
        state.nodes[chosen] = moves[chosen][state.nodes[chosen]]
        shown[chosen] = np.flatnonzero(np.bincount(moves[chosen][shown[chosen]])).astype(np.int32)
        steps[chosen] += 1
    return _solution(table, trees, state, standing, dict(zip(table.names, steps, strict=True)))


def _solution(table: Table, trees: list[Tree], state: _State, standing: _Standing, steps: dict[str, int]) -> Solution:
    member = state.member[table.distinct.member]
    all_star = np.array([tree.is_star[state.nodes[a]] for a, tree in enumerate(trees)]).all(axis=0)
    suppressed = standing.outside | all_star
    if table.policy.suppression.show == "drop":
        suppressed |= standing.lost
    reasons = {
        f"too rare over {', '.join(component.attributes)}": out
        for component, out in zip(table.components, standing.outside, strict=True)
    }
    reasons["nothing but * would be left to show"] = all_star
    reasons["too rare once other records were dropped"] = standing.lost & ~standing.outside.any(axis=0) & ~all_star
    return Solution(
        shown=tuple(Shown.nodes(tree, state.nodes[a][member]) for a, tree in enumerate(trees)),
        suppressed=suppressed[:, member],
        reasons={
            reason: np.flatnonzero(tuples[member]).astype(np.int32)
            for reason, tuples in reasons.items()
            if tuples.any()
        },
        details={"steps": steps},
    )


def _unmeetable(table: Table, lost: int, allowed: int) -> Unmeetable:
    return Unmeetable(
        f"datafly cannot meet the policy: with every value as general as it may be, {count(lost, 'record')} of "
        f"{table.records:,} would still have to be suppressed and the limit allows {allowed:,}; raise "
        "suppression.limit, lower k, or move boundaries up."
    )
