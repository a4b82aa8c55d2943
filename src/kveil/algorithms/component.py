"""A component of a table as a search sees it: its columns, its models, and which columns each model is over.

A component is a set of models that share attributes, transitively (Yang et al. 2006 call it an independent constraint
subset). It owns its columns alone, so a search can work on one component after another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.grouping.equal_rows import group_each
from kveil.models.groups import AtLeastK, GroupModel, Groups, Pairs
from kveil.models.of_policy import group_model, least_members
from kveil.models.subset import Requirement
from kveil.policy.components import binding
from kveil.policy.privacy import named_k
from kveil.table.scale import Scale
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.table.tree import Tree


@dataclass(frozen=True)
class Constraint:
    """A model and the attributes it is over.

    ``over`` are their places among the component's attributes, ``positions`` their places among all quasi-identifiers
    of the table. ``k`` is the k that the policy's model names, 1 where it names none.
    """

    model: GroupModel
    over: list[int]
    positions: list[int]
    k: int


@dataclass(frozen=True)
class SearchComponent:
    """One component of a table."""

    table: Table
    number: int
    names: tuple[str, ...]
    positions: list[int]  # of its attributes among the table's quasi-identifiers
    constraints: list[Constraint]

    @cached_property
    def models(self) -> list[GroupModel]:
        """The models, one per constraint."""
        return [constraint.model for constraint in self.constraints]

    @cached_property
    def trees(self) -> list[Tree | Scale]:
        """The hierarchies of its attributes."""
        return [self.table.trees[position] for position in self.positions]

    @cached_property
    def sensitive(self) -> list[str]:
        """The sensitive attributes, or fingerprints, that its models count, in the order of their names."""
        return sorted({model.sensitive for model in self.models if model.sensitive is not None})

    @property
    def trees_only(self) -> bool:
        """Whether no attribute has spans of numbers for a hierarchy."""
        return all(isinstance(tree, Tree) for tree in self.trees)

    @property
    def over_everything(self) -> bool:
        """Whether every model is over all of its attributes, so that all of them see the same groups."""
        return all(len(constraint.over) == len(self.positions) for constraint in self.constraints)

    @property
    def counts_only(self) -> bool:
        """Whether sizes of groups decide, and no sensitive value is looked at."""
        return all(isinstance(model, AtLeastK) for model in self.models)

    @property
    def more_is_safe(self) -> bool:
        """Whether a group that satisfies every model goes on doing so, whoever joins it."""
        return all(model.unique_subset for model in self.models)

    @property
    def least_members(self) -> int:
        """How few members a group that satisfies every model can have."""
        return max((least_members(model, self.table) for model in self.models), default=1)

    @cached_property
    def fewest(self) -> list[int]:
        """How few members a group may have, per constraint: its k, or what its model needs beyond that."""
        return [max(constraint.k, least_members(constraint.model, self.table)) for constraint in self.constraints]

    @property
    def largest_k(self) -> int:
        """The largest k that one of its models names, 1 where none does."""
        return max((constraint.k for constraint in self.constraints), default=1)

    def sizes_only(self) -> SearchComponent:
        """Return the component as far as sizes of groups go: what is public about it, whatever anybody has."""
        each = zip(self.constraints, self.fewest, strict=True)
        constraints = [replace(constraint, model=AtLeastK(k), k=k) for constraint, k in each]
        return replace(self, constraints=constraints)

    def spans(self) -> tuple[Ints, Ints]:
        """Return the distinct tuples of the table as spans of leaves, low and high, per attribute and tuple."""
        distinct = self.table.distinct
        if self.positions == list(range(len(distinct.low))):  # all of them: many millions of cells need no copy
            return distinct.low, distinct.high
        low = np.ascontiguousarray(distinct.low[self.positions])
        same = distinct.low is distinct.high
        return low, low if same else np.ascontiguousarray(distinct.high[self.positions])

    def shown_by(self, solution: Solution) -> Ints:
        """Return what a solution shows of its attributes, as codes per attribute and row."""
        codes = [solution.shown[position].codes for position in self.positions]
        return np.array(codes, dtype=np.int32).reshape(len(codes), self.table.rows)

    def good(self, groups: Groups) -> Bools:
        """Tell which groups satisfy every model by themselves."""
        fine = np.ones(groups.number, dtype=bool)
        for model in self.models:
            fine &= model.good(groups)
        return fine

    def requirements(self, shown: Ints, *, taking_part: Bools | None = None) -> list[Requirement]:
        """Return its models on the groups of equal shown codes; ``shown`` has a row per attribute of the component.

        ``taking_part`` are the rows, or tuples, that its models count, by default all of them.
        """
        groups = group_each(shown, [constraint.over for constraint in self.constraints])
        return [
            Requirement(constraint.model, group, len(first), taking_part)
            for constraint, (group, first) in zip(self.constraints, groups, strict=True)
        ]

    def pairs_of(self, pairs: Mapping[str, Pairs]) -> dict[str, Pairs]:
        """Return, of a table's sensitive values, those that its models count."""
        return {name: pairs[name] for name in self.sensitive}


def components_of(table: Table, *, with_implied: bool = False) -> list[SearchComponent]:
    """Return the components of a table as a search sees them, in the order of the table's components.

    Constraints that another one implies are left out, unless they are asked for.
    """
    policy = table.policy
    kept = range(len(policy.privacy)) if with_implied else binding(policy)
    found = []
    for number, component in enumerate(table.components):
        constraints = []
        for i in component.models:
            if i not in kept:
                continue
            names = policy.attributes_of(policy.privacy[i])
            over = [component.attributes.index(name) for name in names]
            model = group_model(policy.privacy[i], table)
            constraints.append(Constraint(model, over, table.positions(names), named_k(policy.privacy[i]) or 1))
        found.append(
            SearchComponent(table, number, component.attributes, table.positions(component.attributes), constraints)
        )
    return found


def everyone_as_one(weights: Longs, pairs: Mapping[str, Pairs]) -> Groups:
    """Return all tuples as one group."""
    return Groups(np.zeros(len(weights), dtype=np.int32), 1, weights, pairs)


def table_of_component(table: Table, number: int) -> Table:
    """Return a table as one with the quasi-identifiers and the models of one of its components alone."""
    part, policy = table.components[number], table.policy
    others = set(table.names).difference(part.attributes)
    if not others:
        return table
    own = policy.model_copy(
        update={
            "attributes": {name: own for name, own in policy.attributes.items() if name not in others},
            "privacy": [policy.privacy[i] for i in part.models],
        }
    )
    at = table.positions(part.attributes)
    low = np.ascontiguousarray(table.low[at])
    return replace(
        table,
        policy=own,
        names=part.attributes,
        trees=tuple(table.trees[position] for position in at),
        leaves=low if table.leaves is table.low else np.ascontiguousarray(table.leaves[at]),
        low=low,
        high=low if table.high is table.low else np.ascontiguousarray(table.high[at]),
        fractions={name: rows for name, rows in table.fractions.items() if name not in others},
    )
