"""Classfly's last step: records that are left over join records already set aside, which may widen for them."""

from __future__ import annotations

import numpy as np

from kveil.algorithms.classfly.part import Aside, ClassflyComponent, only
from kveil.algorithms.neighbourhoods import come_by_runs, runs_of, shortest_run
from kveil.algorithms.stars import can_show_stars, without_part
from kveil.arrays import Bools, Floats, Ints, Longs
from kveil.kernels.classfly.widening import price_groups
from kveil.kernels.grouping.groups import add_up, group_rows
from kveil.models.groups import Pairs
from kveil.table.tree import Tree

PLACES = 1_000  # of values for a left-over tuple that are looked at, the cheapest
TRIES = 200  # of them, and of groups, that are tried where sensitive values have to be counted


class _AsideGroups:
    """The groups of equal values among the tuples set aside, and for every constraint the values they show to it."""

    def __init__(self, part: ClassflyComponent, aside: Aside) -> None:
        self.part = part
        inside = np.flatnonzero(~aside.left)
        group, first = group_rows(aside.nodes[:, inside])
        self.shown = aside.nodes[:, inside[first]]
        self.sizes = add_up(group, part.weights[inside], len(first))
        self.of = np.full(len(aside.left), -1, dtype=np.int32)  # every tuple's group, -1 where it is left over
        self.of[inside] = group
        self.number: list[Ints] = []  # for every constraint the number of what every group shows to it
        self.values: list[Ints] = []  # what that is
        self.totals: list[Longs] = []  # how many records show it
        for constraint in part.constraints:
            mine = self.shown[constraint.over]
            number, first = group_rows(mine)
            self.number.append(number)
            self.values.append(mine[:, first])
            self.totals.append(add_up(number, self.sizes, len(first)))

    def join(self, at: int, groups: list[int], shown: Ints) -> None:
        """Let a left-over tuple and groups show the same."""
        same = np.flatnonzero((self.shown == shown[:, None]).all(axis=0))
        new = int(same[0]) if len(same) else self._add(shown)
        moving = [group for group in groups if group != new]
        for number, total in zip(self.number, self.totals, strict=True):
            np.subtract.at(total, number[moving], self.sizes[moving])
            total[number[new]] += int(self.sizes[moving].sum()) + int(self.part.weights[at])
        self.of[np.isin(self.of, moving)] = new
        self.of[at] = new
        self.sizes[new] += int(self.sizes[moving].sum()) + int(self.part.weights[at])
        self.sizes[moving] = 0

    def _add(self, shown: Ints) -> int:
        self.shown = np.concatenate([self.shown, shown[:, None]], axis=1)
        self.sizes = np.append(self.sizes, 0)
        for j, constraint in enumerate(self.part.constraints):
            mine = shown[constraint.over][:, None]
            known = np.flatnonzero((self.values[j] == mine).all(axis=0))
            if not len(known):
                known = np.array([self.values[j].shape[1]])
                self.values[j] = np.concatenate([self.values[j], mine], axis=1)
                self.totals[j] = np.append(self.totals[j], 0)
            self.number[j] = np.append(self.number[j], known.astype(np.int32))
        return len(self.sizes) - 1

    def taking_part(self) -> list[Longs]:
        """Return how many records show each value, without rows of stars where these take no part."""
        stars = np.flatnonzero(without_part(self.part.table, self.part.stars(self.shown)))
        if not len(stars):
            return self.totals
        found = [total.copy() for total in self.totals]
        for number, total in zip(self.number, found, strict=True):
            total[number[stars]] -= self.sizes[stars]
        return found

    def hold(self, at: int, groups: list[int], shown: Ints) -> bool:
        """Tell whether everything holds once a tuple and groups show the same."""
        return self.part.holds(*self._with(at, groups, shown))

    def spare(self, at: int, groups: list[int], shown: Ints, *, for_good: bool) -> bool:
        """Tell whether everything else holds once a tuple and groups show the same, or are gone for good."""
        nodes, weights, pairs = self._with(at, groups, shown)
        if for_good:
            weights[[*groups, -1]] = 0
        return self.part.holds(nodes, weights, pairs, but_last=True)

    def _with(self, at: int, groups: list[int], shown: Ints) -> tuple[Ints, Longs, dict[str, Pairs]]:
        nodes = np.concatenate([self.shown, shown[:, None]], axis=1)
        nodes[:, groups] = shown[:, None]
        number = self.of.copy()
        number[at] = len(self.sizes)
        pairs = {name: only(own, number) for name, own in self.part.pairs.items()}
        return nodes, np.append(self.sizes, self.part.weights[at]), pairs


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
    groups = _AsideGroups(part, aside)

    def attempt(under: ClassflyComponent, offered: Bools) -> Bools:
        nonlocal groups
        groups = _AsideGroups(under, aside)
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
    aside.left = groups.of < 0
    aside.nodes[:, ~aside.left] = groups.shown[:, groups.of[~aside.left]]
    return joined


def _take_in(groups: _AsideGroups, waiting: Longs, *, widen: bool) -> None:
    """Let waiting tuples join the groups set aside, one after another, while any of them can."""
    part = groups.part
    costs = [part.cost(a) for a in range(len(part.trees))]
    before = len(waiting) + 1
    while 0 < len(waiting) < before:
        before = len(waiting)
        for at in waiting.tolist():
            chosen: list[int] = []
            shown = _fit(part, groups, at, costs)
            for for_good in (False, True):
                if shown is None and widen:
                    chosen, shown = _Gathering(groups, at, costs, for_good=for_good).run()
            if shown is not None:
                groups.join(at, chosen, shown)
        waiting = waiting[groups.of[waiting] < 0]


def _fit(part: ClassflyComponent, groups: _AsideGroups, at: int, costs: list[Floats]) -> Ints | None:
    """Return the cheapest values at which a tuple joins others by every constraint, None where there are none."""
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


class _Gathering:
    """Groups that are gathered, one after another, to be generalized over a left-over tuple together.

    Each time the cheapest group is taken that its neighbours can spare: by every constraint, those that showed the same
    as the group either are enough without it, or are none. A group whose wider values look the same to a constraint as
    before still counts for its neighbours there, so it can be spared; but a group that is gathered later may widen the
    values further, and then its neighbours are left alone. ``for_good`` asks for groups that can be spared in that case
    too, which finds a way where the cheapest groups lead to a dead end.
    """

    def __init__(self, groups: _AsideGroups, at: int, costs: list[Floats], *, for_good: bool) -> None:
        self.part = groups.part
        self.groups = groups
        self.at = at
        self.costs = costs
        self.for_good = for_good
        self.shown, self.size = self.part.leaf_nodes[:, at], int(self.part.weights[at])
        self.sizes = groups.sizes.copy()  # without the chosen, as are the totals
        self.totals = [total.copy() for total in groups.totals]
        self.chosen: list[int] = []

    def run(self) -> tuple[list[int], Ints | None]:
        """Return the groups and the values that all of them show then; none where there are not enough."""
        part, groups = self.part, self.groups
        near = np.flatnonzero(self.sizes)
        tries = TRIES
        while True:
            here = groups.shown[:, near] if len(near) < len(self.sizes) else groups.shown
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
        self.shown = shown
        self.chosen.append(group)
        self.size += int(self.sizes[group])
        for number, total in zip(self.groups.number, self.totals, strict=True):
            total[number[group]] -= self.sizes[group]
        self.sizes[group] = 0

    def _spared(self, near: Longs, here: Ints) -> tuple[Ints, Ints, Ints]:
        """Return who was looked at, the groups that can be spared, cheapest first, and what each would show.

        Of very many only the ``PLACES`` cheapest are looked at, unless none of these can be spared.
        """
        covering, price = self._offers(here, self.sizes[near])
        possible = np.flatnonzero((price < np.inf) & (self.sizes[near] > 0))
        for most in (PLACES, len(possible)):
            looked_at = _cheapest(possible, price, most)
            wider = np.array([both[nodes[looked_at]] for both, nodes in zip(covering, here, strict=True)])
            spare = self._can_go(near[looked_at], wider)
            if spare.any():
                break
        offers, wider = looked_at[spare], wider[:, spare]
        ranked = np.lexsort((*reversed(list(self.groups.shown[:, near[offers]])), price[offers]))
        return looked_at, offers[ranked], wider[:, ranked]

    def _offers(self, nodes: Ints, sizes: Longs) -> tuple[list[Ints], Floats]:
        """Return what groups would show together with those gathered so far, and what that costs.

        The first per attribute, for every node a group may show; the cost is infinite where it may not be.
        """
        part, costs = self.part, self.costs
        covering: list[Ints] = []
        more: list[Floats] = []
        own: list[Floats] = []
        for a, tree in enumerate(part.trees):
            shown = int(self.shown[a])
            both = _covering(tree, shown)
            limit = part.limit_depth[a]
            covering.append(both)
            more.append(costs[a][both] - costs[a])
            own.append((costs[a][both] - costs[a][shown]) * self.size)
            own[a][tree.depth[both] < np.maximum(limit, limit[shown])] = np.inf
        hides = part.hides and can_show_stars(part.trees)
        return covering, price_groups(nodes, sizes, covering, more, own, hides)

    def _can_go(self, near: Longs, wider: Ints) -> Bools:
        """Tell which groups can go and show wider values with the chosen: by every k, none too few stay behind."""
        groups = self.groups
        spare = np.ones(len(near), dtype=bool)
        for j, (constraint, total) in enumerate(zip(self.part.constraints, self.totals, strict=True)):
            new = wider[constraint.over]
            number = groups.number[j][near]
            for group in (None, *self.chosen):
                old = number if group is None else groups.number[j][group]
                rest = total[old] - np.where(number == old, self.sizes[near], 0)
                enough = (rest == 0) | (rest >= constraint.k)
                if not self.for_good:
                    enough |= (groups.values[j][:, old].reshape(len(new), -1) == new).all(axis=0)
                spare &= enough
        return spare

    def _enough(self) -> bool:
        """Tell whether those gathered are enough for every k, with others that show the same already."""
        for constraint, values, total in zip(self.part.constraints, self.groups.values, self.totals, strict=True):
            if self.size < constraint.k:
                same = (values == self.shown[constraint.over][:, None]).all(axis=0)
                if self.size + int(total[same].sum()) < constraint.k:
                    return False
        return True


def _cheapest(possible: Ints, price: Floats, most: int) -> Ints:
    """Return the cheapest of some offers, with all that cost as much as the last of them."""
    if len(possible) <= most:
        return possible
    last = np.partition(price[possible], most - 1)[most - 1]
    return np.asarray(possible[price[possible] <= last])


def _way_up(tree: Tree, node: int) -> Bools:
    """Tell which nodes lie on a node's way up to its limit, both included."""
    way = np.zeros(len(tree.labels), dtype=bool)
    way[node] = True
    while not tree.limit[node]:
        node = int(tree.parent[node])
        way[node] = True
    return way


def _covering(tree: Tree, node: int) -> Ints:
    """Return for every node of a tree the lowest node above it and a given one, each being above itself."""
    way = [node]
    while way[-1]:
        way.append(int(tree.parent[way[-1]]))
    nodes: Ints = np.arange(len(tree.labels), dtype=np.int32)
    covering = np.zeros_like(nodes)
    for above in reversed(way):
        inside = (tree.first >= tree.first[above]) & (tree.last <= tree.last[above]) & (nodes >= above)
        covering[inside] = above
    return covering
