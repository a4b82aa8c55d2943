"""Slow twins of the Classfly family: the pseudo-code of Yang et al. 2006, section 3, one record at a time.

Plain Python on texts, nothing of kveil. The marks are the paper's. Where the paper is silent, the twin follows the
page of algorithms: one step moves the deepest shown nodes of the remaining records that may still move; the loop
also ends when nothing may move; in a policy with one component, records that show nothing but `*` are not set
aside; what is left over beyond the limit is taken in by groups already set aside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product

from naive import release as naive
from naive.release import STAR, Hierarchy, Model, Policy, Row

TO_BE_SUPPRESSED = "to_be_suppressed"
CANDIDATE = "candidate"
SATISFY = "satisfy_IndepCSet"


def _climbed_from_the_deepest(parent: dict[str, str], depth: dict[str, int]) -> Callable[[str], Fraction]:
    """The share of its way to the root that the deepest value below a node has climbed, by brute force."""

    def below(label: str, node: str) -> bool:
        while label in parent and label != node:
            label = parent[label]
        return label == node

    def climbed(node: str) -> Fraction:
        way = max(depth[label] for label in depth if below(label, node))
        return Fraction(way - depth[node], way) if way else Fraction(0)

    return cache(climbed)


@dataclass(frozen=True)
class Column:
    """A hierarchy as the rounds use it."""

    hierarchy: Hierarchy
    parent: dict[str, str]
    depth: dict[str, int]
    order: dict[str, list[int]]  # nodes in depth-first order, children as they are named first, missing last
    stops: set[str]  # the root and the marked nodes: what shows them may not move
    cost: Callable[[str], float]

    @classmethod
    def of(cls, policy: Policy, name: str, original: Sequence[Row], loss: str) -> Column:
        found = policy.hierarchy(name, [row[name] for row in original])
        assert isinstance(found, Hierarchy)
        ways = list(found.ways.values())
        if found.scale is not None:
            ways.sort(key=lambda way: (way[0] in policy.missing, naive.number(way[0]) or 0))
        parent, depth, order = {}, {found.root: 0}, {found.root: [0]}
        place: dict[str, int] = {}
        for way in ways:
            for at, label in enumerate(way):
                depth[label] = len(way) - 1 - at
                if at + 1 < len(way):
                    parent[label] = way[at + 1]
            for label in reversed(way):
                place.setdefault(label, len(place))
            for at, label in enumerate(way):
                order.setdefault(label, [place[above] for above in reversed(way[at:])])
        weight = 1.0 if loss == "il" else float(policy.weight(name))  # IL is a total without weights
        by_loss: dict[str, Callable[[str], Fraction]] = {
            "ncp": found.ncp,
            "il": found.il,
            "precision": _climbed_from_the_deepest(parent, depth),
        }
        own = by_loss[loss]
        return cls(found, parent, depth, order, found.marked | {found.root}, lambda label: float(own(label)) * weight)

    def one_step(self, shown: set[str]) -> dict[str, str]:
        """The moves of the deepest nodes that may still move."""
        free = [label for label in shown if label not in self.stops]
        deepest = max((self.depth[label] for label in free), default=0)
        return {label: self.parent[label] for label in free if self.depth[label] == deepest}

    def wider(self, shown: str, leaf: str) -> str | None:
        """The lowest node above both, None where a boundary forbids it for one of them."""
        above = [label for label in self.way(leaf) if label in self.way(shown)]
        return above[0] if above[0] in self.allowed(shown) and above[0] in self.allowed(leaf) else None

    def allowed(self, label: str) -> list[str]:
        """A node and what it may be generalized to."""
        way = self.way(label)
        return way[: 1 + next(at for at, node in enumerate(way) if node in self.stops)]

    def way(self, label: str) -> list[str]:
        found = [label]
        while found[-1] in self.parent:
            found.append(self.parent[found[-1]])
        return found


class Part:
    """One independent constraint subset: its sub-table, what its records show, and their marks."""

    def __init__(self, policy: Policy, names: tuple[str, ...], original: Sequence[Row], loss: str = "ncp") -> None:
        self.names = names
        self.models = sorted(policy.models_of(names), key=lambda model: model.k)  # low k first
        self.largest_k = max(model.k for model in self.models)
        self.columns = {name: Column.of(policy, name, original, loss) for name in names}
        self.leaves = [{name: policy.text(row[name]) for name in names} for row in original]
        self.shown = [dict(row) for row in self.leaves]
        self.marks = [TO_BE_SUPPRESSED] * len(original)
        self.sensitive = {
            model.sensitive: [policy.value(row[model.sensitive]) for row in original]
            for model in self.models
            if model.sensitive
        }
        self.hides = len(policy.components) == 1
        self.rounds = 0

    def marked(self, mark: str) -> list[int]:
        return [i for i, its in enumerate(self.marks) if its == mark]

    def groups(self, names: Sequence[str], records: Sequence[int]) -> list[list[int]]:
        found: dict[tuple[str, ...], list[int]] = {}
        for i in records:
            row = self.shown[i]
            found.setdefault(tuple([row[name] for name in names]), []).append(i)
        return list(found.values())

    def good(self, model: Model, members: list[int]) -> bool:
        if model.name == "k-anonymity":
            return len(members) >= model.k
        assert model.name == "p-sensitive" or model.settings.get("variant", "distinct") == "distinct"
        return naive.holds(model, [self.sensitive[model.sensitive][i] for i in members], [], None)

    # algorithm 2, step (a)

    def naive(self) -> None:
        for members in self.groups(self.names, self.marked(TO_BE_SUPPRESSED)):
            enough = len(members) >= self.largest_k and all(self.good(model, members) for model in self.models)
            if enough and not self.hidden(members[0]):
                for i in members:
                    self.marks[i] = SATISFY

    # algorithm 3, steps (a) to (c)

    def complete(self) -> None:
        self.nominate()
        self.eliminate(self.models)
        self.accept()

    # algorithm 4, steps (a) to (c)

    def partial(self) -> None:
        self.nominate()
        for number in range(1, len(self.models) + 1):
            self.eliminate(self.models[:number])
        self.accept()

    def nominate(self) -> None:
        for i in self.marked(TO_BE_SUPPRESSED):
            if not self.hidden(i):
                self.marks[i] = CANDIDATE

    def eliminate(self, models: Sequence[Model]) -> None:
        """Look at every candidate, go through all others for those that are like it, until none falls any more."""
        fell = True
        while fell:
            fell = False
            for model in models:
                keys: list[tuple[str, ...] | None] = [None] * len(self.marks)
                for i in self.marked(CANDIDATE):
                    keys[i] = tuple([self.shown[i][name] for name in model.attributes])
                for own in keys:
                    if own is not None:
                        alike = [j for j, key in enumerate(keys) if key == own]
                        if not self.good(model, alike):
                            fell = True
                            for j in alike:
                                keys[j] = None
                                self.marks[j] = TO_BE_SUPPRESSED

    def accept(self) -> None:
        for i in self.marked(CANDIDATE):
            self.marks[i] = SATISFY

    def hidden(self, i: int) -> bool:
        return self.hides and all(self.shown[i][name] == STAR for name in self.names)

    # the loop that algorithms 2 to 4 share

    def run(self, variant: str) -> None:
        while len(self.marked(TO_BE_SUPPRESSED)) >= self.largest_k:
            self.rounds += 1
            getattr(self, variant)()
            rest = self.marked(TO_BE_SUPPRESSED)
            best: tuple[int, str, dict[str, str]] | None = None
            for name in self.names:
                labels = {self.shown[i][name] for i in rest}
                moves = self.columns[name].one_step(labels)
                if moves and (best is None or len(labels) > best[0]):
                    best = (len(labels), name, moves)
            if best is None:
                return
            _, name, moves = best
            for i in rest:
                self.shown[i][name] = moves.get(self.shown[i][name], self.shown[i][name])

    # what the paper does not have

    def take_in(self) -> None:
        """Let what is left over, value by value in canonical order, join records already set aside; until none can."""
        before = -1
        while len(self.marked(TO_BE_SUPPRESSED)) != before:
            before = len(self.marked(TO_BE_SUPPRESSED))
            waiting: dict[tuple[str, ...], list[int]] = {}
            for i in self.marked(TO_BE_SUPPRESSED):
                waiting.setdefault(tuple(self.leaves[i].values()), []).append(i)
            for leaf in sorted(waiting, key=self.place):
                if not any(self.show(waiting[leaf], shown) for shown in self.joins(leaf)):
                    for for_good in (False, True):
                        if self.gather(waiting[leaf], leaf, for_good):
                            break

    def show(self, records: list[int], shown: tuple[str, ...], trial: str = "") -> bool:
        """Show records at some values, set aside, if that breaks nothing; else leave all as it was, as after a trial.

        A trial is about the others: whether what stays behind holds once these show the same, or are gone for good.
        """
        before = {i: (self.shown[i], self.marks[i]) for i in records}
        for i in records:
            self.shown[i] = dict(zip(self.names, shown, strict=True))
            self.marks[i] = TO_BE_SUPPRESSED if trial == "gone" else SATISFY
        good = all(
            self.good(model, members)
            for model in self.models
            for members in self.groups(model.attributes, self.marked(SATISFY))
            if not (trial and all(self.shown[members[0]][n] == self.shown[records[0]][n] for n in model.attributes))
        )
        if not good or trial:
            for i, (row, mark) in before.items():
                self.shown[i], self.marks[i] = row, mark
        return good

    def joins(self, leaf: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Values at which a record would, by every constraint, be among others that are shown; the cheapest first."""
        inside = [self.shown[i] for i in self.marked(SATISFY) if not naive.starred_in(self.shown[i], self.names)]
        seen = [
            (model.attributes, {tuple(row[name] for name in model.attributes) for row in inside})
            for model in self.models
        ]
        found = []
        for place in product(
            *(self.columns[name].allowed(value) for name, value in zip(self.names, leaf, strict=True))
        ):
            row = dict(zip(self.names, place, strict=True))
            if all(tuple(row[name] for name in attributes) in values for attributes, values in seen):
                cost = 0.0
                for name in self.names:
                    cost += self.columns[name].cost(row[name])
                if not (self.hides and set(place) == {STAR}):
                    found.append((cost, self.place(place), place))
        return [place for _, _, place in sorted(found)]

    def gather(self, records: list[int], leaf: tuple[str, ...], for_good: bool) -> bool:
        """Generalize groups over left-over records: the cheapest that others can spare, until they are enough."""
        chosen: list[int] = []
        shown = leaf
        while True:
            size = len(records) + len(chosen)
            offers = []
            for members in self.groups(self.names, [i for i in self.marked(SATISFY) if i not in chosen]):
                theirs = tuple(self.shown[members[0]][name] for name in self.names)
                pairs = zip(self.names, theirs, shown, strict=True)
                joined = [self.columns[name].wider(*pair) for name, *pair in pairs]
                wider = [label for label in joined if label is not None]
                if len(wider) < len(joined) or (self.hides and set(wider) == {STAR}):
                    continue
                if self.show([*records, *chosen, *members], tuple(wider), "gone" if for_good else "shown"):
                    price = 0.0
                    for name, old, own, new in zip(self.names, theirs, shown, wider, strict=True):
                        cost = self.columns[name].cost
                        price += (cost(new) - cost(old)) * len(members) + (cost(new) - cost(own)) * size
                    offers.append((price, self.place(theirs), members, tuple(wider)))
            if not offers:
                return False
            _, _, members, shown = min(offers)
            chosen += members
            if self.show([*records, *chosen], shown):
                return True

    def place(self, labels: Sequence[str]) -> list[list[int]]:
        return [self.columns[name].order[label] for name, label in zip(self.names, labels, strict=True)]


class QuickPart(Part):
    """The same with a dictionary that counts, for a fair word on speed."""

    def eliminate(self, models: Sequence[Model]) -> None:
        fell = True
        while fell:
            fell = False
            for model in models:
                for members in self.groups(model.attributes, self.marked(CANDIDATE)):
                    if not self.good(model, members):
                        fell = True
                        for i in members:
                            self.marks[i] = TO_BE_SUPPRESSED


@dataclass
class Outcome:
    """A slow release: what everyone shows, who is suppressed, and how it came about."""

    state: naive.State
    rounds: list[int]
    taken_in: bool


def classfly(policy: Policy, original: Sequence[Row], variant: str, loss: str = "ncp") -> Outcome | None:
    """Algorithm 1 with the filter of one variant; None where more is left over than the limit allows."""
    parts = [Part(policy, names, original, loss) for names in policy.components]
    for part in parts:
        part.run(variant)
    allowed = math.floor(policy.limit * len(original))
    state = standing(policy, original, parts)
    taken_in = len(state.lost) > allowed
    if taken_in:
        for part in parts:
            part.take_in()
        state = standing(policy, original, parts)
    if len(state.lost) > allowed:
        return None
    return Outcome(state, [part.rounds for part in parts], taken_in)


def standing(policy: Policy, original: Sequence[Row], parts: Sequence[Part]) -> naive.State:
    """Who counts as suppressed: the left over, rows of stars, and whoever falls when others are dropped."""
    everyone = set(range(len(original)))
    shown: list[Row] = [{} for _ in original]
    for part in parts:
        for i in everyone:
            shown[i] |= part.shown[i]
    tests = {part.names: naive.conditions_of(policy, part.names, shown, original) for part in parts}
    outside = {
        part.names: everyone - naive.maximal_subset(set(part.marked(SATISFY)), tests[part.names]) for part in parts
    }
    lost = set().union(*outside.values()) | {i for i in everyone if naive.starred_in(shown[i], policy.quasi)}
    if policy.show == "drop":
        together = [test for found in tests.values() for test in found]
        lost = everyone - naive.maximal_subset(everyone - lost, together)
    return naive.State(shown, outside, lost)
