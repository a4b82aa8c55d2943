"""The release of a tiny table that loses least, by trying everything: any models, boundaries, rules and limits.

Records only, suppressed ones dropped: as many as are allowed, chosen by what is public about them. Groups are judged by
the slow twins of the models; nothing of kveil is imported.

Whoever is missing is known to everybody. So where a model looks at sensitive values, only these may be left out: all
who are alike by their quasi-identifiers or nobody of them, and together either no more than sizes alone make anybody
leave out, whatever people have, or a neighbourhood: more than a group must have, with several values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import ceil

from naive.release import STAR, Hierarchy, Model, Policy, Ranges, Row, functional, holds, number

Labels = tuple[str, ...]  # what a record shows, in the order of the quasi-identifiers


class OutOfSteps(Exception):
    """More would have to be tried than was asked for."""


def fewest_members(model: Model) -> int:
    """Return how many records a group has at least, whatever they have: that is public."""
    share = Fraction(model.settings.get("alpha", 1))
    values = Fraction(model.settings.get("l", model.settings.get("p", 1)))
    return max(model.k, ceil(values), ceil(1 / share))


def sizes_only(policy: Policy) -> Policy:
    """Return a policy as far as sizes of groups go."""
    public = copy(policy)
    public.models = [
        Model("k-anonymity", model.attributes, {"k": str(fewest_members(model))}) for model in policy.models
    ]
    return public


def fewest_missing(policy: Policy, rows: Sequence[Row], steps: int) -> int | None:
    """Return how many records sizes alone make anybody leave out, None for more than the limit."""
    for allowed in range(int(policy.limit * len(rows)) + 1):
        if any(True for _ in EveryRelease(sizes_only(policy), rows, allowed, steps=steps).cheaper_than(None)):
            return allowed
    return None


def labels_of(hierarchy: Hierarchy | Ranges, was: str, column: Sequence[str]) -> list[str]:
    """Return everything that a value may be shown as, within its boundary."""
    if isinstance(hierarchy, Hierarchy):
        ways = hierarchy.ways[was]
        return [label for label in ways if hierarchy.true(was, label) and hierarchy.within(was, label)]
    numbers = [text for text in column if number(text) is not None]
    spans = {was, *(hierarchy.bounds([one, other]) for one in numbers for other in numbers)}
    if any(number(text) is None for text in column):
        spans.add(STAR)
    return sorted(label for label in spans if hierarchy.true(was, label) and hierarchy.within(was, label))


@dataclass
class EveryRelease:
    """A search through all releases of a table; ``steps`` is how many choices may be looked at."""

    policy: Policy
    rows: Sequence[Row]
    allowed: int = 0  # records that may be left out
    by_size: int = 0  # of these, as many as sizes alone make anybody leave out
    steps: int = 2_000_000
    known: dict[tuple[int, int, int], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        policy, rows = self.policy, self.rows
        names = policy.quasi
        columns = {name: [policy.text(row[name]) for row in rows] for name in names}
        trees = {name: policy.hierarchy(name, columns[name]) for name in names}
        weight = {name: policy.weight(name) / sum(map(policy.weight, names)) for name in names}
        self.options: list[list[tuple[Fraction, Labels | None]]] = []
        self.sensitive = {
            name: [policy.value(row[name]) for row in rows] for name in {m.sensitive for m in policy.models} - {""}
        }
        self.tree_of: dict[str, Hierarchy | None] = {"": None}
        for name in self.sensitive:
            found = policy.hierarchy(name, [row[name] for row in rows])
            own = "hierarchy" in policy.attributes[name]
            self.tree_of[name] = found if own and isinstance(found, Hierarchy) else None
        for i in range(len(rows)):
            each = [labels_of(trees[name], columns[name][i], columns[name]) for name in names]
            shown: list[tuple[Fraction, Labels | None]] = [
                (sum((weight[n] * trees[n].ncp(label) for n, label in zip(names, way, strict=True)), Fraction(0)), way)
                for way in product(*each)
                if set(way) != {STAR}
            ]
            if self.allowed:
                shown.append((Fraction(1), None))
            self.options.append(sorted(shown, key=lambda option: (option[0], option[1] is None, option[1] or ())))
        self.places = [[names.index(name) for name in model.attributes] for model in policy.models]
        self.parts = [[names.index(name) for name in part] for part in policy.components]
        self.sizes = [
            max(1, int(model.settings.get("k", 1)), int(model.settings.get("p", 1))) for model in policy.models
        ]

        while self._drop_lonely():
            pass

    def _drop_lonely(self) -> bool:
        """Leave out labels that fewer records could show than a group must have; tell whether there were any."""
        could: list[dict[Labels, int]] = [defaultdict(int) for _ in self.places]
        for own in self.options:
            for places, tally in zip(self.places, could, strict=True):
                for key in {tuple(way[p] for p in places) for _, way in own if way is not None}:
                    tally[key] += 1
        dropped = False
        for i, own in enumerate(self.options):
            left = [
                (cost, way)
                for cost, way in own
                if way is None
                or all(
                    tally[tuple(way[p] for p in places)] >= size
                    for places, tally, size in zip(self.places, could, self.sizes, strict=True)
                )
            ]
            dropped = dropped or len(left) < len(own)
            self.options[i] = left
        return dropped

    def good(self, model: int, members: int, everyone: int) -> bool:
        """Tell whether a group, a set of records as bits, satisfies a model among all that take part."""
        key = model, members, everyone if self.policy.models[model].name == "t-closeness" else 0
        if key not in self.known:
            asked = self.policy.models[model]
            values = self.sensitive.get(asked.sensitive, [None] * len(self.rows))
            inside = [value for i, value in enumerate(values) if members >> i & 1]
            whole = [value for i, value in enumerate(values) if everyone >> i & 1]
            self.known[key] = holds(asked, inside, whole, self.tree_of[asked.sensitive])
        return self.known[key]

    def alike(self, one: int, other: int) -> bool:
        """Tell whether two records have the same quasi-identifiers."""
        return all(self.rows[one][name] == self.rows[other][name] for name in self.policy.quasi)

    def may_be_missing(self, kept: Sequence[int]) -> bool:
        """Tell whether all others may be left out where models look at what records have."""
        gone = [i for i in range(len(self.rows)) if i not in kept]
        if any(self.alike(i, j) for i in gone for j in kept):
            return False
        looking = [fewest_members(model) + 1 for model in self.policy.models if model.sensitive]
        run = max([self.policy.largest_k, 2, *looking])
        several = all(len({values[i] for i in gone}) > 1 for values in self.sensitive.values())
        return len(gone) <= self.by_size or (len(gone) >= run and several)

    def valid(self, shown: Sequence[Labels | None]) -> bool:
        """Tell whether a release keeps everything that the policy asks for."""
        kept = [i for i, way in enumerate(shown) if way is not None]
        if not kept or len(shown) - len(kept) > self.allowed:
            return False
        if self.sensitive and len(kept) < len(shown) and not self.may_be_missing(kept):
            return False
        for part, component in zip(self.parts, self.policy.components, strict=True):
            everyone = sum(1 << i for i in kept)
            starred = [i for i in kept if {(shown[i] or ())[place] for place in part} == {STAR}]
            stars = sum(1 << i for i in starred)
            models = [m for m, model in enumerate(self.policy.models) if model.attributes[0] in component]
            for m in models:
                groups: dict[Labels, int] = defaultdict(int)
                for i in kept:
                    groups[tuple((shown[i] or ())[place] for place in self.places[m])] |= 1 << i
                if not all(self.good(m, members, everyone) for members in groups.values()):
                    return False
                if stars and not self.good(m, stars, everyone):
                    return False
        texts = [{**self.rows[i], **dict(zip(self.policy.quasi, shown[i] or (), strict=True))} for i in kept]
        for rule in self.policy.dependencies:
            left, right = ([name.strip() for name in side.split(",")] for side in rule.replace("->>", "->").split("->"))
            if "->>" not in rule and not functional(texts, left, right):
                return False
        return True

    def cheaper_than(self, bound: Fraction | None) -> Iterator[tuple[Fraction, list[Labels | None]]]:
        """Yield valid releases, each cheaper than the one before and than a mean loss; the last one loses least."""
        rows = len(self.rows)
        if not all(self.options):
            return
        best = None if bound is None else bound * rows
        least = [own[0][0] for own in self.options]
        rest = [sum(least[i:], Fraction(0)) for i in range(rows + 1)]
        counts: list[dict[Labels, int]] = [defaultdict(int) for _ in self.policy.models]
        lacking = [0] * len(counts)
        shown: list[Labels | None] = []
        same = [
            i > 0 and all(self.rows[i][name] == self.rows[i - 1][name] for name in self.rows[i]) for i in range(rows)
        ]
        chosen = [0] * rows

        def step(i: int, spent: Fraction, dropped: int) -> Iterator[tuple[Fraction, list[Labels | None]]]:
            nonlocal best
            if i == rows:
                if self.valid(shown):
                    best = spent
                    yield spent / rows, list(shown)
                return
            for place in range(chosen[i - 1] if same[i] else 0, len(self.options[i])):
                cost, way = self.options[i][place]
                if best is not None and spent + cost + rest[i + 1] >= best:
                    break
                if way is None and dropped == self.allowed:
                    continue
                self.steps -= 1
                if self.steps < 0:
                    raise OutOfSteps
                chosen[i] = place
                shown.append(way)
                keys = [] if way is None else [tuple(way[p] for p in places) for places in self.places]
                for m, key in enumerate(keys):
                    size = counts[m][key]
                    lacking[m] += self.sizes[m] - 1 if size == 0 else -1 if size < self.sizes[m] else 0
                    counts[m][key] = size + 1
                if max(lacking) <= rows - i - 1:
                    yield from step(i + 1, spent + cost, dropped + (way is None))
                for m, key in enumerate(keys):
                    counts[m][key] -= 1
                    size = counts[m][key]
                    lacking[m] -= self.sizes[m] - 1 if size == 0 else -1 if size < self.sizes[m] else 0
                shown.pop()

        yield from step(0, Fraction(0), 0)
