"""A slow twin of what releases under different policies promise together: one person and one promise after another."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

STAR = "*"


@dataclass(frozen=True)
class Published:
    """One release: the roles of columns, the promises, and what it shows of whom."""

    roles: Mapping[str, str]
    promises: Sequence[Mapping[str, Any]]
    rows: Mapping[str, Mapping[str, str]]
    stars: bool = False

    @property
    def quasi(self) -> list[str]:
        return [name for name, role in self.roles.items() if role == "quasi-identifier"]

    @property
    def columns(self) -> list[str]:
        return [name for name, role in self.roles.items() if role in {"quasi-identifier", "sensitive", "insensitive"}]

    @property
    def shown(self) -> dict[str, Mapping[str, str]]:
        """Return the rows that show anything in a quasi-identifier."""
        return {who: row for who, row in self.rows.items() if any(row[name] != STAR for name in self.quasi)}

    def over(self, promise: Mapping[str, Any]) -> list[str]:
        return list(promise.get("attributes", self.quasi))

    def component(self, promise: Mapping[str, Any]) -> set[str]:
        """Return the columns that share a promise with those of one, and so on from there."""
        found = set(self.over(promise))
        for _ in self.quasi:
            for other in self.promises:
                if found & set(self.over(other)):
                    found |= set(self.over(other))
        return found


def key_of(one: Published, promise: Mapping[str, Any]) -> tuple[object, ...]:
    """Return what makes two promises the same."""
    settings = tuple(sorted((key, str(value)) for key, value in promise.items() if key != "attributes"))
    return settings, frozenset(one.over(promise)), frozenset(one.quasi)


def known(one: Published, promise: Mapping[str, Any], other: Published) -> list[str]:
    """Return the columns of a release that somebody knows against whom a promise of another protects."""
    named = one.over(promise)
    columns = []
    for name in other.columns:
        if name in other.quasi:
            if name in named or name not in one.quasi:
                columns.append(name)
        elif name in named:
            columns.append(name)
    return columns


def holds(promise: Mapping[str, Any], members: int, values: Sequence[str | None] | None) -> bool:
    """Tell whether a class keeps a promise: so many members, and these values in a release that shows them."""
    if promise["model"] == "k-anonymity":
        return members >= int(promise["k"])
    if values is None:
        return True
    counts = Counter(value for value in values if value is not None)
    if promise["model"] == "p-sensitive":
        return len(counts) >= int(promise["p"])
    if promise["model"] == "alpha-k":
        most = max(Counter(values).values())
        return members >= int(promise["k"]) and most <= Fraction(str(promise["alpha"])) * members
    assert promise["model"] == "l-diversity"
    if promise.get("variant", "distinct") == "distinct":
        return len(counts) >= int(promise["l"])
    return max(counts.values(), default=0) * Fraction(str(promise["l"])) <= members


def broken(releases: Sequence[Published], number: int, promise: Mapping[str, Any]) -> set[str]:
    """Return the people whose class, over all releases, breaks a promise that one of them gave."""
    one = releases[number]
    classes: dict[tuple[object, ...], set[str]] = defaultdict(set)
    shown = [other.shown for other in releases]
    for who in sorted(set().union(*shown)):
        look = []
        for other, rows in zip(releases, shown, strict=True):
            columns = known(one, promise, other)
            look.append(tuple(rows[who][name] for name in columns) if who in rows else None)
        classes[tuple(look)].add(who)
    found: set[str] = set()
    for members in classes.values():
        values: list[Sequence[str | None] | None] = [None]
        name = promise.get("sensitive")
        for other, rows in zip(releases, shown, strict=True):
            if name in other.columns and name not in other.quasi and members <= set(rows):
                values.append([rows[who][name] if rows[who][name] not in {"", STAR} else None for who in members])
        if not all(holds(promise, len(members), own) for own in values):
            found |= members
    return found


def free(releases: Sequence[Published], given: Sequence[int], promise: Mapping[str, Any]) -> set[str]:
    """Return those who counted as suppressed in every release that gave a promise and shows them."""
    starred: set[str] = set()
    others: set[str] = set()
    for number in given:
        one = releases[number]
        columns = one.component(promise)
        for who, row in one.shown.items():
            gone = one.stars and columns != set(one.quasi) and all(row[name] == STAR for name in columns)
            (starred if gone else others).add(who)
    return starred - others


def fallen(releases: Sequence[Published]) -> tuple[set[str], set[str], set[str]]:
    """Return whom the newest release's own promises fail, whom earlier ones', and of these whom they were given to."""
    newest = len(releases) - 1
    own: set[str] = set()
    told = set()
    for promise in releases[newest].promises:
        own |= broken(releases, newest, promise)
        told.add(key_of(releases[newest], promise))
    given: dict[tuple[object, ...], list[int]] = defaultdict(list)
    text: dict[tuple[object, ...], tuple[int, Mapping[str, Any]]] = {}
    for number, one in enumerate(releases[:-1]):
        for promise in one.promises:
            key = key_of(one, promise)
            if key not in told:
                given[key].append(number)
                text.setdefault(key, (number, promise))
    earlier: set[str] = set()
    promised: set[str] = set()
    for key, (number, promise) in text.items():
        failing = broken(releases, number, promise) - free(releases, given[key], promise)
        earlier |= failing
        promised |= failing & set().union(*(releases[i].shown for i in given[key]))
    return own, earlier, promised
