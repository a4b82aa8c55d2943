"""Classfly's last step: records that are left over join records already set aside, which may widen for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kveil.algorithms.classfly.aside_groups import AsideGroups, equal_columns
from kveil.algorithms.classfly.classfly_component import Aside, ClassflyComponent
from kveil.algorithms.neighbourhoods import come_by_runs, runs_of, shortest_run
from kveil.algorithms.stars import can_show_stars
from kveil.arrays import Bools, Floats, Ints, Longs
from kveil.kernels.classfly.widening import price_groups
from kveil.stopping import check_deadline
from kveil.table.tree import Tree

PLACES = 1_000  # of values for a left-over tuple that are looked at, the cheapest
TRIES = 200  # of them, and of groups, that are tried where sensitive values have to be counted
MOSTLY = 2  # groups per group that still has records, up to which all of them are looked at
SPARSE = 64  # offers, of which one is looked at to guess what the cheapest cost
MOST_KEPT = 1 << 22  # nodes of trees for which it is kept what covers them


def take_in(part: ClassflyComponent, aside: Aside, *, widen: bool) -> int:
    """Let left-over tuples join records already set aside; return how many records did.

    A tuple first looks for values at which it falls, by every constraint, among records that are set aside as they
    are; else, if these may ``widen``, for groups to generalize over it, one after another the one that costs least.
    Tuples in canonical order, again and again while any of them is helped by the one before; of several places or
    groups the cheapest, then the first in the order of nodes. What would break a constraint is not done. Whoever stays
    left over is suppressed: where sensitive values decide who may join, whole runs of neighbours do, or nobody of them.
    O(groups · attributes) per tuple, and as much per try where sensitive values have to be counted.
    """
    waiting = np.flatnonzero(aside.left)
    if not len(waiting) or aside.left.all():
        return 0
    waiting = waiting[np.lexsort(tuple(reversed(list(part.leaf_nodes[:, waiting]))))]
    groups: AsideGroups
    before: Ints  # every tuple's group, before any has joined

    def attempt(under: ClassflyComponent, offered: Bools) -> Bools:
        nonlocal groups, before
        groups = AsideGroups(under, aside)
        before = groups.of.copy()
        _take_in(groups, waiting[offered], widen=widen)
        return np.asarray(groups.of[waiting] >= 0)

    everyone = np.ones(len(waiting), dtype=bool)
    if part.counts_only:
        attempt(part, everyone)
    else:
        run = runs_of([*part.leaf_nodes[:, waiting]], part.weights[waiting], shortest_run(part.table))
        able = attempt(part.sizes_only(), everyone)
        come_by_runs(run, able, lambda offered: attempt(part, offered))
    joined = int(part.weights[aside.left & (groups.of >= 0)].sum())
    aside.hold = part.counts_only and groups.all_hold()
    aside.left = groups.of < 0
    changed = np.flatnonzero(groups.of != before)
    aside.nodes[:, changed] = np.take(groups.shown, groups.of[changed], axis=1)
    return joined


def _take_in(groups: AsideGroups, waiting: Longs, *, widen: bool) -> None:
    """Let waiting tuples join the groups set aside, one after another, while any of them can.

    One that found no place is not tried again before another one has joined: it would find none again.
    """
    prices = _Prices(groups.part)
    joined = 0
    failed: dict[int, int] = {}  # how many had joined when a tuple last found no place
    before = len(waiting) + 1
    while 0 < len(waiting) < before:
        before = len(waiting)
        for at in waiting.tolist():
            if failed.get(at) == joined:
                continue
            check_deadline()
            chosen: list[int] = []
            shown = _fit(groups, at, prices.costs)
            for for_good in (False, True):
                if shown is None and widen:
                    chosen, shown = _Gathering(groups, at, prices, for_good=for_good).run()
            if shown is None:
                failed[at] = joined
            else:
                groups.join(at, chosen, shown)
                joined += 1
        waiting = waiting[groups.of[waiting] < 0]


def _fit(groups: AsideGroups, at: int, costs: list[Floats]) -> Ints | None:
    """Return the cheapest values at which a tuple joins others by every constraint, None where there are none."""
    part = groups.part
    on_way = [_way_up(tree, int(part.leaf_nodes[a, at])) for a, tree in enumerate(part.trees)]
    places: list[tuple[float, tuple[int, ...]]] = [(0.0, (-1,) * len(part.trees))]
    for constraint, values, total in zip(part.constraints, groups.values, groups.taking_part(), strict=True):
        over = constraint.over
        open_to = np.logical_and.reduce([on_way[a][values[i]] for i, a in enumerate(over)]) & (total > 0)
        known = [i for i, a in enumerate(over) if places[0][1][a] >= 0]
        by_known: dict[tuple[int, ...], list[list[int]]] = {}
        for value in values[:, open_to].T.tolist():
            by_known.setdefault(tuple(value[i] for i in known), []).append(value)
        found = []
        for _, place in places:
            for value in by_known.get(tuple(place[over[i]] for i in known), []):
                nodes = list(place)
                for a, node in zip(over, value, strict=True):
                    nodes[a] = node
                found.append((sum(float(costs[a][node]) for a, node in enumerate(nodes) if node >= 0), tuple(nodes)))
        places = sorted(found)[:PLACES]
        if not places:
            return None
    whole = np.array([place for _, place in places], dtype=np.int32).T
    if part.hides:
        whole = whole[:, ~part.stars(whole)]
    if part.more_is_safe:
        return whole[:, 0] if whole.shape[1] else None
    return next((shown for shown in whole.T[:TRIES] if groups.hold(at, [], shown)), None)


@dataclass(frozen=True)
class _Widened:
    """What every node of a tree would show together with a given one, and what that costs more.

    ``more`` is for each record at that node, ``own`` for each at the given one, infinite where it may not be.
    """

    node: Ints
    more: Floats
    own: Floats


class _Prices:
    """What showing nodes costs, and what widening does; that is kept, since few nodes are shown again and again."""

    def __init__(self, part: ClassflyComponent) -> None:
        self.part = part
        self.costs = [part.cost(a) for a in range(len(part.trees))]
        self.kept: dict[tuple[int, int], _Widened] = {}
        self.size = 0

    def over(self, a: int, shown: int) -> _Widened:
        """Return what nodes of an attribute would show together with one of them."""
        known = self.kept.get((a, shown))
        if known is not None:
            return known
        tree, cost, limit = self.part.trees[a], self.costs[a], self.part.limit_depth[a]
        both = _covering(tree, shown)
        own = cost[both] - cost[shown]
        own[tree.depth[both] < np.maximum(limit, limit[shown])] = np.inf
        self.size += len(both)
        if self.size > MOST_KEPT:
            self.kept.clear()
            self.size = len(both)
        self.kept[a, shown] = found = _Widened(both, cost[both] - cost, own)
        return found


class _Gathering:
    """Groups that are gathered, one after another, to be generalized over a left-over tuple together.

    Each time the cheapest group is taken that its neighbours can spare: by every constraint, those that showed the same
    as the group either are enough without it, or are none. A group whose wider values look the same to a constraint as
    before still counts for its neighbours there, so it can be spared; but a group that is gathered later may widen the
    values further, and then its neighbours are left alone. ``for_good`` asks for groups that can be spared in that case
    too, which finds a way where the cheapest groups lead to a dead end.
    """

    def __init__(self, groups: AsideGroups, at: int, prices: _Prices, *, for_good: bool) -> None:
        self.part = groups.part
        self.groups = groups
        self.at = at
        self.prices = prices
        self.for_good = for_good
        self.shown, self.size = self.part.leaf_nodes[:, at], int(self.part.weights[at])
        self.sizes, self.totals = groups.sizes, groups.totals  # without the chosen, as long as some are gathered
        if not self.part.counts_only:  # where the groups are asked meanwhile whether all of them hold
            self.sizes, self.totals = self.sizes.copy(), [total.copy() for total in self.totals]
        self.chosen: list[int] = []
        self.taken: list[int] = []  # how many records each of them has

    def run(self) -> tuple[list[int], Ints | None]:
        """Return the groups and the values that all of them show then; none where there are not enough."""
        try:
            return self._run()
        finally:
            for group, size in zip(self.chosen, self.taken, strict=True):
                self._count(group, size)

    def _count(self, group: int, size: int) -> None:
        for number, total in zip(self.groups.number, self.totals, strict=True):
            total[number[group]] += size
        self.sizes[group] += size

    def _run(self) -> tuple[list[int], Ints | None]:
        part, groups = self.part, self.groups
        near = np.flatnonzero(self.sizes)
        if len(near) * MOSTLY > len(self.sizes):  # laying most of them side by side takes longer than passing over some
            near = np.arange(len(self.sizes))
        tries = TRIES
        while True:
            check_deadline()
            here = np.take(groups.shown, near, axis=1) if len(near) < len(self.sizes) else groups.shown
            looked_at, offers, wider = self._spared(near, here)
            best = 0
            if not part.counts_only:
                trials = [(i, int(near[offer]), wider[:, i]) for i, offer in enumerate(offers[:tries].tolist())]
                good = (
                    i
                    for i, group, new in trials
                    if groups.spare(self.at, [*self.chosen, group], new, for_good=self.for_good)
                )
                best = next(good, len(offers))
                tries -= best + 1
            if best >= len(offers):
                return [], None
            self._take(int(near[offers[best]]), wider[:, best])
            near = near[looked_at]
            if self._enough() and (part.counts_only or groups.hold(self.at, self.chosen, self.shown)):
                return self.chosen, self.shown

    def _take(self, group: int, shown: Ints) -> None:
        size = int(self.sizes[group])
        self.shown = shown
        self.chosen.append(group)
        self.taken.append(size)
        self.size += size
        self._count(group, -size)

    def _spared(self, near: Longs, here: Ints) -> tuple[Longs, Longs, Ints]:
        """Return who was looked at, the groups that can be spared, cheapest first, and what each would show.

        Of very many only the ``PLACES`` cheapest are looked at, unless none of these can be spared.
        """
        covering, price = self._offers(here, self.sizes if len(near) == len(self.sizes) else self.sizes[near])
        for most in (PLACES, len(near)):
            looked_at = _cheapest(price, most)
            wider = np.array([both[nodes[looked_at]] for both, nodes in zip(covering, here, strict=True)])
            spare = self._can_go(near[looked_at], wider)
            if spare.any():
                break
        offers, wider = looked_at[spare], wider[:, spare]
        ranked = np.lexsort((*reversed(list(np.take(self.groups.shown, near[offers], axis=1))), price[offers]))
        return looked_at, offers[ranked], wider[:, ranked]

    def _offers(self, nodes: Ints, sizes: Longs) -> tuple[list[Ints], Floats]:
        """Return what groups would show together with those gathered so far, and what that costs.

        The first per attribute, for every node a group may show; the cost is infinite where it may not be.
        """
        part = self.part
        widened = [self.prices.over(a, int(shown)) for a, shown in enumerate(self.shown)]
        covering, more = [own.node for own in widened], [own.more for own in widened]
        hides = part.hides and can_show_stars(part.trees)
        return covering, price_groups(nodes, sizes, covering, more, [own.own * self.size for own in widened], hides)

    def _can_go(self, near: Longs, wider: Ints) -> Bools:
        """Tell which groups can go and show wider values with the chosen: by every k, none too few stay behind."""
        groups = self.groups
        spare = np.ones(len(near), dtype=bool)
        for j, (constraint, total) in enumerate(zip(self.part.constraints, self.totals, strict=True)):
            new = wider[constraint.over]
            number = groups.number[j][near]
            rest = total[number] - self.sizes[near]
            short = np.flatnonzero((rest > 0) & (rest < constraint.k))
            spare[short] &= self._still_shown(j, number[short], new[:, short])
            for old in {int(groups.number[j][group]) for group in self.chosen}:
                if 0 < total[old] < constraint.k:  # those who go from there themselves were looked at above
                    spare &= (number == old) | self._still_shown(j, np.full(len(near), old), new)
        return spare

    def _still_shown(self, j: int, number: Ints | Longs, new: Ints) -> Bools:
        """Tell which of some wider values look the same to a constraint as what was shown before."""
        if self.for_good:
            return np.zeros(len(number), dtype=bool)
        return np.asarray((self.groups.values[j][:, number] == new).all(axis=0))

    def _enough(self) -> bool:
        """Tell whether those gathered are enough for every k, with others that show the same already."""
        for constraint, values, total in zip(self.part.constraints, self.groups.values, self.totals, strict=True):
            if self.size < constraint.k:
                same = equal_columns(values, self.shown[constraint.over])
                if self.size + int(total[same].sum()) < constraint.k:
                    return False
        return True


def _cheapest(price: Floats, most: int) -> Longs:
    """Return the cheapest so many offers that are possible, with all that cost as much as the last of them."""
    for bound in (_about(price, most), np.inf):
        offers = np.flatnonzero(price <= bound if bound < np.inf else price < np.inf)
        if len(offers) >= most or bound == np.inf:
            break
    if len(offers) <= most:
        return offers
    last = np.partition(price[offers], most - 1)[most - 1]
    return np.asarray(offers[price[offers] <= last])


def _about(price: Floats, most: int) -> float:
    """Return what the cheapest so many offers, or some more, probably cost at most, by a sample of them."""
    sample = price[::SPARSE]
    place = 4 * (most // SPARSE + 1)
    return float(np.partition(sample, place)[place]) if place < len(sample) else np.inf


def _way_up(tree: Tree, node: int) -> Bools:
    """Tell which nodes lie on a node's way up to its limit, both included."""
    way = np.zeros(len(tree.labels), dtype=bool)
    way[tree.way_up(node, int(tree.limit_of_node[node]))] = True
    return way


def _covering(tree: Tree, node: int) -> Ints:
    """Return for every node of a tree the lowest node above it and a given one, each being above itself."""
    nodes: Ints = np.arange(len(tree.labels), dtype=np.int32)
    covering = np.zeros_like(nodes)
    for above in reversed(tree.way_up(node, 0)):
        inside = (tree.first >= tree.first[above]) & (tree.last <= tree.last[above]) & (nodes >= above)
        covering[inside] = above
    return covering
