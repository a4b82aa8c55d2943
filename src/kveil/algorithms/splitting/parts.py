"""A component of a table divided into parts, each of which satisfies every model: what Mondrian and others split."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kveil.algorithms.component import SearchComponent, everyone_as_one
from kveil.algorithms.costs import weighted_losses
from kveil.algorithms.limits import MamGroups, codes_at_limits, mam_groups
from kveil.algorithms.neighbourhoods import come_by_runs, runs_of, shortest_run
from kveil.algorithms.splitting.layout import lay_trees
from kveil.algorithms.stars import can_show_stars, give_away, star_nodes, star_spans, without_part
from kveil.arrays import Bools, Floats, Ints, Longs
from kveil.kernels.grouping.members import members_by_group
from kveil.kernels.splitting.mondrian import split
from kveil.kernels.threads import each_in_threads
from kveil.models.distributions import Close
from kveil.models.groups import GroupModel, Groups, Pairs, one_group
from kveil.models.packed import needs_of, values_of
from kveil.models.subset import maximal_anonymous_subset
from kveil.table.solution import Shown
from kveil.table.tree import Tree

AHEAD = 1 << 18  # cells that are looked up at once for tuples that wait


@dataclass
class ComponentParts:
    """The parts of one component: every tuple's part (-1: suppressed), and the span each part shows."""

    part: Ints
    low: Ints  # attribute of the component × part
    high: Ints
    split: bool = True  # each part holds alone; where not, parts hold together with others of equal values

    def copy(self) -> ComponentParts:
        """Return the same parts, to be changed by themselves."""
        return ComponentParts(self.part.copy(), self.low.copy(), self.high.copy(), self.split)

    def take_over(self, other: ComponentParts) -> None:
        """Become what other parts are."""
        self.part, self.low, self.high, self.split = other.part, other.low, other.high, other.split


class Splitter:
    """Divides one component of a table into parts, on its own columns.

    ``whole_table`` has how many of the whole table have each sensitive value, where the component's table is a part of
    one that was cut before.
    """

    def __init__(
        self,
        component: SearchComponent,
        pairs: Mapping[str, Pairs],
        weights: Longs,
        *,
        whole_table: Mapping[str, Longs] | None = None,
    ) -> None:
        self.component = component
        self.table = component.table
        self.positions = component.positions
        self.models = component.models
        self.sensitive = component.sensitive
        self.pairs = component.pairs_of(pairs)
        self.low, self.high = component.spans()
        self.weights = weights
        self.whole_table = whole_table

    @cached_property
    def mam(self) -> MamGroups:
        """The groups of tuples that share all their limits."""
        least = self.component.least_members
        return mam_groups(self.table, self.positions, self.low, self.high, self.weights, least)

    @property
    def why(self) -> str:
        """Why rows are suppressed that no part can hold."""
        return f"too rare over {', '.join(self.component.names)} within its boundaries"

    def dissolve(self, parts: ComponentParts) -> None:
        """Give the tuples of parts that would show nothing but stars to others.

        What stays behind is lost. So, where sensitive values decide who may join, whole runs of neighbours do.
        """
        moving = _Neighbours(self, parts).moving
        if moving is None:
            return
        before = parts.copy()

        def attempt(splitter: Splitter, offered: Bools) -> Bools:
            parts.take_over(before.copy())
            waiting = [at for at, may in zip(moving, offered.tolist(), strict=True) if may]
            left = give_away(waiting, _Neighbours(splitter, parts, waiting=waiting).join, lambda left: set())
            return ~np.isin(moving, left)

        self.by_runs(np.array(moving, dtype=np.int64), attempt)

    def by_runs(self, tuples: Longs, attempt: Callable[[Splitter, Bools], Bools]) -> None:
        """Let tuples of lost parts find places, by whole runs where sensitive values have a say in it.

        ``attempt`` lets tuples into the parts of a splitter, from the start each time, and returns who found a place.
        """
        able = np.ones(len(tuples), dtype=bool)
        if self.component.counts_only:
            attempt(self, able)
            return
        able = attempt(type(self)(self.component.sizes_only(), {}, self.weights), able)
        distinct = self.table.distinct
        spans = [*distinct.low] if distinct.low is distinct.high else [*distinct.low, *distinct.high]
        run = runs_of([leaves[tuples] for leaves in spans], self.weights[tuples], shortest_run(self.table))
        come_by_runs(run, able, lambda offered: attempt(self, offered))

    def good(self, group: Ints, groups: int, weights: Longs) -> Bools:
        """Tell which groups of tuples satisfy every model by themselves."""
        return self.component.good(Groups(group, groups, weights, self.pairs))

    def judges(self, inside: Bools) -> list[GroupModel]:
        """Return the models, t-closeness with the distribution of the tuples that are in as its reference."""
        everyone = everyone_as_one(np.where(inside, self.weights, 0), self.pairs)
        return [model.against(everyone) if isinstance(model, Close) else model for model in self.models]

    def outside(self, alive: Bools) -> tuple[Bools, bool]:
        """Return the tuples whose MAM group can never hold, and whether the others may be split.

        Dropping some moves the reference of t-closeness, so until none fails. Where a model is over fewer
        attributes than the component, groups that fail alone may hold together; then exactly those outside the
        maximal anonymous subset are out, and what is left stays at its limits, where it holds.
        """
        group, groups = self.mam.group, self.mam.number
        kept = alive.copy()
        while True:
            bad = ~self.good(group, groups, np.where(kept, self.weights, 0))[group] & kept & (self.weights > 0)
            if not bad.any():
                return alive & ~kept, True
            if not self.component.over_everything:
                parts = self.unsplit(alive)
                star = self.stars(parts)[np.maximum(parts.part, 0)]
                at_limits = codes_at_limits(self.component.trees, self.low, self.mam)
                required = self.component.requirements(at_limits, taking_part=~star if star.any() else None)
                inside = maximal_anonymous_subset(required, np.where(alive, self.weights, 0), self.pairs, alive)
                return alive & ~inside, False
            kept &= ~bad

    def unsplit(self, alive: Bools) -> ComponentParts:
        """Show every tuple at its limits."""
        part = np.where(alive, self.mam.group, -1).astype(np.int32)
        return ComponentParts(part, self.mam.low.copy(), self.mam.high.copy(), split=False)

    def partition(self, alive: Bools, *, by_gain: bool) -> ComponentParts:
        """Divide the tuples that are in, MAM group by MAM group."""
        return self.split_down(alive, by_gain=by_gain)

    def split_down(self, alive: Bools, *, by_gain: bool, few: int = 0) -> ComponentParts:
        """Split the tuples that are in top-down; parts of at most ``few`` rows are not split further."""
        group, groups = self.mam.group, self.mam.number
        chosen = np.flatnonzero(alive)
        if not len(chosen):
            empty = np.zeros((len(self.positions), 0), dtype=np.int32)
            return ComponentParts(np.full(len(alive), -1, dtype=np.int32), empty, empty)
        by_group, starts = members_by_group(group[chosen], groups).without_empty()
        order = chosen[by_group].astype(np.int32)
        return self._split(order, starts, np.where(alive, self.weights, 0), by_gain=by_gain, few=few)

    def split_as_one(self, *, by_gain: bool, few: int = 0) -> ComponentParts:
        """Split all tuples top-down, beginning with one part; whoever calls knows that it holds."""
        everyone = np.arange(len(self.weights), dtype=np.int32)
        starts = np.array([0, len(everyone)], dtype=np.int64)
        return self._split(everyone, starts, self.weights, by_gain=by_gain, few=few)

    def _split(self, order: Ints, starts: Longs, alive: Longs, *, by_gain: bool, few: int) -> ComponentParts:
        made = split(
            self.low,
            self.high,
            self.weights,
            lay_trees(self.table, self.positions),
            needs_of(self.models, self.sensitive),
            values_of(self.table, self.pairs, self.models, alive, whole_table=self.whole_table),
            order,
            starts,
            by_gain,
            few,
        )
        parts = len(made.ends) - 1
        part = np.full(len(self.weights), -1, dtype=np.int32)
        part[made.order] = np.repeat(np.arange(parts, dtype=np.int32), np.diff(made.ends))
        return ComponentParts(part, made.low, made.high)

    def stars(self, parts: ComponentParts) -> Bools:
        """Return the parts of stars that the component's models do not count."""
        return without_part(self.table, star_spans(self.component.trees, parts.low, parts.high))

    def in_the_way(self, parts: ComponentParts) -> Bools:
        """Return the tuples of stars without which other parts fail.

        Only where a model compares parts with all that take part, as t-closeness does: parts were split against a
        whole in which the rows of stars were still counted.
        """
        nothing = np.zeros(len(parts.part), dtype=bool)
        if not parts.split or all(model.local for model in self.models):
            return nothing
        star = self.stars(parts)
        if not star.any():
            return nothing
        of_tuple = np.maximum(parts.part, 0)
        counted = np.where((parts.part >= 0) & ~star[of_tuple], self.weights, 0)
        holds = self.good(of_tuple, len(star), counted).all()
        return nothing if holds else star[of_tuple] & (parts.part >= 0)

    def park(self, parts: ComponentParts, parked: Bools) -> ComponentParts:
        """Add tuples that show nothing but stars as a part of their own."""
        if not parked.any():
            return parts
        part = np.where(parked, parts.low.shape[1], parts.part).astype(np.int32)
        leaves = [tree.leaves for tree in self.component.trees]
        low = np.column_stack([parts.low, np.zeros(len(leaves), dtype=np.int32)])
        high = np.column_stack([parts.high, np.array(leaves, dtype=np.int32) - 1])
        return ComponentParts(part, low, high, parts.split)

    def shown(self, parts: ComponentParts, member: Ints) -> list[Shown]:
        """Return what every row shows in the component's attributes; suppressed rows show anything."""
        part = parts.part[member]

        def covering(a: int) -> Shown:
            return Shown.covering(self.component.trees[a], parts.low[a], parts.high[a], part)

        return each_in_threads(covering, range(len(self.positions)), len(part))


@dataclass(frozen=True)
class _Ahead:
    """Tuples that wait, the first one's turn, and what parts would show with each of them: see `_Neighbours`."""

    first: int
    tuples: Longs
    nodes: Ints
    losses: Floats
    stars: Bools


class _Neighbours:
    """Parts that may take in the tuples of parts that would show nothing but stars.

    A row of stars counts as suppressed, so a wider neighbour is better than a part of its own. A part takes a tuple
    only if they share all maximum allowed values and it goes on satisfying every model and shows something still; of
    those the one whose loss grows least, of equals the first. ``moving`` are the tuples in canonical order, None where
    nothing can be done. ``waiting`` are those that will ask to join, in that order: what parts would show with them is
    looked up for many at once, and again only for a part that shows something else since.
    """

    def __init__(self, splitter: Splitter, parts: ComponentParts, *, waiting: Sequence[int] = ()) -> None:
        self.splitter = splitter
        self.parts = parts
        self.waiting = np.array(waiting, dtype=np.int64)
        self.turn = {at: turn for turn, at in enumerate(waiting)}
        self.ahead: _Ahead | None = None
        self.moving: list[int] | None = None
        self.trees = [tree for tree in splitter.component.trees if isinstance(tree, Tree)]
        if len(self.trees) < len(splitter.positions) or not can_show_stars(self.trees) or parts.low.shape[1] < 2:
            return
        self.lost = star_spans(self.trees, parts.low, parts.high)
        if not self.lost.any() or self.lost.all():
            return
        self.nodes = self._nodes(parts.low, parts.high)
        moving = np.flatnonzero(self.lost[np.maximum(parts.part, 0)] & (parts.part >= 0))
        self.moving = moving[np.lexsort(tuple(reversed(list(splitter.low[:, moving]))))].tolist()
        inside = parts.part >= 0
        number = parts.low.shape[1]
        self.weight: Floats = np.bincount(parts.part[inside], splitter.weights[inside], number).astype(np.float64)
        self.group_of = np.full(number, -1, dtype=np.int32)
        self.group_of[parts.part[inside]] = splitter.mam.group[inside]
        self.losses = [weighted_losses(splitter.table, position) for position in splitter.positions]
        self.now = self._losses(self.nodes)
        self.judges = splitter.judges(inside)
        self.members: dict[int, array[int]] = {}  # arrays, of which NumPy makes its own without a look at each number
        for at, part in zip(np.flatnonzero(inside).tolist(), parts.part[inside].tolist(), strict=True):
            self.members.setdefault(part, array("q")).append(at)

    def _nodes(self, low: Ints, high: Ints) -> Ints:
        return np.array([tree.lca(low[a], high[a]) for a, tree in enumerate(self.trees)]).reshape(low.shape)

    def _losses(self, nodes: Ints) -> Floats:
        return np.array([loss[nodes[a]] for a, loss in enumerate(self.losses)]).reshape(nodes.shape)

    def _with(self, tuples: Longs, parts: slice) -> tuple[Ints, Floats, Bools]:
        """Return what parts would show with each of some tuples, what a cell of that loses, and where it is all stars.

        The first two attribute × tuple × part, the last tuple × part.
        """
        low = np.minimum(self.parts.low[:, None, parts], self.splitter.low[:, tuples, None])
        high = np.maximum(self.parts.high[:, None, parts], self.splitter.high[:, tuples, None])
        nodes = self._nodes(low, high)
        stars = star_nodes(self.trees, nodes.reshape(len(nodes), -1)).reshape(nodes.shape[1:])
        return nodes, self._losses(nodes), stars

    def _look_ahead(self, at: int) -> tuple[_Ahead, int]:
        """Return what parts would show with a tuple that waits, as one of many, and its place among these."""
        number = max(1, AHEAD // self.nodes.size)
        first = self.turn[at] // number * number
        if self.ahead is None or self.ahead.first != first:
            tuples = self.waiting[first : first + number]
            self.ahead = _Ahead(first, tuples, *self._with(tuples, slice(None)))
        return self.ahead, self.turn[at] - first

    def join(self, at: int) -> bool:
        """Let a tuple that waits join a part, if one can take it."""
        parts, splitter = self.parts, self.splitter
        ahead, place = self._look_ahead(at)
        own = splitter.weights[at]
        more = np.zeros(parts.low.shape[1])
        for growth in ahead.losses[:, place] * (self.weight + own) - self.now * self.weight:
            more += growth
        closed = self.lost | ahead.stars[place] | (self.weight == 0)
        more[closed | (self.group_of != splitter.mam.group[at])] = np.inf
        for target in np.argsort(more, kind="stable").tolist():
            if not np.isfinite(more[target]):
                return False
            joined = np.append(self.members[target], at)
            group = one_group(joined, splitter.weights, splitter.pairs)
            if all(model.good(group)[0] for model in self.judges):
                self.members[int(parts.part[at])].remove(at)
                self.members[target].append(at)
                parts.part[at] = target
                parts.low[:, target] = np.minimum(parts.low[:, target], splitter.low[:, at])
                parts.high[:, target] = np.maximum(parts.high[:, target], splitter.high[:, at])
                self.weight[target] += own
                self._show(target, ahead.nodes[:, place, target], ahead)
                return True
        return False

    def _show(self, target: int, nodes: Ints, ahead: _Ahead) -> None:
        """Let a part show nodes. The lowest ones over it and a tuple depend on these alone, not on all it covers."""
        if (self.nodes[:, target] == nodes).all():
            return
        one = slice(target, target + 1)
        self.nodes[:, target] = nodes
        self.now[:, one] = self._losses(self.nodes[:, one])
        ahead.nodes[:, :, one], ahead.losses[:, :, one], ahead.stars[:, one] = self._with(ahead.tuples, one)
