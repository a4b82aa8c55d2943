"""A component of a table as Classfly works on it: its constraints, its tuples, and what has been set aside."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from kveil.algorithms.classfly.known_groups import KnownGroup, KnownGroups
from kveil.algorithms.component import Constraint, SearchComponent, everyone_as_one
from kveil.algorithms.costs import weighted_losses
from kveil.algorithms.shown_tuples import Tuples
from kveil.algorithms.stars import group_of_stars_is_lost, star_nodes
from kveil.arrays import Bools, Floats, Ints, Longs
from kveil.kernels.grouping.equal_rows import add_up, drop_rare, group_each, group_rows
from kveil.models.distributions import Close
from kveil.models.groups import Groups, Pairs
from kveil.models.subset import Requirement, maximal_anonymous_subset
from kveil.table.tree import Tree

Filter = Literal["naive", "complete", "partial"]


class ClassflyComponent:
    """One component of a table: its columns, its constraints, and its distinct tuples with what they show."""

    def __init__(self, component: SearchComponent, state: Tuples, kind: Filter) -> None:
        self.component = component
        self.table = component.table
        self.positions = component.positions
        self.trees = [tree for tree in component.trees if isinstance(tree, Tree)]
        mine = state.over(self.positions)
        self.member, first = group_rows(mine)
        self.leaf_nodes = mine.copy() if len(first) == len(self.member) else np.take(mine, first, axis=1)
        self.weights = add_up(self.member, state.weights, len(first))
        self.pairs = {name: pairs.moved(self.member) for name, pairs in state.pairs.items()}
        self.constraints = [self._with_fixed_reference(constraint) for constraint in component.constraints]
        self.constraints.sort(key=lambda constraint: constraint.k)  # growing k; the sort is stable
        self.largest_k = component.largest_k
        self.more_is_safe = component.more_is_safe
        self.counts_only = component.counts_only
        self.left_share = [0.0] * len(self.constraints)  # of what each was last asked about
        self.limit_depth = [tree.depth[tree.limit_of_node] for tree in self.trees]
        self.kind = kind
        self.hides = group_of_stars_is_lost(self.table)  # then such groups are not set aside

    def _with_fixed_reference(self, constraint: Constraint) -> Constraint:
        """Return a constraint whose t-closeness refers to the whole table: groups leave round by round, it stays."""
        if not isinstance(constraint.model, Close):
            return constraint
        return replace(constraint, model=constraint.model.against(everyone_as_one(self.weights, self.pairs)))

    def sizes_only(self) -> ClassflyComponent:
        """Return the same as far as sizes of groups go."""
        other = copy(self)
        other.component = self.component.sizes_only()
        other.constraints = sorted(other.component.constraints, key=lambda constraint: constraint.k)
        other.left_share = [0.0] * len(other.constraints)
        other.more_is_safe = other.counts_only = True
        other.pairs = {}
        return other

    def satisfied(
        self, nodes: Ints, weights: Longs, pairs: dict[str, Pairs], *, known: KnownGroups | None = None
    ) -> Bools:
        """Return the tuples that may be set aside: by the union constraint, or the maximal anonymous subset.

        What is ``known`` of their groups by now is used, and added to.
        """
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
            if self.counts_only:
                return self._largest_by_sizes(nodes, weights, alive, KnownGroups() if known is None else known)
            return self._largest(nodes, weights, pairs, alive)
        for number in range(1, len(self.constraints) + 1):
            chosen = np.flatnonzero(alive)
            if not len(chosen):
                break
            mine = np.take(nodes, chosen, axis=1)
            renumber = np.full(nodes.shape[1], -1, dtype=np.int32)
            renumber[chosen] = np.arange(len(chosen), dtype=np.int32)
            kept = {name: only(p, renumber) for name, p in pairs.items()}
            everyone = np.ones(len(chosen), dtype=bool)
            required = replace(self.component, constraints=self.constraints[:number]).requirements(mine)
            alive[chosen] = maximal_anonymous_subset(required, weights[chosen], kept, everyone)
        return alive

    def _largest(self, nodes: Ints, weights: Longs, pairs: dict[str, Pairs], alive: Bools) -> Bools:
        """Return the maximal anonymous subset; a constraint groups only what those before it have left."""
        required = []
        for constraint in self.constraints:
            chosen = np.flatnonzero(alive)
            if not len(chosen):
                return alive
            required.append(_required(constraint, nodes, chosen))
            alive &= required[-1].holds(np.where(alive, weights, 0), pairs)
        return maximal_anonymous_subset(required, weights, pairs, alive)

    def _largest_by_sizes(self, nodes: Ints, weights: Longs, alive: Bools, known: KnownGroups) -> Bools:
        """Return the maximal anonymous subset where sizes alone count.

        There is one such subset, whichever constraint comes first. While most tuples are left, a constraint groups all
        of them, which is known from then on; after that only what those before it have left.
        """
        for j, own in known.of.items():
            alive &= own.in_large(weights, self.constraints[j].k)
        order = known.order(self.constraints, int(weights.sum()), self.left_share)
        required = []
        for place, j in enumerate(order):
            before = np.count_nonzero(alive)
            if not before:
                return alive
            if 2 * before > len(alive):
                asked = [j] if place == 0 else order[place:]
                found = group_each(nodes, [self.constraints[other].over for other in asked])
                known.of |= {j: KnownGroup(group, len(first)) for j, (group, first) in zip(asked, found, strict=True)}
                if place > 0:
                    break
                alive &= known.of[j].in_large(weights, self.constraints[j].k)
            else:
                required.append(_required(self.constraints[j], nodes, np.flatnonzero(alive)))
                drop_rare(required[-1].group, required[-1].groups, weights, self.constraints[j].k, alive)
            self.left_share[j] = np.count_nonzero(alive) / before
        required += [Requirement(self.constraints[j].model, own.group, own.number) for j, own in known.of.items()]
        return maximal_anonymous_subset(required, weights, {}, alive)

    def stars(self, nodes: Ints) -> Bools:
        """Return the tuples that show nothing but `*`."""
        return star_nodes(self.trees, nodes)

    def cost(self, attribute: int) -> Floats:
        """Return the loss of showing each node of an attribute, by the policy's measure and weight."""
        return weighted_losses(self.table, self.positions[attribute])


def _required(constraint: Constraint, nodes: Ints, chosen: Longs) -> Requirement:
    """Return a constraint on the groups of chosen tuples; the others are in any."""
    if len(chosen) == nodes.shape[1]:
        group, first = group_rows(nodes, constraint.over)
    else:
        group = np.zeros(nodes.shape[1], dtype=np.int32)
        group[chosen], first = group_rows(np.array([nodes[a][chosen] for a in constraint.over]))
    return Requirement(constraint.model, group, len(first))


def only(pairs: Pairs, renumber: Ints) -> Pairs:
    """Return the pairs of the tuples that have a new number, under it."""
    keep = renumber[pairs.tuples] >= 0
    return Pairs(renumber[pairs.tuples[keep]], pairs.codes[keep], pairs.counts[keep], pairs.known)


@dataclass
class Aside:
    """What the tuples of a component show, and which are left over; ``hold`` where sizes say that the others hold."""

    nodes: Ints
    left: Bools
    rounds: int
    steps: dict[str, int]
    hold: bool = False
