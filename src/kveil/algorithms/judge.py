"""How a whole table stands under its policy, given what every tuple shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kveil.algorithms.component import SearchComponent, components_of
from kveil.algorithms.shown_tuples import Tuples
from kveil.algorithms.stars import NOTHING_LEFT, count_as_suppressed, star_nodes, without_part
from kveil.algorithms.suppression import LEFT_BEHIND
from kveil.arrays import Bools, Ints, Longs
from kveil.free_form import Details
from kveil.kernels.threads import each_in_threads
from kveil.models.groups import Pairs
from kveil.models.subset import Requirement, maximal_anonymous_subset
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table
from kveil.table.tree import Tree


@dataclass(frozen=True)
class Standing:
    """Tuples outside each component's maximal anonymous subset, and those that count as suppressed."""

    outside: Bools  # component × tuple
    lost: Bools


def rows_gone_as_a_whole(
    table: Table, required: list[Requirement], weights: Longs, pairs: Mapping[str, Pairs], gone: Bools
) -> Bools:
    """Return who is gone, given those who are from some component, and what all components require together.

    Where a row outside one component is gone from all, others may be too few without it.
    """
    if not table.whole_rows or not gone.any():
        return gone
    return ~maximal_anonymous_subset(required, weights, pairs, ~gone)


class PolicyJudge:
    """Judges shown tuples by a table's whole policy, as texts will be judged.

    Rows of stars are judged as `stars` says.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.trees = [tree for tree in table.trees if isinstance(tree, Tree)]
        self.components = components_of(table)

    def without_part(self, nodes: Ints, component: SearchComponent) -> Bools:
        """Return the tuples of stars that a component's models do not count."""
        positions = component.positions
        return without_part(self.table, star_nodes([self.trees[a] for a in positions], nodes[positions]))

    def nothing_left(self, nodes: Ints) -> Bools:
        """Return the tuples that show nothing but `*` anywhere and count as suppressed."""
        return count_as_suppressed(self.table, star_nodes(self.trees, nodes))

    def outside(self, state: Tuples, component: SearchComponent, dead: Bools | None) -> tuple[Bools, list[Requirement]]:
        """Return who lies outside a component's maximal anonymous subset, and what the component requires."""
        starred = self.without_part(state.nodes, component)
        requirements = component.requirements(
            state.over(component.positions), taking_part=~starred if starred.any() else None
        )
        everyone = np.ones(state.nodes.shape[1], dtype=bool) if dead is None else ~dead
        return ~maximal_anonymous_subset(requirements, state.weights, state.pairs, everyone), requirements

    def standing(self, state: Tuples, *, dead: Bools | None = None, others_hold: bool = False) -> Standing:
        """Find who lies outside; ``dead`` (component × tuple) are those an algorithm has given up already.

        Where a row outside one component is gone from all, the subset is taken under all constraints together. Where
        ``others_hold``, an algorithm has seen that all others satisfy every model, as long as all of them take part.
        """
        outside = np.zeros((len(self.components), state.nodes.shape[1]), dtype=bool)
        nothing_left = self.nothing_left(state.nodes)
        if others_hold and dead is not None and len(dead) == 1 and not (nothing_left & ~dead[0]).any():
            return Standing(dead, dead[0])
        together: list[Requirement] = []
        for c, component in enumerate(self.components):
            gone = None if dead is None else dead[c]
            if len(self.components) > 1 and nothing_left.any():
                gone = nothing_left if gone is None else gone | nothing_left
            outside[c], requirements = self.outside(state, component, gone)
            together += requirements
        lost = outside.any(axis=0) | nothing_left
        return Standing(outside, rows_gone_as_a_whole(self.table, together, state.weights, state.pairs, lost))

    def solution(self, state: Tuples, standing: Standing, details: Details) -> Solution:
        """Return what a state shows as a solution, with the reason of everyone who is suppressed."""
        table = self.table
        member = state.member[table.distinct.member]
        nothing_left = self.nothing_left(state.nodes)
        suppressed = standing.outside | nothing_left
        if table.whole_rows:
            suppressed |= standing.lost
        reasons = {
            f"too rare over {', '.join(component.names)}": out
            for component, out in zip(self.components, standing.outside, strict=True)
        }
        reasons[NOTHING_LEFT] = nothing_left
        reasons[LEFT_BEHIND] = standing.lost & ~standing.outside.any(axis=0) & ~nothing_left

        def shown(a: int) -> Shown:
            return Shown.nodes(self.trees[a], state.nodes[a][member])

        return Solution(
            shown=tuple(each_in_threads(shown, range(len(self.trees)), table.rows)),
            suppressed=np.take(suppressed, member, axis=1),
            reasons={
                reason: np.flatnonzero(tuples[member]).astype(np.int32)
                for reason, tuples in reasons.items()
                if tuples.any()
            },
            details=details,
            alike=member,
        )
