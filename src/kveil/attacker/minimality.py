"""Minimality: somebody reruns kveil on every assignment of the released values to people, and keeps those that fit.

An algorithm generalizes no more than a table needs, so that a release tells something about the tables it can come from
(Wong et al. 2007). Everything about kveil is public but the table; on small tables all that is left can be tried.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kveil.arrays import Bools, Floats
from kveil.attacker.attacks import Rerun
from kveil.attacker.rate import rate_of
from kveil.attacker.world import World
from kveil.policy.attributes import STAR

MOST_PEOPLE = 8
MOST_WORLDS = 420  # assignments that are tried
ReleaseRows = Counter[tuple[str, ...]]
# From a sensitive attribute and everybody's value to a release.
Remake = Callable[[str, Sequence[str]], ReleaseRows | None]


@dataclass(frozen=True)
class _Worlds:
    """Assignments of values to people: a row per assignment, in it a value per person."""

    values: list[tuple[str, ...]]

    def confidence(self, truth: Sequence[str], kept: Bools) -> Floats:
        """Return per person in how many of the assignments that are kept the person has the true value."""
        right = [[value == true for value, true in zip(own, truth, strict=True)] for own in self.values]
        return np.asarray(np.array(right, dtype=bool)[kept].mean(axis=0), dtype=np.float64)


def minimality(world: World, sensitive: str, remake: Remake) -> list[Rerun]:
    """Play somebody who knows everybody's quasi-identifiers and reruns kveil on all that the release leaves possible.

    Nothing is played on tables with more than a few people, with people left out, or where kveil does not make this
    release of this table. ``without`` is what the release tells without running anything.
    """
    names = tuple(world.policy.quasi_identifiers)
    plain = not world.persons and list(world.items_before) == [sensitive] and world.after.height == world.people
    if not plain or not names or world.people > MOST_PEOPLE or world.items_before[sensitive].height < world.people:
        return []
    truth = world.items_before[sensitive].sort("row")["item"].to_list()
    released = world.items_after[sensitive].sort("row")["item"].to_list()
    if _number(truth) > MOST_WORLDS or len(released) < world.people or STAR in released:
        return []
    shown = [world.after[name].to_list() for name in names]
    rows: ReleaseRows = Counter(zip(*shown, released, strict=True))
    if remake(sensitive, truth) != rows:
        return []
    kinds = list(rows)
    places = _places(world, names, kinds)
    worlds = _Worlds([own for own in _assignments(truth) if _fits(places, own, kinds, rows)])
    everything = np.ones(len(worlds.values), dtype=bool)
    same = np.array([remake(sensitive, own) == rows for own in worlds.values], dtype=bool)
    alike = world.equal("before", names)
    before = np.array([_share(truth, alike.member == alike.member[i], truth[i]) for i in range(world.people)])
    return [
        Rerun(
            attack="minimality",
            attributes=names,
            sensitive=sensitive,
            worlds=len(worlds.values),
            left=int(same.sum()),
            before=rate_of(before),
            without=rate_of(worlds.confidence(truth, everything)),
            after=rate_of(worlds.confidence(truth, same)),
        )
    ]


def _share(values: Sequence[str], rows: Bools, value: str) -> float:
    chosen = [values[i] for i in np.flatnonzero(rows)]
    return chosen.count(value) / len(chosen)


def _number(values: Sequence[str]) -> int:
    """Return in how many different ways values can be given to people."""
    return math.factorial(len(values)) // math.prod(math.factorial(n) for n in Counter(values).values())


def _assignments(values: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Return every different order of some values."""
    left = Counter(sorted(values))

    def place(done: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if len(done) == len(values):
            yield done
        for value in left:
            if left[value]:
                left[value] -= 1
                yield from place((*done, value))
                left[value] += 1

    yield from place(())


def _places(world: World, names: tuple[str, ...], kinds: list[tuple[str, ...]]) -> Bools:
    """Return which kinds of rows may stand for whom by their quasi-identifiers: a row per person."""
    fits = np.ones((world.people, len(kinds)), dtype=bool)
    for n, name in enumerate(names):
        column, shown = world.column("before", name), world.column("after", name)
        position = {text: i for i, text in enumerate(shown.texts)}
        covered = world.cover(name, column.texts, shown.texts).of_values(column.codes)
        fits &= covered[:, [position[kind[n]] for kind in kinds]]
    return fits


def _fits(places: Bools, values: Sequence[str], kinds: list[tuple[str, ...]], rows: ReleaseRows) -> bool:
    """Tell whether everybody can be given a released row of their own that fits them and shows their value.

    Who stands behind which row is a matching of people and rows, found by augmenting paths.
    """
    fits = places & np.array([[kind[-1] == value for kind in kinds] for value in values], dtype=bool)
    holders: list[list[int]] = [[] for _ in kinds]

    def seat(person: int, tried: set[int]) -> bool:
        for kind in np.flatnonzero(fits[person]).tolist():
            if kind in tried:
                continue
            tried.add(kind)
            if len(holders[kind]) < rows[kinds[kind]]:
                holders[kind].append(person)
                return True
            for i, other in enumerate(holders[kind]):
                if seat(other, tried):
                    holders[kind][i] = person
                    return True
        return False

    return all(seat(person, set()) for person in range(len(values)))
