"""How a whole table stands under its policy, given what every tuple shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.grouping.groups import add_up, group_rows, sample_of_groups
from kveil.models.distributions import FrequencyL, distribution_model, exact
from kveil.models.fingerprints import fingerprint_name
from kveil.models.groups import AtLeastK, GroupModel, Groups, Pairs
from kveil.models.subset import Requirement, maximal_anonymous_subset
from kveil.policy.components import implied
from kveil.policy.model import Policy
from kveil.policy.privacy import PrivacyModel
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table
from kveil.table.tree import Tree, star_rows

SMALL = 50_000  # tuples below which a look at a part of the groups saves nothing
PART_BITS = 6  # that part: one group in 64, or more where the limit asks for more proof


def group_model(model: PrivacyModel, table: Table) -> GroupModel:
    """Return the search-time check of a policy's model."""
    if model.model in ("k-anonymity", "k-km-anonymity"):  # what classes are asked for; their items are looked at apart
        return AtLeastK(model.k)
    if model.model == "kl-diversity":
        return FrequencyL(fingerprint_name(model), exact(model.l))
    return distribution_model(model, table.sensitive[str(getattr(model, "sensitive", ""))])


@dataclass
class Tuples:
    """Distinct shown tuples while a search goes on: node codes, weights, sensitive values, and who is where."""

    nodes: Ints
    member: Ints  # every distinct tuple of leaves → its shown tuple
    weights: Longs
    pairs: dict[str, Pairs]

    @classmethod
    def at_leaves(cls, table: Table) -> Tuples:
        """Start with every row at its own leaves, or at the LCA of a person's."""
        distinct = table.distinct
        number = len(distinct.weights)
        trees = [tree for tree in table.trees if isinstance(tree, Tree)]
        nodes = np.empty((len(trees), number), dtype=np.int32)
        for a, tree in enumerate(trees):
            same = distinct.low is distinct.high
            nodes[a] = tree.leaf_nodes[distinct.low[a]] if same else tree.lca(distinct.low[a], distinct.high[a])
        return cls(nodes, np.arange(number, dtype=np.int32), distinct.weights, sensitive_pairs(table))

    def over(self, positions: list[int]) -> Ints:
        """Return the tuples' projection on some attributes."""
        return self.nodes if len(positions) == len(self.nodes) else self.nodes[positions]

    def shrink(self) -> None:
        """Merge tuples that have become equal. O(tuples · attributes)."""
        group, first = group_rows(self.nodes)
        if len(first) < len(group):
            self.nodes = np.ascontiguousarray(self.nodes[:, first])
            self.weights = add_up(group, self.weights, len(first))
            self.member = group[self.member]
            self.pairs = {name: pairs.moved(group) for name, pairs in self.pairs.items()}


def counted_names(policy: Policy) -> set[str]:
    """Return the names under which a table holds what models count: sensitive attributes, and fingerprints."""
    found = set()
    for model in policy.privacy:
        if model.model == "kl-diversity":
            found.add(fingerprint_name(model))
        elif hasattr(model, "sensitive") and model.model != "k-km-anonymity":
            found.add(str(model.sensitive))
    return found


def sensitive_pairs(table: Table, kept: Bools | None = None) -> dict[str, Pairs]:
    """Return what models count, by distinct tuple of leaves; only of the rows that are kept, if any are named."""
    used = counted_names(table.policy)
    distinct = table.distinct
    return {
        name: Pairs(*table.pairs(name, distinct.member, len(distinct.weights), kept), table.sensitive[name].known)
        for name in sorted(used)
    }


@dataclass(frozen=True)
class Standing:
    """Tuples outside each component's maximal anonymous subset, and those that count as suppressed."""

    outside: Bools  # component × tuple
    lost: Bools


def _telling(nodes: Ints, positions: list[int], enough: int = 2000) -> list[int]:
    """Return the few attributes that seem to tell tuples apart best; groups agree on them, whichever they are."""
    seen = {a: len(np.unique(nodes[a, :4096])) for a in positions}
    chosen: list[int] = []
    different = 1
    for a in sorted(positions, key=lambda a: -seen[a]):
        chosen.append(a)
        different *= seen[a]
        if different >= enough:
            break
    return chosen


class Judge:
    """Judges shown tuples by a table's whole policy, as texts will be judged.

    A row of stars takes no part in its component's models, unless it is a person whose items are shown.
    """

    def __init__(self, table: Table) -> None:
        policy = table.policy
        self.table = table
        self.trees = [tree for tree in table.trees if isinstance(tree, Tree)]
        skip = implied(policy)
        self.components = [
            (
                table.positions(component.attributes),
                [
                    (
                        table.positions(policy.attributes_of(policy.privacy[i])),
                        group_model(policy.privacy[i], table),
                    )
                    for i in component.models
                    if i not in skip
                ],
            )
            for component in table.components
        ]

    def stars(self, nodes: Ints, attributes: list[int]) -> Bools:
        """Return the tuples that show `*` in all the attributes and are no persons with items."""
        if self.table.stars_take_part:
            return np.zeros(nodes.shape[1], dtype=bool)
        return star_rows([self.trees[a] for a in attributes], nodes[attributes])

    def hopeless(self, state: Tuples, allowed: int) -> set[int] | None:
        """Return the violating components where a part of the groups already proves that too much is lost.

        The part is all of some groups and nothing of others, so what fails in it fails in the whole. None where
        it proves nothing. Costs a fraction of :meth:`standing` on large tables.
        """
        if state.nodes.shape[1] < SMALL:
            return None
        enough = self.table.records // max(4 * allowed, 1)
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
        self, state: Tuples, attributes: list[int], models: list[tuple[list[int], GroupModel]], bits: int
    ) -> int:
        most = 0
        for positions, model in models:
            if model.sensitive is not None:
                continue
            rows = sample_of_groups(state.nodes[_telling(state.nodes, positions)], bits)
            nodes, weights = state.nodes[:, rows], state.weights[rows]
            group, first = group_rows(nodes[positions])
            counted = np.where(self.stars(nodes, attributes), 0, weights)
            good = model.good(Groups(group, len(first), counted, {}))
            most = max(most, int(counted[~good[group]].sum()))
        return most

    def _outside(
        self,
        state: Tuples,
        attributes: list[int],
        models: list[tuple[list[int], GroupModel]],
        dead: Bools | None = None,
    ) -> tuple[Bools, list[Requirement]]:
        free = self.stars(state.nodes, attributes)
        taking_part = ~free if free.any() else None
        found = []
        for positions, model in models:
            group, first = group_rows(state.over(positions))
            found.append(Requirement(model, group, len(first), taking_part))
        everyone = np.ones(state.nodes.shape[1], dtype=bool) if dead is None else ~dead
        return ~maximal_anonymous_subset(found, state.weights, state.pairs, everyone), found

    def standing(self, state: Tuples, dead: Bools | None = None) -> Standing:
        """Find who lies outside; ``dead`` (component × tuple) are those an algorithm has given up already.

        Where a row outside one component is gone from all, the subset is taken under all constraints together.
        """
        outside = np.zeros((len(self.components), state.nodes.shape[1]), dtype=bool)
        together: list[Requirement] = []
        for c, (attributes, models) in enumerate(self.components):
            gone = None if dead is None else dead[c]
            outside[c], found = self._outside(state, attributes, models, gone)
            together += found
        lost = outside.any(axis=0) | self.stars(state.nodes, list(range(len(self.trees))))
        if self.table.whole_rows and lost.any():
            lost = ~maximal_anonymous_subset(together, state.weights, state.pairs, ~lost)
        return Standing(outside, lost)

    def solution(self, state: Tuples, standing: Standing, details: dict[str, Any]) -> Solution:
        """Return what a state shows as a solution, with the reason of everyone who is suppressed."""
        table = self.table
        member = state.member[table.distinct.member]
        all_star = self.stars(state.nodes, list(range(len(self.trees))))
        suppressed = standing.outside | all_star
        if table.whole_rows:
            suppressed |= standing.lost
        reasons = {
            f"too rare over {', '.join(component.attributes)}": out
            for component, out in zip(table.components, standing.outside, strict=True)
        }
        reasons["nothing but * would be left to show"] = all_star
        reasons["too rare once other records were dropped"] = standing.lost & ~standing.outside.any(axis=0) & ~all_star
        return Solution(
            shown=tuple(Shown.nodes(tree, state.nodes[a][member]) for a, tree in enumerate(self.trees)),
            suppressed=suppressed[:, member],
            reasons={
                reason: np.flatnonzero(tuples[member]).astype(np.int32)
                for reason, tuples in reasons.items()
                if tuples.any()
            },
            details=details,
            alike=member,
        )
