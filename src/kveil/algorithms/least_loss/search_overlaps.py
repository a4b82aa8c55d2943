"""Several constraints with overlapping attributes: what every row shows, with the classes of each constraint counted.

Descent: a proposal gives some rows a cheaper value each and is trimmed until every class of every constraint holds:
entrants of a class that would be new and too small are refused, leavers of one that would become too small are kept.
Search: a row is moved to something cheaper, with those that can go with it, and what that breaks is repaired at the
least cost, by rows that come in or by rows that climb; it is kept where nothing is dearer and every class holds. Rows
that are suppressed take part as rows that cost everything and are in no class: they can only come in.
Small tables in which sizes decide are solved as an integer program, to the optimum or nearly so.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from math import prod

import numpy as np

from kveil.algorithms.costs import NodeCosts
from kveil.algorithms.least_loss.overlap_columns import lay_out_columns, may_be_alone, shown_spans
from kveil.algorithms.least_loss.refine_options import NORMAL, tries_in_overlaps
from kveil.algorithms.least_loss.state import RefinedComponent, Watch, plain_size
from kveil.algorithms.program import SURE, Division, ProgramTree, SizeConstraint, kinds_of, program_of
from kveil.algorithms.small_tables import MOST_PROGRAM_NODES, MOST_PROGRAM_OPTIONS, MOST_PROGRAM_ROWS
from kveil.arrays import Ints
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.kernels.least_loss.overlaps import (
    InvalidStart,
    OverlapLayouts,
    climbs_of,
    holds_everywhere,
    new_overlap_state,
    new_work,
    offer,
    try_moves,
)
from kveil.kernels.least_loss.overlaps_layout import Constraints, ShownRows
from kveil.kernels.models.layout import Models, new_models, no_models
from kveil.models.distributions import Close
from kveil.models.groups import AtLeastK, GroupModel
from kveil.models.packed import needs_of, values_of
from kveil.table.scale import Scale
from kveil.table.solution import Shown, Solution

Proposal = tuple[float, tuple[int, ...], tuple[int, ...]]

MOST_VECTORS = 1_500  # depth vectors of a set of attributes that are all proposed; more are drawn by chance
FEWEST_VECTORS = 60
SWEEPS = 20  # over all proposals, at most
MOST_LOOKS = 40_000_000  # rows times proposals of a sweep
LOOKS = 120_000  # rows times proposals between two looks at the clock
CHUNK = 200  # tries between two looks at the clock
FEWER_ABOVE = 75  # k above which a try is dearer, so that there are fewer
SMALL_GAIN = 1000  # a sweep that gains less than this part is the last; where tries follow, than a larger one
SMALL_BEFORE_TRIES = 20
NARROWED = 12  # times that spans of numbers are narrowed between tries
OPTIONS = 120  # what the rows of a program may show in all, with the tries of `normal`; with more tries it is more


class OverlapSearch:
    """The search of one component whose constraints are over different attributes."""

    def __init__(
        self, refined: RefinedComponent, costs: NodeCosts, watch: Watch, solution: Solution, outside: Ints
    ) -> None:
        self.refined = refined
        self.watch = watch
        outside = outside[may_be_alone(refined, outside)]
        frozen = refined.parked[~np.isin(refined.parked, outside)]  # they are in classes, and stay as they are
        self.inside = inside = len(refined.rows) + len(frozen)
        self.rows = np.concatenate([refined.rows, frozen, outside]).astype(np.int32)
        self.random = np.random.default_rng(np.random.SeedSequence([refined.table.policy.seed, refined.number]))
        out = np.zeros(len(self.rows), dtype=np.int32)
        out[inside:] = 1
        self.columns = lay_out_columns(refined, self.rows, inside, costs, solution)
        self.trees = self.columns.trees
        base, limit, nodes = self.columns.base, self.columns.limit, self.columns.nodes
        for ends in (base, limit):
            ends[len(refined.rows) : inside] = nodes[len(refined.rows) : inside]
        self.frozen = len(frozen) > 0
        nodes[out == 1] = limit[out == 1]
        self.models, sets = self._models()
        self.constraints = self._constraints(base, sets)
        word = int(self.random.integers(0, 2**63))
        self.state = new_overlap_state(base, limit, nodes, out, self.trees, self.constraints, word)
        self.work = new_work(base.shape[1], self.constraints)

    def _models(self) -> tuple[Models, list[tuple[list[int], int, int]]]:
        """Return the models that count values, and each set of attributes with its least size and number of them."""
        refined = self.refined
        members: dict[tuple[int, ...], list[GroupModel]] = {}
        for over, model in ((constraint.over, constraint.model) for constraint in refined.component.constraints):
            members.setdefault(tuple(sorted(over)), []).append(model)
        counted: list[GroupModel] = []
        sets = []
        for attributes, own in members.items():
            more = [model for model in own if not isinstance(model, AtLeastK)]
            counted += more
            sets.append((list(attributes), plain_size(own, refined.table), len(more)))
        if not counted:
            return no_models(), sets
        names = sorted({m.sensitive for m in counted if m.sensitive is not None})
        alive = np.ones(len(self.rows), dtype=np.int64)
        values = values_of(refined.table, refined.pairs(self.rows), counted, alive)
        return new_models(needs_of(counted, names), values), sets

    def _constraints(self, base: Ints, sets: list[tuple[list[int], int, int]]) -> Constraints:
        """Lay out the sets of attributes, each led by the one that tells most rows apart."""
        different = [len(np.unique(base[:, a])) for a in range(base.shape[1])]
        ordered = [sorted(own, key=lambda a: (-different[a], a)) for own, _, _ in sets]
        cells = np.zeros((len(sets), len(base), 1 + max(len(own) for own in ordered)), dtype=np.int32)
        for c, own in enumerate(ordered):
            leaves = self.trees.ints[field.FIRST][self.trees.at[own] + base[:, own]]
            order = np.lexsort(leaves.T[::-1])
            cells[c, :, 0] = order
            cells[c, :, 1 : 1 + len(own)] = leaves[order]
        return Constraints(
            np.cumsum([0, *(len(own) for own in ordered)]).astype(np.int64),
            np.array([a for own in ordered for a in own], dtype=np.int32),
            np.array([k for _, k, _ in sets], dtype=np.int64),
            np.cumsum([0, *(number for _, _, number in sets)]).astype(np.int64),
            cells,
        )

    @property
    def total(self) -> int:
        """What all rows cost together."""
        return int(self.state.counts[field.TOTAL])

    def valid(self) -> bool:
        """Tell whether every class of every constraint satisfies it."""
        return holds_everywhere(self.state, self.constraints, self.models)

    def active(self) -> Ints:
        """Return the rows that cost more than they would alone."""
        return np.flatnonzero(self.state.cost > self.state.least).astype(np.int32)

    # ------------------------------------------------------------------------------------------ descent

    def _means(self) -> list[list[float]]:
        """Return what rows would cost on average, for each attribute at each depth from the root down."""
        found = []
        for a in range(self.state.base.shape[1]):
            at = self.trees.at[a]
            depth, parent = self.trees.ints[field.DEPTH], self.trees.ints[field.PARENT]
            node, limit = self.state.base[:, a].copy(), self.state.limit[:, a]
            own = []
            for level in range(int(depth[at + node].max(initial=0)), -1, -1):
                while (high := (depth[at + node] > level) & (node != limit)).any():
                    node[high] = parent[at + node[high]]
                own.append(float(self.trees.cost[at + node].mean()))
            found.append(own[::-1])
        return found

    def _vectors(self, levels: list[int], most: int) -> list[tuple[int, ...]]:
        """Return vectors of depths, all of them or as many by chance."""
        if prod(levels) <= most:
            return list(itertools.product(*(range(own) for own in levels)))
        drawn = np.array([self.random.integers(0, own, most) for own in levels]).T
        return [tuple(vector) for vector in np.unique(drawn, axis=0).tolist()]

    def _proposals(self) -> Ints:
        """Return vectors of depths, the cheapest first: of all attributes, of each constraint's, and of single ones."""
        means = self._means()
        everything = tuple(range(len(means)))
        start, attribute = self.constraints.start, self.constraints.attribute
        own = [tuple(sorted(attribute[start[c] : start[c + 1]].tolist())) for c in range(len(self.constraints.k))]
        sets = list(dict.fromkeys([everything, *own, *((a,) for a in everything)]))
        most = MOST_LOOKS // max(len(self.active()), 1) // len(sets)
        most = min(MOST_VECTORS, max(most, FEWEST_VECTORS))
        found: list[Proposal] = []
        for over in sets:
            for vector in self._vectors([len(means[a]) for a in over], most):
                price = sum(means[a][depth] for a, depth in zip(over, vector, strict=True))
                found.append((price, over, vector))
        found.sort()
        depths = np.full((len(found), len(means)), -1, dtype=np.int32)
        for i, (_, over, vector) in enumerate(found):
            depths[i, list(over)] = vector
        return depths

    @property
    def laid(self) -> OverlapLayouts:
        """What moves are handed, as it stands now."""
        return OverlapLayouts(self.state, self.trees, self.constraints, self.models, self.work)

    def descend(self, *, tries_follow: bool = False) -> None:
        """Propose everything, cheapest first, then in random order, until little moves."""
        if not len(self.active()):
            return
        proposals = self._proposals()
        climbs = climbs_of(self.state.base, self.state.limit, self.trees)
        for _ in range(SWEEPS):
            before = self.total
            active = self.active()
            together = max(LOOKS // max(len(active), 1), 1)
            for begin in range(0, len(proposals), together):
                if self.watch.over() or not len(active):
                    return
                offer(self.laid, climbs, proposals[begin : begin + together], active, hides=self.refined.hides)
                active = self.active()  # rows only become cheaper: who is not among them would not move
                self.watch.tell(self.total)
            self.narrow()
            if before - self.total <= before // (SMALL_BEFORE_TRIES if tries_follow else SMALL_GAIN):
                return
            self.random.shuffle(proposals)

    # ------------------------------------------------------------------------------------------ small tables

    def solve(self, tries_per_row: float) -> bool:
        """Solve a small table as a program, if sizes decide; tell whether what is shown is the optimum now."""
        component = self.refined.component
        if len(self.rows) > MOST_PROGRAM_ROWS or not component.counts_only or not component.trees_only or self.frozen:
            return False
        ends = [*self.trees.at[1:].tolist(), self.trees.ints.shape[1]]
        trees = []
        for begin, end in zip(self.trees.at.tolist(), ends, strict=True):
            stars = np.flatnonzero(self.trees.ints[field.STAR, begin:end])
            star = int(stars[0]) if self.refined.hides and len(stars) else -1
            trees.append(ProgramTree(self.trees.ints[field.PARENT, begin:end], self.trees.cost[begin:end], star))
        depth = self.trees.ints[field.DEPTH]
        if (depth[self.trees.at + self.state.base] < depth[self.trees.at + self.state.limit]).any():
            return False  # rules have drawn limits below what some rows are: these stay as they are
        out = self.state.out.astype(np.int64)
        records = np.ones(len(out), dtype=np.int64)
        kinds, kind = kinds_of(self.state.base, self.state.limit, records, out, trees, self.trees.whole)
        bounds, attribute = itertools.pairwise(self.constraints.start.tolist()), self.constraints.attribute
        sizes = [
            SizeConstraint(tuple(attribute[begin:end].tolist()), k)
            for (begin, end), k in zip(bounds, self.constraints.k.tolist(), strict=True)
        ]
        program = program_of(kinds, sizes, int(min(OPTIONS * tries_per_row / NORMAL, MOST_PROGRAM_OPTIONS)))
        if program is None:
            return False
        answer = program.solve(int(out.sum()), MOST_PROGRAM_NODES, seconds=self.watch.stop.left)
        if answer.best is None:
            return False
        if answer.best.cost < self.total:
            self._show(answer.best, kind)
        return self.total - answer.at_least <= self.trees.whole * SURE * (2 + len(out))

    def _show(self, division: Division, kind: Ints) -> None:
        """Let the rows of every kind show its options; those that were outside come in last."""
        nodes, out = self.state.nodes.copy(), self.state.out.copy()
        for rows, vector in division.shared_out(np.argsort(out, kind="stable"), kind):
            nodes[rows], out[rows] = vector, 0
        self.state = self._state_of(nodes, out, int(self.random.integers(0, 2**63)))

    def _state_of(self, nodes: Ints, out: Ints, word: int) -> ShownRows:
        state = self.state
        return new_overlap_state(state.base, state.limit, nodes, out, self.trees, self.constraints, word)

    # ------------------------------------------------------------------------------------------ spans of numbers

    def narrow(self) -> None:
        """Let rows that show the same span of numbers show no more than covers them, where everything then holds."""
        if not self.columns.spans:
            return
        state = self.state
        inside = state.out == 0
        for merging in (True, False):  # classes that become one may fail a model
            nodes = self.columns.narrowed(state.nodes, inside, merging=merging)
            if (nodes == state.nodes).all():
                return
            self.state = self._state_of(nodes, state.out, int(state.random[0]))
            if self.valid():
                self.state.counts[[field.TRIES, field.KEPT]] = state.counts[[field.TRIES, field.KEPT]]
                return
        self.state = state

    # ------------------------------------------------------------------------------------------ search

    def run(self, tries_per_row: float) -> None:
        """Try to move rows that cost something, so many times per row."""
        k = int(self.constraints.k.max())
        left = round(tries_in_overlaps(tries_per_row) * len(self.rows) * min(1.0, FEWER_ABOVE / k))
        narrow_at = [left * part // NARROWED for part in range(NARROWED)]
        while left > 0 and len(self.active()) and not self.watch.over():
            number = min(CHUNK, left)
            try_moves(self.laid, number, hides=self.refined.hides)
            left -= number
            if left <= narrow_at[-1]:
                self.narrow()
                narrow_at.pop()
            self.watch.tell(self.total)
        self.watch.tries += int(self.state.counts[field.TRIES])
        self.watch.kept += int(self.state.counts[field.KEPT])

    def shown(self, solution: Solution) -> list[Shown]:
        """Return what every row shows; rows that take no part go on showing what they did."""
        inside = self.state.out == 0
        found = []
        for a, position in enumerate(self.refined.positions):
            old = solution.shown[position]
            tree = self.refined.table.trees[position]
            rows, nodes = self.rows[inside], self.state.nodes[inside, a]
            if isinstance(tree, Scale):
                found.append(shown_spans(tree, self.columns.spans[a], old, rows, nodes))
                continue
            codes = old.codes.copy()
            codes[rows] = nodes
            found.append(replace(old, codes=codes))
        return found

    def came_in(self) -> Ints:
        """Return the rows that were outside and are no longer."""
        inside = self.state.out == 0
        inside[: self.inside] = False
        return np.asarray(self.rows[inside])


def overlap_search_of(
    refined: RefinedComponent, costs: NodeCosts, watch: Watch, solution: Solution, coming: Ints
) -> OverlapSearch | None:
    """Return the search of a component into which rows may come, None where the start breaks a constraint."""
    try:
        overlap = OverlapSearch(refined, costs, watch, solution, coming if may_come_in(refined) else coming[:0])
    except InvalidStart:
        return None
    return overlap if overlap.valid() else None


def may_come_in(refined: RefinedComponent) -> bool:
    """Tell whether rows from outside can come in one by one.

    They cannot under t-closeness: each of them changes the distribution that all groups are measured against.
    """
    return not any(isinstance(model, Close) for model in refined.models)
