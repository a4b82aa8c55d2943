"""A component of a table as Classfly works on it: its constraints, its tuples, and what has been set aside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from kveil.algorithms.full_domain.judge import Tuples, group_model
from kveil.arrays import Bools, Floats, Ints, Longs
from kveil.kernels.grouping.groups import add_up, group_rows
from kveil.models.distributions import Close
from kveil.models.groups import AtLeastK, GroupModel, Groups, Pairs
from kveil.models.subset import Requirement, maximal_anonymous_subset
from kveil.policy.components import Component, implied
from kveil.table.table import Table
from kveil.table.tree import Tree, star_rows

Filter = Literal["naive", "complete", "partial"]


@dataclass(frozen=True)
class Constraint:
    """A model over some attributes of its component, given as rows of the component's nodes."""

    over: list[int]
    model: GroupModel
    k: int


class Part:
    """One component of a table: its columns, its constraints, and its distinct tuples with what they show."""

    def __init__(self, table: Table, component: Component, state: Tuples, kind: Filter) -> None:
        policy = table.policy
        skip = implied(policy)
        self.table = table
        self.positions = table.positions(component.attributes)
        self.trees = [tree for p in self.positions if isinstance(tree := table.trees[p], Tree)]
        mine = state.over(self.positions)
        self.member, first = group_rows(mine)
        self.leaf_nodes = mine.copy() if len(first) == len(self.member) else np.ascontiguousarray(mine[:, first])
        self.weights = add_up(self.member, state.weights, len(first))
        self.pairs = {name: pairs.moved(self.member) for name, pairs in state.pairs.items()}
        self.constraints = [
            Constraint(
                [component.attributes.index(name) for name in policy.attributes_of(policy.privacy[i])],
                _fixed_reference(group_model(policy.privacy[i], table), self.weights, self.pairs),
                getattr(policy.privacy[i], "k", 1),
            )
            for i in component.models
            if i not in skip
        ]
        self.constraints.sort(key=lambda constraint: constraint.k)  # growing k; the sort is stable
        self.largest_k = max(constraint.k for constraint in self.constraints)
        self.more_is_safe = all(constraint.model.unique_subset for constraint in self.constraints)
        self.counts_only = all(isinstance(constraint.model, AtLeastK) for constraint in self.constraints)
        self.limit_depth = [_limit_depth(tree) for tree in self.trees]
        self.kind = kind
        # Rows of stars in the only component show nothing: they are not set aside.
        self.hides = len(table.components) == 1 and not table.stars_take_part

    def satisfied(self, nodes: Ints, weights: Longs, pairs: dict[str, Pairs]) -> Bools:
        """Return the tuples that may be set aside: by the union constraint, or the maximal anonymous subset."""
        alive = np.ones(nodes.shape[1], dtype=bool)
        if self.hides:
            alive &= ~self.stars(nodes)
        if self.kind == "naive":
            group, first = group_rows(nodes)
            counted = Groups(group, len(first), np.where(alive, weights, 0), pairs)
            good = counted.sizes >= self.largest_k
            for constraint in self.constraints:
                good &= constraint.model.good(counted)
            return np.asarray(alive & good[group])
        if self.kind == "complete":
            return self._largest(nodes, weights, pairs, alive)
        for number in range(1, len(self.constraints) + 1):
            chosen = np.flatnonzero(alive)
            if not len(chosen):
                break
            mine = nodes[:, chosen]
            renumber = np.full(nodes.shape[1], -1, dtype=np.int32)
            renumber[chosen] = np.arange(len(chosen), dtype=np.int32)
            kept = {name: only(p, renumber) for name, p in pairs.items()}
            everyone = np.ones(len(chosen), dtype=bool)
            required = self._requirements(mine, self.constraints[:number])
            alive[chosen] = maximal_anonymous_subset(required, weights[chosen], kept, everyone)
        return alive

    def _largest(self, nodes: Ints, weights: Longs, pairs: dict[str, Pairs], alive: Bools) -> Bools:
        """Return the maximal anonymous subset; a constraint groups only what those before it have left."""
        found = []
        for constraint in self.constraints:
            chosen = np.flatnonzero(alive)
            if not len(chosen):
                return alive
            group = np.zeros(len(alive), dtype=np.int32)
            group[chosen], first = group_rows(np.array([nodes[a][chosen] for a in constraint.over]))
            found.append(Requirement(constraint.model, group, len(first)))
            alive &= constraint.model.good(Groups(group, len(first), np.where(alive, weights, 0), pairs))[group]
        return maximal_anonymous_subset(found, weights, pairs, alive)

    def _requirements(self, nodes: Ints, constraints: list[Constraint]) -> list[Requirement]:
        found = []
        for constraint in constraints:
            whole = len(constraint.over) == len(nodes)
            group, first = group_rows(nodes if whole else nodes[constraint.over])
            found.append(Requirement(constraint.model, group, len(first)))
        return found

    def stars(self, nodes: Ints) -> Bools:
        """Return the tuples that show nothing but `*`."""
        return star_rows(self.trees, nodes)

    def holds(self, nodes: Ints, weights: Longs, pairs: dict[str, Pairs], but_last: bool = False) -> bool:
        """Tell whether every group of the weighted tuples satisfies every constraint, or all but the last tuple's."""
        for constraint in self.constraints:
            group, first = group_rows(nodes[constraint.over])
            good = constraint.model.good(Groups(group, len(first), weights, pairs))
            good[group[-1]] |= but_last
            if not good.all():
                return False
        return True

    def cost(self, attribute: int) -> Floats:
        """Return the loss of showing each node of an attribute, by the policy's measure and weight."""
        tree = self.trees[attribute]
        name = self.table.names[self.positions[attribute]]
        own = tree.il if self.table.policy.loss == "il" else tree.ncp
        return own * float(self.table.policy.attributes[name].weight)


def only(pairs: Pairs, renumber: Ints) -> Pairs:
    """Return the pairs of the tuples that have a new number, under it."""
    keep = renumber[pairs.tuples] >= 0
    return Pairs(renumber[pairs.tuples[keep]], pairs.codes[keep], pairs.counts[keep], pairs.known)


def _limit_depth(tree: Tree) -> Ints:
    """Return for every node of a tree the depth of the limit on its way up."""
    limit: Ints = np.arange(len(tree.labels), dtype=np.int32)
    while True:
        free = ~tree.limit[limit]
        if not free.any():
            return tree.depth[limit]
        limit[free] = tree.parent[limit[free]]


def _fixed_reference(model: GroupModel, weights: Longs, pairs: dict[str, Pairs]) -> GroupModel:
    """Return a model whose reference is the whole table: groups are set aside round by round, the whole stays."""
    if not isinstance(model, Close):
        return model
    whole = Groups(np.zeros(len(weights), dtype=np.int32), 1, weights, pairs).histogram(model.sensitive)
    share = np.bincount(whole.code, weights=whole.count, minlength=whole.known + 1)
    return replace(model, reference=share / max(share.sum(), 1))


@dataclass
class Aside:
    """What the tuples of a component show, and which are left over."""

    nodes: Ints
    left: Bools
    rounds: int
    steps: dict[str, int]
