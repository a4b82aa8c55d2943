"""Classfly and Classfly+: records that satisfy their constraints are set aside, only the rest is generalized.

Yang, Liu, Wang, Yu, "K-anonymization approaches for supporting multiple constraints" (2006), seed 001. Where the
paper is silent: the loop also ends when nothing may move any more; what is left over beyond the suppression limit
is taken in by groups already set aside; a group that would show nothing but `*` is not set aside, since such rows
count as suppressed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from kveil.errors import Unmeetable, count
from kveil.kernels.groups import add_up, group_rows
from kveil.kernels.offers import price_groups
from kveil.measures import measure
from kveil.models.counts import AtLeastK, GroupModel, Groups, Pairs, Weights
from kveil.models.distributions import Close
from kveil.models.standing import Judge, Standing, Tuples, group_model
from kveil.models.subset import Requirement, maximal_anonymous_subset
from kveil.policy.constraints import Component, implied, most_suppressed
from kveil.policy.fields import Flag, PolicyPart
from kveil.table.encode import Table
from kveil.table.solution import Solution
from kveil.table.tree import Bools, Floats, Ints, Tree, star_rows

Filter = Literal["naive", "complete", "partial"]

PLACES = 1_000  # of values for a left-over tuple that are looked at, the cheapest
TRIES = 200  # of them, and of groups, that are tried where sensitive values have to be counted


class ClassflyOptions(PolicyPart):
    """Options of the Classfly family.

    join: let a record that is left over join records already set aside if, at their values, everything holds, even
    within the suppression limit; it never raises the loss. choose: `distinct` generalizes the attribute with the
    most distinct values, as in the paper; `gain` the one whose climb, of one step or more, sets most records aside
    for the loss it costs: mostly a lower loss, several times the time.
    """

    join: Flag = False
    choose: Literal["distinct", "gain"] = "distinct"


@dataclass(frozen=True)
class _Constraint:
    """A model over some attributes of its component, given as rows of the component's nodes."""

    over: list[int]
    model: GroupModel
    k: int


class _Part:
    """One component of a table: its columns, its constraints, and its distinct tuples with what they show."""

    def __init__(self, table: Table, component: Component, state: Tuples, kind: Filter) -> None:
        policy = table.policy
        skip = implied(policy)
        self.table = table
        self.positions = table.positions(component.attributes)
        self.trees = [tree for p in self.positions if isinstance(tree := table.trees[p], Tree)]
        mine = state.over(self.positions)
        self.member, first = group_rows(mine)
        self.leaf_nodes = mine.copy() if len(first) == len(self.member) else np.ascontiguousarray(mine[:, first])
        self.weights = add_up(self.member, state.weights, len(first))
        self.pairs = {name: pairs.moved(self.member) for name, pairs in state.pairs.items()}
        self.constraints = [
            _Constraint(
                [component.attributes.index(name) for name in policy.attributes_of(policy.privacy[i])],
                _fixed_reference(group_model(policy.privacy[i], table), self.weights, self.pairs),
                getattr(policy.privacy[i], "k", 1),
            )
            for i in component.models
            if i not in skip
        ]
        self.constraints.sort(key=lambda constraint: constraint.k)  # growing k; the sort is stable
        self.largest_k = max(constraint.k for constraint in self.constraints)
        self.more_is_safe = all(constraint.model.unique_subset for constraint in self.constraints)
        self.counts_only = all(isinstance(constraint.model, AtLeastK) for constraint in self.constraints)
        self.limit_depth = [_limit_depth(tree) for tree in self.trees]
        self.kind = kind
        # Rows of stars in the only component show nothing: they are not set aside.
        self.hides = len(table.components) == 1 and not table.stars_take_part

    def satisfied(self, nodes: Ints, weights: Weights, pairs: dict[str, Pairs]) -> Bools:
        """Return the tuples that may be set aside: by the union constraint, or the maximal anonymous subset."""
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
            return self._largest(nodes, weights, pairs, alive)
        for number in range(1, len(self.constraints) + 1):
            chosen = np.flatnonzero(alive)
            if not len(chosen):
                break
            mine = nodes[:, chosen]
            renumber = np.full(nodes.shape[1], -1, dtype=np.int32)
            renumber[chosen] = np.arange(len(chosen), dtype=np.int32)
            kept = {name: _only(p, renumber) for name, p in pairs.items()}
            everyone = np.ones(len(chosen), dtype=bool)
            required = self._requirements(mine, self.constraints[:number])
            alive[chosen] = maximal_anonymous_subset(required, weights[chosen], kept, everyone)
        return alive

    def _largest(self, nodes: Ints, weights: Weights, pairs: dict[str, Pairs], alive: Bools) -> Bools:
        """Return the maximal anonymous subset; a constraint groups only what those before it have left."""
        found = []
        for constraint in self.constraints:
            chosen = np.flatnonzero(alive)
            if not len(chosen):
                return alive
            group = np.zeros(len(alive), dtype=np.int32)
            group[chosen], first = group_rows(np.array([nodes[a][chosen] for a in constraint.over]))
            found.append(Requirement(constraint.model, group, len(first)))
            alive &= constraint.model.good(Groups(group, len(first), np.where(alive, weights, 0), pairs))[group]
        return maximal_anonymous_subset(found, weights, pairs, alive)

    def _requirements(self, nodes: Ints, constraints: list[_Constraint]) -> list[Requirement]:
        found = []
        for constraint in constraints:
            whole = len(constraint.over) == len(nodes)
            group, first = group_rows(nodes if whole else nodes[constraint.over])
            found.append(Requirement(constraint.model, group, len(first)))
        return found

    def stars(self, nodes: Ints) -> Bools:
        """Return the tuples that show nothing but `*`."""
        return star_rows(self.trees, nodes)

    def holds(self, nodes: Ints, weights: Weights, pairs: dict[str, Pairs], but_last: bool = False) -> bool:
        """Tell whether every group of the weighted tuples satisfies every constraint, or all but the last tuple's."""
        for constraint in self.constraints:
            group, first = group_rows(nodes[constraint.over])
            good = constraint.model.good(Groups(group, len(first), weights, pairs))
            good[group[-1]] |= but_last
            if not good.all():
                return False
        return True

    def cost(self, attribute: int) -> Floats:
        """Return the loss of showing each node of an attribute, by the policy's measure and weight."""
        tree = self.trees[attribute]
        name = self.table.names[self.positions[attribute]]
        own = tree.il if self.table.policy.loss == "il" else tree.ncp
        return own * float(self.table.policy.attributes[name].weight)


def _only(pairs: Pairs, renumber: Ints) -> Pairs:
    keep = renumber[pairs.tuples] >= 0
    return Pairs(renumber[pairs.tuples[keep]], pairs.codes[keep], pairs.counts[keep], pairs.known)


def _fixed_reference(model: GroupModel, weights: Weights, pairs: dict[str, Pairs]) -> GroupModel:
    """Return a model whose reference is the whole table: groups are set aside round by round, the whole stays."""
    if not isinstance(model, Close):
        return model
    whole = Groups(np.zeros(len(weights), dtype=np.int32), 1, weights, pairs).histogram(model.sensitive)
    share = np.bincount(whole.code, weights=whole.count, minlength=whole.known + 1)
    return replace(model, reference=share / max(share.sum(), 1))


@dataclass
class _Aside:
    """What the tuples of a component show, and which are left over."""

    nodes: Ints
    left: Bools
    rounds: int
    steps: dict[str, int]


def _set_aside(part: _Part, options: ClassflyOptions) -> _Aside:
    """Set aside and generalize, round by round; the rest is merged as its tuples become equal."""
    nodes = part.leaf_nodes.copy()
    left = np.ones(nodes.shape[1], dtype=bool)
    member = np.arange(nodes.shape[1], dtype=np.int32)  # of tuples that are left → rest
    rest, weights, pairs = part.leaf_nodes.copy(), part.weights, part.pairs
    steps = {part.table.names[p]: 0 for p in part.positions}
    rounds = 0
    while True:
        rounds += 1
        good = part.satisfied(rest, weights, pairs)
        if good.any():
            done = np.flatnonzero(left)[good[member[left]]]
            nodes[:, done] = rest[:, member[done]]
            left[done] = False
        if int(weights[~good].sum()) < part.largest_k or not left.any():
            break
        rest, weights, pairs, member = _drop(rest, weights, pairs, member, left, ~good)
        shown = [np.flatnonzero(np.bincount(column)).astype(np.int32) for column in rest]
        moves = {a: step for a, tree in enumerate(part.trees) if (step := tree.one_step(shown[a])) is not None}
        if not moves:
            break
        chosen = _choose(part, options, rest, weights, pairs, shown, moves)
        rest[chosen] = moves[chosen][rest[chosen]]
        steps[part.table.names[part.positions[chosen]]] += 1
        rest, weights, pairs, member = _merge(rest, weights, pairs, member, left)
    nodes[:, left] = rest[:, member[left]]
    return _Aside(nodes, left, rounds, steps)


def _drop(
    rest: Ints, weights: Weights, pairs: dict[str, Pairs], member: Ints, left: Bools, keep: Bools
) -> tuple[Ints, Weights, dict[str, Pairs], Ints]:
    """Drop the tuples that were set aside; updates ``member``."""
    chosen = np.flatnonzero(keep)
    if len(chosen) < len(keep):
        renumber = np.full(len(keep), -1, dtype=np.int32)
        renumber[chosen] = np.arange(len(chosen), dtype=np.int32)
        rest, weights = np.ascontiguousarray(rest[:, chosen]), weights[chosen]
        pairs = {name: _only(p, renumber) for name, p in pairs.items()}
        member[left] = renumber[member[left]]
    return rest, weights, pairs, member


def _merge(
    rest: Ints, weights: Weights, pairs: dict[str, Pairs], member: Ints, left: Bools
) -> tuple[Ints, Weights, dict[str, Pairs], Ints]:
    """Merge the tuples that show the same since a step; updates ``member``."""
    group, first = group_rows(rest)
    if len(first) < len(group):
        rest = np.ascontiguousarray(rest[:, first])
        weights = add_up(group, weights, len(first))
        pairs = {name: p.moved(group) for name, p in pairs.items()}
        member[left] = group[member[left]]
    return rest, weights, pairs, member


def _choose(
    part: _Part,
    options: ClassflyOptions,
    rest: Ints,
    weights: Weights,
    pairs: dict[str, Pairs],
    shown: list[Ints],
    moves: dict[int, Ints],
) -> int:
    """Return the attribute to generalize; ties go to the first in the policy.

    By gain: every attribute is tried alone, as far up as it goes. Of the climbs that set aside at least the share of
    the records that they cost of all there is left to lose, the one with the best ratio gives the attribute; by
    distinct values where there is none.
    """
    if options.choose == "gain":
        costs = [part.cost(a) for a in range(len(part.trees))]
        to_lose = sum(float(((cost[0] - cost[rest[a]]) * weights).sum()) for a, cost in enumerate(costs))
        worth = dict.fromkeys(moves, 0.0)
        for a in moves:
            after = rest.copy()
            step: Ints | None = moves[a]
            while step is not None:
                after[a] = step[after[a]]
                good = part.satisfied(after, weights, pairs)
                paid = float(((costs[a][after[a]] - costs[a][rest[a]]) * weights).sum()) / max(to_lose, 1e-12)
                worth[a] = max(worth[a], float(weights[good].sum() / weights.sum()) / max(paid, 1e-12))
                step = part.trees[a].one_step(np.flatnonzero(np.bincount(after[a])).astype(np.int32))
        best = max(worth, key=worth.__getitem__)
        if worth[best] >= 1:
            return best
    return max(moves, key=lambda a: len(shown[a]))


def _solve(table: Table, options: ClassflyOptions, kind: Filter, name: str) -> Solution:
    allowed = most_suppressed(table.policy, table.records)
    judge = Judge(table)
    state = Tuples.at_leaves(table)
    parts = [_Part(table, component, state, kind) for component in table.components]
    asides = [_set_aside(part, options) for part in parts]
    lost, best = _end(judge, state, parts, asides, allowed, join=False)
    if options.join and any(aside.left.any() for aside in asides):
        # Records that join may spare others the widening that costs less than their suppression: both are looked at.
        _, joined = _end(judge, state, parts, asides, allowed, join=True)
        if best is None or (joined is not None and _loss(table, joined) <= _loss(table, best)):
            best = joined
    if best is None:
        raise _unmeetable(table, name, lost, allowed)
    return best


def _loss(table: Table, solution: Solution) -> float:
    return measure(table, solution).of(table.policy.loss)


def _end(
    judge: Judge, state: Tuples, parts: list[_Part], asides: list[_Aside], allowed: int, join: bool
) -> tuple[int, Solution | None]:
    """Suppress what is left over within the limit, else take it in; return who is lost, and None beyond the limit."""
    asides = [replace(aside, nodes=aside.nodes.copy(), left=aside.left.copy()) for aside in asides]
    joined = taken = 0
    if join:
        joined = sum(_take_in(part, aside, widen=False) for part, aside in zip(parts, asides, strict=True))
    standing = _stand(judge, state, parts, asides)
    if int(state.weights[standing.lost].sum()) > allowed:
        taken = sum(_take_in(part, aside, widen=True) for part, aside in zip(parts, asides, strict=True))
        standing = _stand(judge, state, parts, asides)
    lost = int(state.weights[standing.lost].sum())
    if lost > allowed:
        return lost, None
    details = {
        "rounds": [aside.rounds for aside in asides],
        "steps": {attribute: steps for aside in asides for attribute, steps in aside.steps.items()},
        "left_over_joined": joined,
        "left_over_taken_in": taken,
    }
    return lost, judge.solution(state, standing, details)


def _stand(judge: Judge, state: Tuples, parts: list[_Part], asides: list[_Aside]) -> Standing:
    """Return how the whole table stands with what the components show; the left over are suppressed."""
    dead = np.zeros((len(parts), state.nodes.shape[1]), dtype=bool)
    for c, (part, aside) in enumerate(zip(parts, asides, strict=True)):
        state.nodes[part.positions] = aside.nodes[:, part.member]
        dead[c] = aside.left[part.member]
    return judge.standing(state, dead)


class _Groups:
    """The groups of equal values among the tuples set aside, and for every constraint the values they show to it."""

    def __init__(self, part: _Part, aside: _Aside) -> None:
        self.part = part
        inside = np.flatnonzero(~aside.left)
        group, first = group_rows(aside.nodes[:, inside])
        self.shown = aside.nodes[:, inside[first]]
        self.sizes = add_up(group, part.weights[inside], len(first))
        self.of = np.full(len(aside.left), -1, dtype=np.int32)  # every tuple's group, -1 where it is left over
        self.of[inside] = group
        self.number: list[Ints] = []  # for every constraint the number of what every group shows to it
        self.values: list[Ints] = []  # what that is
        self.totals: list[Weights] = []  # how many records show it
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

    def taking_part(self) -> list[Weights]:
        """Return how many records show each value, without rows of stars where these take no part."""
        stars = np.flatnonzero(self.part.stars(self.shown))
        if self.part.table.stars_take_part or not len(stars):
            return self.totals
        found = [total.copy() for total in self.totals]
        for number, total in zip(self.number, found, strict=True):
            total[number[stars]] -= self.sizes[stars]
        return found

    def hold(self, at: int, groups: list[int], shown: Ints) -> bool:
        """Tell whether everything holds once a tuple and groups show the same."""
        return self.part.holds(*self._with(at, groups, shown))

    def spare(self, at: int, groups: list[int], shown: Ints, for_good: bool) -> bool:
        """Tell whether everything else holds once a tuple and groups show the same, or are gone for good."""
        nodes, weights, pairs = self._with(at, groups, shown)
        if for_good:
            weights[[*groups, -1]] = 0
        return self.part.holds(nodes, weights, pairs, but_last=True)

    def _with(self, at: int, groups: list[int], shown: Ints) -> tuple[Ints, Weights, dict[str, Pairs]]:
        nodes = np.concatenate([self.shown, shown[:, None]], axis=1)
        nodes[:, groups] = shown[:, None]
        number = self.of.copy()
        number[at] = len(self.sizes)
        pairs = {name: _only(own, number) for name, own in self.part.pairs.items()}
        return nodes, np.append(self.sizes, self.part.weights[at]), pairs


def _take_in(part: _Part, aside: _Aside, widen: bool) -> int:
    """Let left-over tuples join records already set aside; return how many records did.

    A tuple first looks for values at which it falls, by every constraint, among records that are set aside as they
    are; else, if these may ``widen``, for groups to generalize over it, one after another the one that costs least.
    Tuples in canonical order, again and again while any of them is helped by the one before; of several places or
    groups the cheapest, then the first in the order of nodes. What would break a constraint is not done.
    O(groups · attributes) a tuple; a try where sensitive values are counted.
    """
    waiting = np.flatnonzero(aside.left)
    if not len(waiting) or aside.left.all():
        return 0
    waiting = waiting[np.lexsort(tuple(reversed(list(part.leaf_nodes[:, waiting]))))]
    costs = [part.cost(a) for a in range(len(part.trees))]
    groups = _Groups(part, aside)
    before = len(waiting) + 1
    while 0 < len(waiting) < before:
        before = len(waiting)
        for at in waiting.tolist():
            chosen: list[int] = []
            shown = _fit(part, groups, at, costs)
            for for_good in (False, True):
                if shown is None and widen:
                    chosen, shown = _gather(part, groups, at, costs, for_good)
            if shown is not None:
                groups.join(at, chosen, shown)
        waiting = waiting[groups.of[waiting] < 0]
    joined = int(part.weights[aside.left & (groups.of >= 0)].sum())
    aside.left = groups.of < 0
    aside.nodes[:, ~aside.left] = groups.shown[:, groups.of[~aside.left]]
    return joined


def _fit(part: _Part, groups: _Groups, at: int, costs: list[Floats]) -> Ints | None:
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


def _gather(
    part: _Part, groups: _Groups, at: int, costs: list[Floats], for_good: bool
) -> tuple[list[int], Ints | None]:
    """Return groups that can be generalized over a left-over tuple, and the values that all of them show then.

    The cheapest group that those it leaves behind can spare; more of them until there are enough. Of very many only
    the ``PLACES`` cheapest are looked at, unless none of these can be spared. A group that still shows the same to a
    constraint leaves nobody behind by it, until another one widens what they show: ``for_good`` asks for groups
    that can be spared even then, which finds some where the cheapest lead to a dead end.
    """
    shown, size = part.leaf_nodes[:, at], int(part.weights[at])
    sizes = groups.sizes.copy()  # without the chosen, as are the totals
    totals = [total.copy() for total in groups.totals]
    near = np.flatnonzero(sizes)
    chosen: list[int] = []
    tries = TRIES
    while True:
        here = groups.shown[:, near] if len(near) < len(sizes) else groups.shown
        covering, price = _offers(part, here, sizes[near], shown, size, costs)
        possible = np.flatnonzero((price < np.inf) & (sizes[near] > 0))
        for most in (PLACES, len(possible)):
            looked_at = _cheapest(possible, price, most)
            wider = np.array([both[nodes[looked_at]] for both, nodes in zip(covering, here, strict=True)])
            spare = _spare(part, groups, near[looked_at], wider, chosen, sizes, totals, for_good)
            if spare.any():
                break
        offers, wider = looked_at[spare], wider[:, spare]
        ranked = np.lexsort((*reversed(list(groups.shown[:, near[offers]])), price[offers]))
        offers, wider = offers[ranked], wider[:, ranked]
        best = 0
        if not part.counts_only:
            trials = [(i, int(near[offer]), wider[:, i]) for i, offer in enumerate(offers[:tries].tolist())]
            good = (i for i, group, new in trials if groups.spare(at, [*chosen, group], new, for_good))
            best = next(good, len(offers))
            tries -= best + 1
        if best >= len(offers):
            return [], None
        group, shown = int(near[offers[best]]), wider[:, best]
        chosen.append(group)
        size += int(sizes[group])
        for number, total in zip(groups.number, totals, strict=True):
            total[number[group]] -= sizes[group]
        sizes[group] = 0
        near = near[looked_at]
        if _enough(part, groups, totals, shown, size) and (part.counts_only or groups.hold(at, chosen, shown)):
            return chosen, shown


def _offers(
    part: _Part, nodes: Ints, sizes: Weights, shown: Ints, size: int, costs: list[Floats]
) -> tuple[list[Ints], Floats]:
    """Return what groups would show together with ``size`` records that show ``shown``, and what it costs.

    The first by attribute for every node a group may show; the cost is infinite where it may not be.
    """
    covering: list[Ints] = []
    more: list[Floats] = []
    own: list[Floats] = []
    for a, tree in enumerate(part.trees):
        both = _covering(tree, int(shown[a]))
        limit = part.limit_depth[a]
        covering.append(both)
        more.append(costs[a][both] - costs[a])
        own.append((costs[a][both] - costs[a][shown[a]]) * size)
        own[a][tree.depth[both] < np.maximum(limit, limit[shown[a]])] = np.inf
    hides = part.hides and all(tree.is_star[0] for tree in part.trees)
    return covering, price_groups(nodes, sizes, covering, more, own, hides)


def _cheapest(possible: Ints, price: Floats, most: int) -> Ints:
    """Return the cheapest of some offers, with all that cost as much as the last of them."""
    if len(possible) <= most:
        return possible
    last = np.partition(price[possible], most - 1)[most - 1]
    return np.asarray(possible[price[possible] <= last])


def _spare(
    part: _Part,
    groups: _Groups,
    near: Ints,
    wider: Ints,
    chosen: list[int],
    sizes: Weights,
    totals: list[Weights],
    for_good: bool,
) -> Bools:
    """Tell which groups can go and show wider values with the chosen: none too few stay behind, by every k."""
    spare = np.ones(len(near), dtype=bool)
    for j, (constraint, total) in enumerate(zip(part.constraints, totals, strict=True)):
        new = wider[constraint.over]
        number = groups.number[j][near]
        for group in (None, *chosen):
            old = number if group is None else groups.number[j][group]
            rest = total[old] - np.where(number == old, sizes[near], 0)
            enough = (rest == 0) | (rest >= constraint.k)
            if not for_good:
                enough |= (groups.values[j][:, old].reshape(len(new), -1) == new).all(axis=0)
            spare &= enough
    return spare


def _enough(part: _Part, groups: _Groups, totals: list[Weights], shown: Ints, size: int) -> bool:
    """Tell whether so many records that show the same are enough for every k, with others that show it already."""
    for constraint, values, total in zip(part.constraints, groups.values, totals, strict=True):
        if size < constraint.k:
            same = (values == shown[constraint.over][:, None]).all(axis=0)
            if size + int(total[same].sum()) < constraint.k:
                return False
    return True


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


def _limit_depth(tree: Tree) -> Ints:
    """Return for every node of a tree the depth of the limit on its way up."""
    limit: Ints = np.arange(len(tree.labels), dtype=np.int32)
    while True:
        free = ~tree.limit[limit]
        if not free.any():
            return tree.depth[limit]
        limit[free] = tree.parent[limit[free]]


def _unmeetable(table: Table, name: str, lost: int, allowed: int) -> Unmeetable:
    noun = "record" if table.persons is None else "individual"
    return Unmeetable(
        f"{name} cannot meet the policy: {count(lost, noun)} of {table.records:,} would be left over and the limit "
        f"allows {allowed:,}; raise suppression.limit, ask for less, or move boundaries up."
    )


def classfly(table: Table, options: ClassflyOptions, rng: np.random.Generator) -> Solution:
    """Set aside groups of the one constraint, generalize the rest."""
    return _solve(table, options, "complete", "classfly")


def classfly_naive(table: Table, options: ClassflyOptions, rng: np.random.Generator) -> Solution:
    """Run Classfly on every component's union constraint: all its attributes, its largest k."""
    return _solve(table, options, "naive", "classfly+naive")


def classfly_complete(table: Table, options: ClassflyOptions, rng: np.random.Generator) -> Solution:
    """Set aside, each round, the maximal anonymous subset under the whole component."""
    return _solve(table, options, "complete", "classfly+complete")


def classfly_partial(table: Table, options: ClassflyOptions, rng: np.random.Generator) -> Solution:
    """Set aside the same subset, found by adding constraints one at a time in order of growing k."""
    return _solve(table, options, "partial", "classfly+partial")
