"""Incognito: LeFevre, DeWitt, Ramakrishnan 2005.

The lattice of full-domain levels is searched over growing sets of attributes: a node is looked at only if its
projections to smaller sets hold (subset pruning), everything above a node that holds does too (generalization), and
what a node shows is counted from a node below it (roll-up). Where the paper goes up level by level, a way up is
bisected here, which looks at fewer nodes that fail. Here with many constraints, boundaries, models over
sensitive values and a suppression limit. All minimal nodes are found, and of all nodes that hold the one with the
smallest loss is returned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from math import ceil, prod

import numpy as np

from kveil.algorithms.full_domain.levels import Node, by_height, lattice_way, levels_of, node_at
from kveil.algorithms.judge import PolicyJudge, Standing
from kveil.algorithms.shown_tuples import Tuples
from kveil.algorithms.stars import without_part
from kveil.algorithms.suppression import WAYS_OUT
from kveil.algorithms.telling_labels import find_telling
from kveil.arrays import Bools, Floats, Ints, Longs
from kveil.errors import Refused, Unmeetable
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.measures import loss_of, measure_solution
from kveil.models.distributions import AlphaShare, DistinctValues, EntropyL, RecursiveCL
from kveil.models.groups import AtLeastK, GroupModel, Groups, Pairs
from kveil.policy.components import most_suppressed
from kveil.policy.fields import PolicyPart
from kveil.stopping import check_beaten, check_deadline
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table
from kveil.table.tree import Tree
from kveil.words import count

MOST_NODES = 2_000_000  # of the lattice
MOST_TOLD = 10**18  # nodes: of more, which may be more than a float can hold, nobody needs the number
WIDEST = 3  # attributes of the sets that are searched before all together
JUST_ABOVE = 1e-6  # of an entropy l beyond a whole number: so little may be rounding, and asks for no further value


class IncognitoOptions(PolicyPart):
    """Incognito has no options."""


@dataclass
class _Counted:
    """Distinct tuples over some attributes, with their weights and sensitive values."""

    nodes: Ints
    weights: Longs
    pairs: dict[str, Pairs]

    def over(self, rows: list[int]) -> _Counted:
        """Return the projection on some of the attributes."""
        return self.merged(np.ascontiguousarray(self.nodes[rows]))

    def merged(self, nodes: Ints) -> _Counted:
        """Return the tuples after they show ``nodes``: equal ones are counted as one."""
        group, first = group_rows(nodes)
        return _Counted(
            np.take(nodes, first, axis=1),
            np.bincount(group, weights=self.weights, minlength=len(first)).astype(np.int64),
            {name: pairs.moved(group) for name, pairs in self.pairs.items()},
        )


class LevelLattice:
    """The levels of all attributes, and the test that prunes: necessary for a node to hold, and monotone.

    A row that shows only `*` in the attributes at hand is never counted as lost here, though it helps others: whether
    it takes part depends on attributes that are not at hand. With suppression, models whose maximal anonymous subset
    is not unique are replaced by what they imply.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.judge = PolicyJudge(table)
        self.trees = self.judge.trees
        self.allowed = most_suppressed(table.policy, table.records)
        state = Tuples.at_leaves(table)
        self.start = state
        self.base = _Counted(state.nodes, state.weights, state.pairs)
        present = [np.flatnonzero(np.bincount(column)).astype(np.int32) for column in state.nodes]
        self.levels = [levels_of(tree, present[a]) for a, tree in enumerate(self.trees)]
        self.sizes = [len(levels.maps) for levels in self.levels]
        self.needs = [
            [
                (own.positions, weaker)
                for own in component.constraints
                if (weaker := self._weaker(own.model)) is not None
            ]
            for component in self.judge.components
        ]
        used = {model.sensitive for needs in self.needs for _, model in needs if model.sensitive is not None}
        self.base.pairs = {name: pairs for name, pairs in state.pairs.items() if name in used}

    def _weaker(self, model: GroupModel) -> GroupModel | None:
        """Return what a model implies and pruning may rely on: the model itself where it is exact."""
        if model.unique_subset or not self.allowed:
            return model
        if isinstance(model, AlphaShare):
            return AtLeastK(model.k)
        if isinstance(model, EntropyL):
            return DistinctValues(model.sensitive, ceil(model.l - JUST_ABOVE))
        if isinstance(model, RecursiveCL):
            return DistinctValues(model.sensitive, model.l)
        return None

    def may_hold(self, attributes: Node, counted: _Counted) -> bool:
        """Tell whether tuples over some attributes pass the test."""
        star = [self.trees[a].is_star[counted.nodes[i]] for i, a in enumerate(attributes)]
        where = {a: i for i, a in enumerate(attributes)}
        alive = np.ones(len(counted.weights), dtype=bool)
        lost = np.zeros(len(counted.weights), dtype=bool)
        tests: list[list[tuple[GroupModel, Ints, int, Bools]]] = []
        for component, needs in zip(self.judge.components, self.needs, strict=True):
            own = [where[a] for a in component.positions if a in where]
            free = np.zeros(len(alive), dtype=bool)
            if own:
                free = without_part(self.table, np.logical_and.reduce([star[i] for i in own]))
            tests.append([])
            for positions, model in needs:
                over = [where[a] for a in positions if a in where]
                if not over:
                    continue
                if len(over) == len(attributes):  # the tuples are distinct
                    group, groups = np.arange(len(alive), dtype=np.int32), len(alive)
                else:
                    group, first = group_rows(counted.nodes[over])
                    groups = len(first)
                bad = self._bad(model, group, groups, free, alive, counted)
                if int(counted.weights[bad].sum()) > self.allowed:
                    return False
                lost |= bad
                tests[-1].append((model, group, groups, free))
        if not lost.any():
            return True
        if int(counted.weights[lost].sum()) > self.allowed:
            return False
        if sum(map(len, tests)) == 1:  # whole groups go, and nobody else depends on them
            return True
        gone = np.zeros(len(alive), dtype=bool)
        for own_tests in [[test for own in tests for test in own]] if self.table.whole_rows else tests:
            gone |= self._outside(own_tests, counted)
        return int(counted.weights[gone].sum()) <= self.allowed

    def _bad(self, model: GroupModel, group: Ints, groups: int, free: Bools, alive: Bools, counted: _Counted) -> Bools:
        good = model.good(Groups(group, groups, np.where(alive, counted.weights, 0), counted.pairs))
        if not model.unique_subset and free.any():  # rows that may take no part could be what spoils a group
            if not model.local:
                return np.zeros(len(alive), dtype=bool)
            good = good | (np.bincount(group, weights=free, minlength=groups) > 0)
        return np.asarray(alive & ~free & ~good[group])

    def _outside(self, tests: list[tuple[GroupModel, Ints, int, Bools]], counted: _Counted) -> Bools:
        alive = np.ones(len(counted.weights), dtype=bool)
        while True:
            check_deadline()
            before = int(alive.sum())
            for model, group, groups, free in tests:
                alive &= ~self._bad(model, group, groups, free, alive, counted)
            if int(alive.sum()) == before:
                return ~alive

    def search(self) -> Bools:
        """Return which nodes of the whole lattice pass the test: over one, two, three attributes, then over all.

        Larger sets between cost more than they spare: there are very many, and each leaves few nodes. It ends once all
        nodes that are left lose more than what is known.
        """
        everything = tuple(range(len(self.sizes)))
        known: dict[Node, Bools] = {}
        for size in range(1, min(WIDEST, len(everything) - 1) + 1):
            for attributes in combinations(everything, size):
                known[attributes] = self._search_over(attributes, self._open(attributes, known, size - 1))
            check_beaten(partial(self._least, self._open(everything, known, size)))
        return self._search_over(everything, self._open(everything, known, WIDEST))

    def _least(self, open_to: Bools) -> float:
        """Return what nodes lose at least, 0 where none is left: whoever cannot meet a policy says so."""
        return float(self.costs[open_to].min()) if open_to.any() else 0.0

    def _open(self, attributes: Node, known: dict[Node, Bools], size: int) -> Bools:
        """Return the nodes whose projections to sets of a size all hold."""
        found = np.ones([self.sizes[a] for a in attributes], dtype=bool)
        for smaller in combinations(attributes, min(size, len(attributes) - 1)):
            if smaller:
                found &= known[smaller].reshape([self.sizes[a] if a in smaller else 1 for a in attributes])
        return found

    def _search_over(self, attributes: Node, open_to: Bools) -> Bools:
        """Decide every open node: a way up from the lowest that is open is bisected, until none is left.

        What holds decides all nodes above it, what fails all nodes below it.
        """
        holds = np.zeros_like(open_to)
        undecided = open_to.copy()
        if not open_to.any():
            return holds
        base = self.base.over(list(attributes)) if len(attributes) < len(self.sizes) else self.base
        for place in by_height(open_to).tolist():
            if not undecided.flat[place]:
                continue
            way = lattice_way(node_at(place, undecided), undecided)
            low, high, start = 0, len(way), base
            while low < high:
                middle = (low + high) // 2
                node = way[middle]
                counted = start.merged(
                    np.array([self.levels[a].maps[node[i]][start.nodes[i]] for i, a in enumerate(attributes)])
                )
                if self.may_hold(attributes, counted):
                    above = tuple(slice(level, None) for level in node)
                    holds[above] = True
                    undecided[above] = False
                    high = middle
                else:
                    undecided[tuple(slice(None, level + 1) for level in node)] = False
                    low, start = middle + 1, counted  # roll-up: what is higher on the way is counted from here
        return holds

    def minimal(self) -> tuple[list[Node], Bools, dict[Node, bool]]:
        """Search, and return the minimal nodes that hold, those that may hold, and all that were judged."""
        open_to = self.search()
        found, known = _minimal(self, open_to)
        return found, open_to, known

    def state(self, node: Node) -> Tuples:
        """Return the whole table's tuples at a node."""
        nodes = np.array([self.levels[a].maps[level][self.start.nodes[a]] for a, level in enumerate(node)])
        fresh = replace(self.start, nodes=nodes)
        fresh.shrink()
        return fresh

    def judged(self, node: Node) -> tuple[Tuples, Standing, bool]:
        """Return how the whole table stands at a node, and whether that is within the limit."""
        state = self.state(node)
        standing = self.judge.standing(state)
        return state, standing, int(state.weights[standing.lost].sum()) <= self.allowed

    @cached_property
    def costs(self) -> Floats:
        """For every node the loss without any suppression, which no node above it can fall below."""
        table = self.table
        nothing = np.zeros((len(table.components), table.rows), dtype=bool)
        row = np.take(self.start.nodes, table.distinct.member, axis=1)
        means: list[list[float]] = []
        highest = max(self.sizes)
        for level in range(highest):
            at = [min(level, size - 1) for size in self.sizes]
            shown = tuple(Shown.nodes(tree, self.levels[a].maps[at[a]][row[a]]) for a, tree in enumerate(self.trees))
            losses = measure_solution(table, Solution(shown, nothing)).attributes
            means.append([losses[name].of(table.policy.loss) for name in table.names])
        weights = [float(table.policy.attributes[name].weight) for name in table.names]
        if table.policy.loss == "il":
            factors = [float(table.records)] * len(weights)
        else:
            factors = [weight / sum(weights) for weight in weights]
        total = np.zeros(self.sizes)
        for a, size in enumerate(self.sizes):
            own_costs = np.array([means[level][a] * factors[a] for level in range(size)])
            total = total + own_costs.reshape([-1 if i == a else 1 for i in range(len(self.sizes))])
        return total


def lattice_nodes(table: Table) -> int:
    """Return how many nodes the lattice has."""
    state = Tuples.at_leaves(table)
    trees = [tree for tree in table.trees if isinstance(tree, Tree)]
    return prod(
        len(levels_of(tree, np.flatnonzero(np.bincount(state.nodes[a])).astype(np.int32)).maps)
        for a, tree in enumerate(trees)
    )


def lattice_effort(table: Table) -> float:
    """Return an upper bound of the work: nodes times tuples."""
    return float(min(lattice_nodes(table), MOST_TOLD)) * len(table.distinct.weights)


def incognito(table: Table, options: IncognitoOptions, rng: np.random.Generator) -> Solution:
    """Search the whole lattice of full-domain levels; return the node that holds and loses least.

    A node whose labels would name a rare value is passed over for the next one.

    Cost: O(tuples · attributes) for every node that is looked at, of which there may be as many as nodes in the
    lattice.
    """
    nodes = lattice_nodes(table)
    if nodes > MOST_NODES:
        told = f"{nodes:,}" if nodes <= MOST_TOLD else f"over {MOST_TOLD:.0e}"
        raise Refused(
            f"incognito would search {told} nodes, more than the {MOST_NODES:,} it takes on; use datafly, or give "
            "the hierarchies fewer levels."
        )
    lattice = LevelLattice(table)
    minimal, open_to, known = lattice.minimal()
    best: tuple[float, Tuples, Standing, Node] | None = None
    telling: tuple[float, Tuples, Standing, Node] | None = None  # taken where all others tell too much, too
    cost = lattice.costs
    places = by_height(open_to)
    for place in places[np.argsort(cost.flat[places], kind="stable")].tolist():
        node = node_at(place, open_to)
        if best is not None and cost[node] >= best[0]:
            break
        if known.get(node) is False:
            continue
        state, standing, holds = lattice.judged(node)
        if holds:
            solution = lattice.judge.solution(state, standing, {})
            found = (loss_of(table, solution), state, standing, node)
            if find_telling(table, solution) is not None:
                telling = found if telling is None or found[0] < telling[0] else telling
            elif best is None or found[0] < best[0]:
                best = found
    best = best or telling
    if best is None:
        raise _unmeetable(lattice)
    _, state, standing, node = best
    details = {
        "levels": {name: lattice.levels[a].numbers[node[a]] for a, name in enumerate(table.names)},
        "minimal": [[lattice.levels[a].numbers[level] for a, level in enumerate(own)] for own in minimal],
    }
    return lattice.judge.solution(state, standing, details)


def _minimal(lattice: LevelLattice, open_to: Bools) -> tuple[list[Node], dict[Node, bool]]:
    """Return the nodes that hold and have none below them that does, and everything that was judged on the way.

    A node that only passes the test of pruning is left behind for those one step above it.
    """
    lowest = open_to.copy()
    for a in range(open_to.ndim):
        one_up = np.zeros_like(open_to)
        upper = tuple(slice(1, None) if i == a else slice(None) for i in range(open_to.ndim))
        lower = tuple(slice(None, -1) if i == a else slice(None) for i in range(open_to.ndim))
        one_up[upper] = open_to[lower]
        lowest &= ~one_up
    known: dict[Node, bool] = {}
    found: list[Node] = []
    wave: set[Node] = set(map(tuple, np.argwhere(lowest).tolist()))
    while wave:
        check_deadline()
        node = min(wave, key=lambda own: (sum(own), own))
        wave.remove(node)
        if node in known or any(all(x <= y for x, y in zip(own, node, strict=True)) for own in found):
            continue
        known[node] = lattice.judged(node)[2]
        if known[node]:
            found.append(node)
        else:
            wave.update(
                (*node[:a], level + 1, *node[a + 1 :]) for a, level in enumerate(node) if level + 1 < lattice.sizes[a]
            )
    return sorted(found), known


def _unmeetable(lattice: LevelLattice) -> Unmeetable:
    table = lattice.table
    return Unmeetable(
        f"incognito cannot meet the policy: at every level more of the {count(table.records, table.noun)} would have "
        f"to be suppressed than the {lattice.allowed:,} that the limit allows; {WAYS_OUT}"
    )
