"""Samples of groups that prove, for a fraction of the work, that a full-domain generalization is not yet enough.

A sample is all of some groups and nothing of others, so what fails in it fails in the whole. Which tuples are taken
depends on few attributes alone; as long as none of these is generalized, the same tuples are a sample of what the next
steps show, and only they make these steps. The whole table makes up for them once it is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kveil.algorithms.component import Constraint, SearchComponent
from kveil.algorithms.judge import PolicyJudge
from kveil.algorithms.shown_tuples import Tuples
from kveil.arrays import Ints, Longs
from kveil.kernels.grouping.equal_rows import group_rows, sample_of_groups
from kveil.kernels.threads import each_in_threads
from kveil.models.groups import Groups

SMALL = 50_000  # tuples below which a look at a sample of the groups saves nothing
SAMPLE_BITS = 6  # the sample: one group in 64, or more where the limit asks for more proof
SAMPLED_TUPLES = 4096  # by which attributes are compared
ENOUGH_GROUPS = (128, 2000)  # combinations of values that may make a fair sample: the fewer, the longer it is one
UNFAIR = 4  # times more, or fewer, tuples than were to be taken


@dataclass
class GroupSample:
    """Tuples that are all of some groups over a constraint's attributes, chosen by the values of some of these."""

    chosen_by: frozenset[int]
    nodes: Ints
    weights: Longs


class GroupSamples:
    """Samples of a state whose attributes are generalized step by step, one for every constraint on sizes."""

    def __init__(self, judge: PolicyJudge, state: Tuples, allowed: int) -> None:
        self._judge, self._state, self._allowed = judge, state, allowed
        enough = judge.table.records // max(4 * allowed, 1)
        self._bits = min(SAMPLE_BITS, max(enough.bit_length() - 1, 0))
        self._samples: dict[tuple[int, ...], GroupSample] = {}
        self._waiting: dict[int, Ints] = {}  # steps that the state itself has not made yet

    def climb(self, attribute: int, step: Ints) -> None:
        """Generalize an attribute by a map from node to node."""
        before = self._waiting.get(attribute)
        self._waiting[attribute] = step if before is None else step[before]
        self._samples = {over: sample for over, sample in self._samples.items() if attribute not in sample.chosen_by}
        for sample in self._samples.values():
            sample.nodes[attribute] = step[sample.nodes[attribute]]

    def catch_up(self) -> Tuples:
        """Return the state after all steps, with tuples that have become equal as one."""
        self._make_steps(list(self._waiting))
        self._samples.clear()
        self._state.shrink()
        return self._state

    def violators(self) -> set[int] | None:
        """Return the violating components where the samples prove that too much is lost, None where they do not."""
        if self._state.nodes.shape[1] < SMALL:
            return None
        components = self._judge.components
        lost = [self._lost(component) for component in components]
        if max(lost) <= self._allowed:
            return None
        if not all(lost):
            self._make_steps(list(self._waiting))
        return {
            c
            for c, component in enumerate(components)
            if lost[c] or self._judge.outside(self._state, component, None)[0].any()
        }

    def _lost(self, component: SearchComponent) -> int:
        """Return how many records a component's constraints on sizes lose at least."""
        most = 0
        for constraint in component.constraints:
            if constraint.model.sensitive is not None:
                continue
            over = tuple(constraint.positions)
            if over not in self._samples:
                self._samples[over] = self._sample(constraint)
            sample = self._samples[over]
            group, first = group_rows(sample.nodes[constraint.positions])
            counted = np.where(self._judge.without_part(sample.nodes, component), 0, sample.weights)
            good = constraint.model.good(Groups(group, len(first), counted, {}))
            most = max(most, int(counted[~good[group]].sum()))
        return most

    def _sample(self, constraint: Constraint) -> GroupSample:
        """Return a sample by attributes of few values, which are generalized last, or by those of many if it is unfair.

        Whichever attributes are taken, members of a group agree on them, so a sample never cuts a group in two.
        """
        wanted = self._state.nodes.shape[1] >> self._bits
        seen = {a: len(np.unique(self._shown(a, slice(SAMPLED_TUPLES)))) for a in constraint.positions}
        for enough in ENOUGH_GROUPS:
            by, rows = self._taken(seen, lambda a: seen[a], enough)
            if wanted // UNFAIR <= len(rows) <= wanted * UNFAIR:
                break
        else:
            by, rows = self._taken(seen, lambda a: -seen[a], ENOUGH_GROUPS[-1])
        nodes = np.take(self._state.nodes, rows, axis=1)
        for a, step in self._waiting.items():
            nodes[a] = step[nodes[a]]
        return GroupSample(frozenset(by), nodes, self._state.weights[rows])

    def _taken(self, seen: dict[int, int], order: Callable[[int], int], enough: int) -> tuple[list[int], Ints]:
        """Return attributes, the first in an order that tell enough groups apart, and the tuples they choose."""
        by: list[int] = []
        combinations = 1
        for a in sorted(seen, key=order):
            if combinations >= enough:
                break
            if seen[a] > 1:
                by.append(a)
                combinations *= seen[a]
        self._make_steps(by)
        return by, sample_of_groups(self._state.nodes[by], self._bits)

    def _shown(self, a: int, rows: slice) -> Ints:
        nodes = self._state.nodes[a, rows]
        return self._waiting[a][nodes] if a in self._waiting else nodes

    def _make_steps(self, attributes: list[int]) -> None:
        nodes = self._state.nodes
        steps = [(a, self._waiting.pop(a)) for a in attributes if a in self._waiting]

        def make(step: tuple[int, Ints]) -> None:
            a, above = step
            nodes[a] = np.take(above, nodes[a])

        each_in_threads(make, steps, nodes.shape[1])
