"""Slow twins of the attacker and of the risk of a raw table: every figure by trying every row for every person.

Tables are texts as their files have them, a decimal comma included; labels are read as anybody would read them, so that
nothing is asked of how kveil reads, holds or encodes a table.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, permutations
from typing import Any

from naive.release import STAR, Hierarchy, Policy, Row, number, read_span

Cell = str | list[str] | None  # of a release: a text, the items of a set, nothing
Figures = dict[str, Any]
Rate = dict[str, Any]
MOST_OTHERS = 3  # sensitive attributes that no model counts and that are played on
SMALL, WORLDS = 8, 420  # people, and ways to give them their values, up to which kveil is run again


# ---------------------------------------------------------------------------------------------- labels


@dataclass(frozen=True)
class Scale:
    """What an attribute's labels mean."""

    policy: Policy
    name: str
    values: frozenset[str]  # of the original

    @cached_property
    def spec(self) -> Any:
        return self.policy.attributes[self.name].get("hierarchy")

    @cached_property
    def tree(self) -> Hierarchy | None:
        """The tree over the values, where labels do not say by themselves what lies below them."""
        if isinstance(self.spec, dict) and ("intervals" in self.spec or "ranges" in self.spec):
            return None
        known = self.policy.hierarchy(self.name, self.values)
        assert isinstance(known, Hierarchy)
        return known

    @property
    def root(self) -> str:
        return STAR if self.tree is None else self.tree.root

    def true(self, was: str, shown: str) -> bool:
        """Whether a label may stand for a value."""
        if shown in (was, STAR):
            return True
        if self.tree is not None:
            return shown in self.tree.ways.get(was, (was, self.tree.root))
        value = None if was in self.policy.missing else number(was)
        return value is not None and inside(value, shown)

    def tells(self, shown: str) -> bool:
        """Whether a label says anything at all."""
        return shown not in (STAR, self.root)


def inside(value: Fraction, label: str) -> bool:
    """Whether a number lies in what a label of numbers says."""
    half_open = re.fullmatch(r"\[(.+),(.+)\)", label)
    if half_open:
        low, high = number(half_open[1]), number(half_open[2])
        return low is not None and high is not None and low <= value < high
    if label.startswith("<"):
        end = number(label[1:])
        return end is not None and value < end
    if label.startswith(">="):
        start = number(label[2:])
        return start is not None and value >= start
    span = read_span(label)
    return span is not None and span[0] <= value <= span[1]


# ---------------------------------------------------------------------------------------------- both tables


def numeric(policy: Policy) -> set[str]:
    """The columns whose texts are numbers, so that a comma in them is a decimal sign."""
    found = set()
    for name, attribute in policy.attributes.items():
        spec = attribute.get("hierarchy")
        if isinstance(spec, dict) and ("intervals" in spec or "ranges" in spec):
            found.add(name)
        for model in policy.models:
            if model.sensitive == name and model.settings.get("distance") == "ordered" and spec is None:
                found.add(name)
    return found


@dataclass(frozen=True)
class Table:
    """Rows, one per record or person, and the values that each has of every sensitive column."""

    rows: list[Row]
    items: dict[str, list[set[str]]]

    def __len__(self) -> int:
        return len(self.rows)


class World:
    """An original and its release; ``places`` has the original's row of every released one."""

    def __init__(
        self, policy: Policy, plain: Mapping[str, Any], original: Sequence[Row], release: Sequence[Mapping[str, Cell]]
    ) -> None:
        self.policy, self.numeric = policy, numeric(policy)
        roles = {name: attribute["role"] for name, attribute in policy.attributes.items()}
        self.individual = next((name for name, role in roles.items() if role == "individual"), None)
        self.shape = plain.get("release", {}).get("shape", "sets") if self.individual else "records"
        people = [[row] for row in original] if self.individual is None else by_person(original, self.individual)
        self.before = self.table([[{n: self.was(n, c) for n, c in record.items()} for record in own] for own in people])
        shown = by_person(release, "individual") if self.shape == "long" else [[row] for row in release]
        self.after = self.table(shown)
        self.shown_rows = [[self.plain_row(row) for row in rows] for rows in shown]
        self.scales = {
            name: Scale(policy, name, frozenset(self.read(name, record[name]) for record in original))
            for name in policy.attributes
            if roles[name] not in ("identifier", "individual")
        }
        self.places: list[int] = []

    def read(self, name: str, text: str) -> str:
        """A text with its number as the policy means it."""
        comma = re.fullmatch(r"\s*[+-]?\d+,\d+\s*", text)
        return text.replace(",", ".") if comma and name in self.numeric and text not in self.policy.missing else text

    def was(self, name: str, text: str) -> str:
        """A cell of a table that is no release, where `*` may mean missing."""
        return self.policy.text(self.read(name, text))

    def shown(self, name: str, cell: Cell) -> str:
        """A cell that is one value; missing as the one text for it, `*` as itself."""
        assert not isinstance(cell, list)
        if cell is None:
            return self.policy.missing[0]
        text = self.read(name, cell)
        return self.policy.missing[0] if text in self.policy.missing and text != STAR else text

    def plain_row(self, row: Mapping[str, Cell]) -> Row:
        return {name: self.shown(name, row[name]) for name in self.policy.quasi}

    def plain_rows(self) -> list[Row]:
        """The quasi-identifiers of every released record or person."""
        return [{name: row[name] for name in self.policy.quasi} for row in self.after.rows]

    def values(self, name: str, cell: Cell) -> set[str]:
        """The values of a sensitive cell, none where it is missing."""
        if isinstance(cell, list):
            pieces = cell
        elif cell is None or cell in self.policy.missing:
            pieces = []
        else:
            pieces = cell.split("|") if self.shape == "sets" else [cell]
        return {self.read(name, piece) for piece in pieces if piece not in self.policy.missing}

    def table(self, people: Sequence[Sequence[Mapping[str, Cell]]]) -> Table:
        names = [
            name
            for name, attribute in self.policy.attributes.items()
            if attribute["role"] in ("quasi-identifier", "insensitive")
            or (attribute["role"] == "sensitive" and self.individual is None)
        ]
        rows = [{name: self.shown(name, own[0][name]) for name in names if name in own[0]} for own in people]
        items: dict[str, list[set[str]]] = {}
        for name in self.policy.sensitive:
            items[name] = [set().union(*(self.values(name, record[name]) for record in own)) for own in people]
        return Table(rows, items)

    # what fits

    @cached_property
    def row_of(self) -> dict[int, int]:
        return {place: row for row, place in enumerate(self.places)}

    def hidden(self, names: Sequence[str]) -> set[int]:
        return {r for r, row in enumerate(self.after.rows) if all(row[name] == STAR for name in names)}

    def fits(self, target: int, row: int, names: Sequence[str]) -> bool:
        was, shown = self.before.rows[target], self.after.rows[row]
        return all(self.scales[name].true(was[name], shown[name]) for name in names)

    def alike(self, names: Sequence[str]) -> list[int]:
        """How many rows of the original are like each, itself included."""
        looks = [tuple(row[name] for name in names) for row in self.before.rows]
        counts = Counter(looks)
        return [counts[look] for look in looks]

    def chance(self, target: int, fits: Callable[[int, int], bool], hidden: set[int]) -> float:
        """The chance to take the target's own row among those that fit; hidden ones only where no other does."""
        every = [r for r in range(len(self.after)) if fits(target, r)]
        fitting = [r for r in every if r not in hidden] or [r for r in every if r in hidden]
        return 1 / len(fitting) if self.row_of.get(target) in fitting else 0.0

    def promises(self, names: Sequence[str]) -> bool:
        return any(set(names) <= set(model.attributes) for model in self.policy.models)

    def has(self, target: int, name: str, label: str) -> bool:
        """Whether a label is true of somebody who is not released."""
        return any(self.scales[name].true(value, label) for value in self.before.items[name][target])


def by_person(records: Sequence[Mapping[str, Cell]], column: str) -> list[list[Mapping[str, Cell]]]:
    """The records of each person, in the order of their first."""
    people: dict[str, list[Mapping[str, Cell]]] = {}
    for record in records:
        people.setdefault(str(record[column]), []).append(record)
    return list(people.values())


# ---------------------------------------------------------------------------------------------- rates


def rate(chances: Sequence[float], most: Sequence[float] | None = None) -> Rate:
    """A rate with Wilson's interval, found by halving: the shares from which this one lies 1.96 deviations away."""
    n = len(chances)
    p = sum(chances) / n if n else 0.0
    found = {
        "rate": p,
        "interval": [0.0, 1.0] if not n else [edge(p, n, 0.0), edge(p, n, 1.0)],
        "worst": max(chances, default=0.0),
        "certain": sum(chance >= 1 for chance in chances),
        "targets": n,
    }
    if most is not None:
        found["at_most"] = sum(most) / n if n else 0.0
    return found


def edge(p: float, n: int, end: float) -> float:
    """The share farthest towards an end at which a share p of n is still as likely as 95 % say."""
    near, far = p, end
    for _ in range(80):
        middle = (near + far) / 2
        if abs(p - middle) <= 1.959963984540054 * math.sqrt(middle * (1 - middle) / n):
            near = middle
        else:
            far = middle
    return near


# ---------------------------------------------------------------------------------------------- attacks


def known_sets(policy: Policy) -> list[tuple[str, ...]]:
    sets = [model.attributes for model in policy.models] + [tuple(policy.quasi)]
    return [names for names in dict.fromkeys(sets) if names]


def telling(world: World) -> list[str]:
    """The sensitive columns that are played on."""
    counted = list(dict.fromkeys(model.sensitive for model in world.policy.models if model.sensitive))
    for model in world.policy.models:
        listed = model.settings.get("sensitive")
        if isinstance(listed, list):
            raise TypeError("models over several sensitive attributes have no twin")
    others = [name for name in world.policy.sensitive if name not in counted]
    others.sort(key=lambda name: -len(set().union(*world.before.items[name])))
    return [*counted, *others[:MOST_OTHERS]]


def asked(world: World) -> list[tuple[str, tuple[str, ...]]]:
    """Which sensitive column is looked for by what."""
    pairs = [(model.sensitive, model.attributes) for model in world.policy.models if model.sensitive]
    pairs += [(name, tuple(world.policy.quasi)) for name in telling(world)]
    return [pair for pair in dict.fromkeys(pairs) if pair[1]]


def linking(world: World, names: tuple[str, ...]) -> Iterator[Figures]:
    hidden = world.hidden(names)
    everyone = range(len(world.before))

    def fits(target: int, row: int) -> bool:
        return world.fits(target, row, names)

    chances = [world.chance(target, fits, hidden) for target in everyone]
    looks = Counter(tuple(row[name] for name in names) for row in world.after.rows)
    released, most, named = [], [], []
    for target in everyone:
        row = world.row_of.get(target)
        if row is None:
            continue
        released.append(chances[target])
        alike = looks[tuple(world.after.rows[row][name] for name in names)]
        most.append(chances[target] if row in hidden else max(chances[target], 1 / alike if fits(target, row) else 0))
    for row, place in enumerate(world.places):
        if row not in hidden:
            meant = [target for target in everyone if fits(target, row)]
            named.append(1 / len(meant) if place in meant else 0.0)
    after = {"prosecutor": rate(released, most), "journalist": rate(named), "marketer": rate(chances)}
    before = rate([1 / size for size in world.alike(names)])
    for kind, now in after.items():
        yield {
            "attack": kind,
            "attributes": names,
            "before": before,
            "after": now,
            "promised": world.promises(names),
        }


def guesses(values: Mapping[str, int], fitting: int, true: Callable[[str], bool]) -> tuple[float, float, float]:
    """Whether a true value is read off, guessed, and guessed with the most frequent wrong one ruled out."""
    order = sorted(values, key=lambda value: (-values[value], value))
    wrong = [value for value in order if not true(value)]
    best = next(iter(order), None)
    without = next((value for value in order if value not in wrong[:1]), None)
    return (
        float(fitting > 0 and any(true(value) and values[value] == fitting for value in order)),
        float(best is not None and true(best)),
        float(without is not None and true(without)),
    )


def disclosure(world: World, name: str, names: tuple[str, ...]) -> Iterator[Figures]:
    was, shown, scale = world.before.items[name], world.after.items[name], world.scales[name]
    targets = [target for target, own in enumerate(was) if own]
    if not targets or not len(world.after):
        return
    hidden = world.hidden(names)
    looks = [tuple(row[other] for other in names) for row in world.before.rows]
    before, after = [], []
    for target in targets:
        rows = [r for r in range(len(world.after)) if r not in hidden and world.fits(target, r, names)]
        values = Counter(value for r in rows for value in shown[r] if scale.tells(value))
        row = world.row_of.get(target)

        def true(value: str, target: int = target, row: int | None = row) -> bool:
            return world.has(target, name, value) if row is None else value in shown[row]

        after.append(guesses(values, len(rows), true))
        same = [other for other, look in enumerate(looks) if look == looks[target]]
        counted = Counter(value for other in same for value in was[other])
        before.append(guesses(counted, len(same), was[target].__contains__))
    kinds = ["homogeneity", "best guess"]
    everything = Counter(value for own in was for value in own)
    if world.individual is None and len(everything) > 2:
        kinds.append("background knowledge")
    for i, kind in enumerate(kinds):
        yield {
            "attack": kind,
            "attributes": names,
            "sensitive": name,
            "guess": max(everything.values()) / len(was),
            "before": rate([own[i] for own in before]),
            "after": rate([own[i] for own in after]),
        }


def who_is_missing(world: World, name: str, names: tuple[str, ...]) -> Iterator[Figures]:
    left_out = [target for target in range(len(world.before)) if target not in world.row_of]
    scale = world.scales[name]
    shown = Counter(value for own in world.after.items[name] for value in own if scale.tells(value))
    if not left_out or not shown or not any(world.before.items[name]):
        return
    hidden = world.hidden(names)
    missing = [
        target
        for target in left_out
        if not any(world.fits(target, r, names) for r in range(len(world.after)) if r not in hidden)
    ]
    value = min(shown, key=lambda label: (-shown[label], label))
    possible = sorted({*shown, *(own for target in missing for own in world.before.items[name][target])})
    each = {label: [float(world.has(target, name, label)) for target in missing] for label in possible}
    yield {
        "attack": "who is missing",
        "attributes": names,
        "sensitive": name,
        "left_out": len(left_out),
        "before": rate([float(world.has(target, name, value)) for target in range(len(world.before))]),
        "after": rate(each[value], max(each.values(), key=sum)),
    }


def fingerprints(world: World, name: str) -> Iterator[Figures]:
    was, shown, scale = world.before.items[name], world.after.items[name], world.scales[name]
    if not any(was) or not any(shown):
        return
    often = Counter(value for own in was for value in own)
    stars = {r for r, own in enumerate(shown) if own == {STAR}}
    for most in (None, 1, 2):
        before, after = [], []
        for target, own in enumerate(was):
            if not own:
                continue
            known = own if most is None else set(sorted(own, key=lambda value: (often[value], value))[:most])
            alike = [other for other in was if (other == own if most is None else known <= other)]
            before.append(1 / len(alike))

            def fits(_: int, row: int, known: set[str] = known, all_known: bool = most is None) -> bool:
                covered = all(any(scale.true(value, label) for label in shown[row]) for value in known)
                founded = all(any(scale.true(value, label) for value in known) for label in shown[row])
                return covered and (founded or not all_known)

            after.append(world.chance(target, fits, stars))
        yield {
            "attack": "fingerprint",
            "attributes": (),
            "sensitive": name,
            "items": most,
            "before": rate(before),
            "after": rate(after),
        }


def inconsistency(world: World) -> Iterator[Figures]:
    names = tuple(world.policy.quasi)
    rows = world.shown_rows

    def fits(target: int, row: int) -> bool:
        was = world.before.rows[target]
        return all(world.scales[name].true(was[name], shown[name]) for shown in rows[row] for name in names)

    hidden = {r for r, own in enumerate(rows) if all(shown[name] == STAR for shown in own for name in names)}
    yield {
        "attack": "inconsistency",
        "attributes": names,
        "differing": sum(any(shown != own[0] for shown in own) for own in rows),
        "before": rate([1 / size for size in world.alike(names)]),
        "after": rate([world.chance(target, fits, hidden) for target in range(len(world.before))]),
    }


def dependencies(world: World, rules: Sequence[tuple[tuple[str, ...], tuple[str, ...]]]) -> Iterator[Figures]:
    for names in known_sets(world.policy):
        wide = list(names)
        while more := [
            (left, right) for left, right in rules if set(left) <= set(wide) and not set(right) <= set(wide)
        ]:
            wide += [name for name in more[0][1] if name not in wide]
        usable = [(left, right) for left, right in rules if set(right) & set(wide)]
        if not usable:
            continue
        columns = list(dict.fromkeys([*wide, *(name for left, _ in usable for name in left)]))

        def fits(
            target: int,
            row: int,
            wide: Sequence[str] = tuple(wide),
            usable: Sequence[tuple[tuple[str, ...], tuple[str, ...]]] = tuple(usable),
        ) -> bool:
            if not world.fits(target, row, wide):
                return False
            was = world.before.rows[target]
            return all(
                any(other[end] == was[end] and world.fits(i, row, left) for i, other in enumerate(world.before.rows))
                for left, right in usable
                for end in right
                if end in wide
            )

        def plainly(target: int, row: int, names: Sequence[str] = names) -> bool:
            return world.fits(target, row, names)

        released = sorted(world.row_of)
        yield {
            "attack": "dependencies",
            "attributes": names,
            "rules": [f"{', '.join(left)} -> {', '.join(right)}" for left, right in usable],
            "promised": world.promises(names),
            "before": rate([1 / size for size in world.alike(wide)]),
            "without": rate([world.chance(target, plainly, world.hidden(names)) for target in released]),
            "after": rate([world.chance(target, fits, world.hidden(columns)) for target in released]),
        }


def attackers_file(
    world: World, original: Sequence[Row], attacker: Sequence[Row], shared: Sequence[str]
) -> Iterator[Figures]:
    """An attacker's file; ``shared`` are the naming columns that it has in common with the original."""
    names = tuple(name for name in world.policy.quasi if name in attacker[0])
    hidden = world.hidden(names)
    known = [{name: world.was(name, row[name]) for name in names} for row in attacker]
    equal = [[t for t, was in enumerate(world.before.rows) if all(was[n] == own[n] for n in names)] for own in known]
    fitting = [
        [
            r
            for r, shown in enumerate(world.after.rows)
            if r not in hidden and all(world.scales[n].true(own[n], shown[n]) for n in names)
        ]
        for own in known
    ]
    found: Figures = {
        "attack": "attacker's file",
        "attributes": names,
        "rows": len(attacker),
        "matched": {
            "before": {"none": sum(not own for own in equal), "one": sum(len(own) == 1 for own in equal)},
            "after": {"none": sum(not own for own in fitting), "one": sum(len(own) == 1 for own in fitting)},
        },
        "judged_by": list(shared) or None,
        "before": None,
        "after": None,
    }
    if shared:
        people: dict[tuple[str, ...], set[int]] = {}
        seen: dict[str, int] = {}
        for i, record in enumerate(original):
            person = i if world.individual is None else seen.setdefault(record[world.individual], len(seen))
            people.setdefault(tuple(record[name] for name in shared), set()).add(person)
        before, after = [], []
        for i, row in enumerate(attacker):
            own = people.get(tuple(row[name] for name in shared), set())
            if own:
                before.append(sum(1 / len(equal[i]) for person in own if person in equal[i]))
                after.append(sum(1 / len(fitting[i]) for person in own if world.row_of.get(person) in fitting[i]))
        found |= {"before": rate(before), "after": rate(after)}
    yield found


Remake = Callable[[str, Sequence[str]], Counter[tuple[str, ...]] | None]


def minimality(world: World, name: str, remake: Remake) -> Iterator[Figures]:
    names = tuple(world.policy.quasi)
    was = world.before.items[name]
    people = len(was)
    if world.individual is not None or world.policy.sensitive != [name] or not names or people > SMALL:
        return
    if len(world.after) != people or not all(was) or any(own <= {STAR} for own in world.after.items[name]):
        return
    truth = [next(iter(own)) for own in was]
    orders = math.factorial(people) // math.prod(math.factorial(n) for n in Counter(truth).values())
    if orders > WORLDS:
        return
    shown = [next(iter(own)) for own in world.after.items[name]]
    rows = Counter((*(row[n] for n in names), value) for row, value in zip(world.after.rows, shown, strict=True))
    if remake(name, truth) != rows:
        return
    fits = [[world.fits(target, r, names) for r in range(people)] for target in range(people)]
    behind = [
        order for order in permutations(range(people)) if all(fits[target][row] for target, row in enumerate(order))
    ]
    worlds = {tuple(shown[row] for row in order) for order in behind}
    worlds = {values for values in worlds if Counter(values) == Counter(truth)}
    same = [values for values in worlds if remake(name, values) == rows]
    looks = [tuple(row[n] for n in names) for row in world.before.rows]
    alike = [[truth[i] for i, look in enumerate(looks) if look == own] for own in looks]

    def confidence(kept: Iterable[Sequence[str]]) -> Rate:
        every = list(kept)
        return rate([sum(own[i] == truth[i] for own in every) / len(every) for i in range(people)])

    yield {
        "attack": "minimality",
        "attributes": names,
        "sensitive": name,
        "worlds": len(worlds),
        "left": len(same),
        "before": rate([values.count(truth[i]) / len(values) for i, values in enumerate(alike)]),
        "without": confidence(worlds),
        "after": confidence(same),
    }


@dataclass(frozen=True)
class Means:
    """What an attacker has beside the release."""

    original: Sequence[Row]
    attacker: Sequence[Row] = ()
    shared: Sequence[str] = ()
    remake: Remake | None = None
    rules: Sequence[tuple[tuple[str, ...], tuple[str, ...]]] = ()


def play(world: World, means: Means) -> list[Figures]:
    """Every attack that a policy and its tables allow."""
    found: list[Figures] = []
    for names in known_sets(world.policy):
        found += linking(world, names)
    for name, names in asked(world):
        found += disclosure(world, name, names)
        found += who_is_missing(world, name, names)
    for name in telling(world):
        if means.remake is not None:
            found += minimality(world, name, means.remake)
        if world.individual is not None:
            found += fingerprints(world, name)
    if world.individual is not None and world.policy.quasi:
        found += inconsistency(world)
    found += dependencies(world, means.rules)
    if means.attacker:
        found += attackers_file(world, means.original, means.attacker, means.shared)
    return found


def several(name: str, worlds: Sequence[World]) -> Figures:
    """Several releases of one original, the newest last, laid side by side: records alone, whose values are known."""

    def shown(world: World, target: int) -> int | None:
        row = world.row_of.get(target)
        return None if row is None or row in world.hidden(world.policy.quasi) else row

    def values(world: World, row: int) -> set[str]:
        return world.after.items[name][row] - {STAR}

    def chance(target: int, given: Sequence[World]) -> float:
        left: set[str] | None = None
        own: set[str] = set()
        for world in given:
            row = shown(world, target)
            if row is None:
                continue
            quasi = tuple(world.policy.quasi)
            hidden, look = world.hidden(quasi), [world.after.rows[row][n] for n in quasi]
            fitting = [
                r
                for r, other in enumerate(world.after.rows)
                if r not in hidden and (world.fits(target, r, quasi) or [other[n] for n in quasi] == look)
            ]
            possible = set().union(*(values(world, r) for r in fitting))
            left = possible if left is None else left & possible
            own |= values(world, row)
        return 1 / len(left) if left and own & left else 0.0

    newest = worlds[-1]
    targets = [target for target in range(len(newest.before)) if shown(newest, target) is not None]
    names = tuple(newest.policy.quasi)
    looks = [tuple(row[n] for n in names) for row in newest.before.rows]
    was = newest.before.items[name]
    before = []
    for target, look in enumerate(looks):
        alike = set().union(*(was[other] for other, its in enumerate(looks) if its == look))
        before.append(1 / len(alike) if was[target] else 0.0)
    return {
        "attack": "several releases",
        "attributes": names,
        "sensitive": name,
        "releases": len(worlds),
        "before": rate(before),
        "one": rate([chance(target, worlds[-1:]) for target in targets]),
        "after": rate([chance(target, worlds) for target in targets]),
    }


# ---------------------------------------------------------------------------------------------- a raw table


def raw_risk(world: World) -> Figures:
    """The risk of the original as it is: who is alone, below which k, and why."""
    rows, policy = world.before.rows, world.policy

    def sizes(names: Sequence[str], changed: Mapping[str, Sequence[str]] | None = None) -> list[int]:
        cells = changed or {}
        looks = [tuple(cells[name][i] if name in cells else row[name] for name in names) for i, row in enumerate(rows)]
        counts = Counter(looks)
        return [counts[look] for look in looks]

    quasi, every = tuple(policy.quasi), len(rows)
    alone = [size == 1 for size in sizes(quasi)]
    models = [(i, model) for i, model in enumerate(policy.models) if "k" in model.settings]
    constraints = []
    for i, model in models:
        own = sizes(model.attributes)
        bad = [size < model.k for size in own]
        constraints.append(
            {
                "constraint": i,
                "model": model.name,
                "attributes": list(model.attributes),
                "k": model.k,
                "below_k": sum(bad),
                "share": sum(bad) / every,
                "drivers": {
                    name: sum(
                        was and size >= model.k
                        for was, size in zip(bad, sizes([n for n in model.attributes if n != name]), strict=True)
                    )
                    for name in model.attributes
                },
                "below_other_k": {
                    str(k): sum(size < k for size in own) for k in sorted({2, 3, 5, 10, 20, 50, model.k})
                },
            }
        )
    attributes = {}
    for name in quasi:
        others = [other for other in quasi if other != name]
        without = [others != [] and size == 1 for size in sizes(others)]
        attributes[name] = {
            "attribute": name,
            "values": len({row[name] for row in rows}),
            "unique_alone": sum(size == 1 for size in sizes([name])),
            "unique_through_it": sum(own and not other for own, other in zip(alone, without, strict=True)),
        }
    shares = {
        frozenset(chosen): sum(size == 1 for size in sizes(chosen)) / every
        for number_of in range(1, min(4, len(quasi)) + 1)
        for chosen in combinations(quasi, number_of)
    }
    return {
        "rows": every,
        "unique": {"attributes": list(quasi), "rows": sum(alone), "share": sum(alone) / every},
        "constraints": constraints,
        "attributes": attributes,
        "shares": shares,
        "levels": {name: below_k_by_level(world, name, models, sizes) for name in quasi},
    }


def below_k_by_level(world: World, name: str, models: Sequence[tuple[int, Any]], sizes: Any) -> list[int]:
    """How many rows break a model when one column goes up, a level at a time: a leaf at depth d stays until then."""
    column = [row[name] for row in world.before.rows]
    known = world.policy.hierarchy(name, column)
    levels: list[list[str]] = [column]
    if not isinstance(known, Hierarchy):
        levels.append([STAR] * len(column))
    else:
        height = max((len(known.ways[value]) for value in column), default=1) - 1
        for level in range(1, height + 1):
            ways = [known.ways[value] for value in column]
            levels.append([way[max(len(way) - 1 - (height - level), 0)] for way in ways])
    broken = []
    for cells in levels:
        bad = [
            any(own[i] < model.k for own, model in every)
            for every in [[(sizes(model.attributes, {name: cells}), model) for _, model in models]]
            for i in range(len(column))
        ]
        broken.append(sum(bad))
    return broken
