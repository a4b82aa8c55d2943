"""A slow twin of what the verifier says about several releases: dictionaries and loops, one person after another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Shown = Mapping[str, tuple[tuple[str, ...], str]]  # person -> what is shown, sensitive value


@dataclass(frozen=True)
class Classes:
    """People who look alike in all releases, and the values that each class has in every release that shows it."""

    people: dict[tuple[tuple[str, ...] | None, ...], set[str]]
    values: dict[tuple[tuple[str, ...] | None, ...], list[set[str]]]


def classes_of(releases: Sequence[Shown]) -> Classes:
    people: dict[tuple[tuple[str, ...] | None, ...], set[str]] = defaultdict(set)
    for person in sorted(set().union(*releases)):
        people[tuple(shown[person][0] if person in shown else None for shown in releases)].add(person)
    values = {
        look: [
            {shown[person][1] for person in members}
            for shown, own in zip(releases, look, strict=True)
            if own is not None
        ]
        for look, members in people.items()
    }
    return Classes(dict(people), values)


def below(releases: Sequence[Shown], k: int, least: int) -> tuple[int, int]:
    """Return how many people are in classes with fewer than k people, and in classes with fewer than l values."""
    found = classes_of(releases)
    small = sum(len(members) for members in found.people.values() if len(members) < k)
    alike = sum(
        len(members) for look, members in found.people.items() if any(len(own) < least for own in found.values[look])
    )
    return small, alike


def possible(releases: Sequence[Shown], person: str) -> set[str]:
    """Return the values that occur in a person's group in every release that shows the person."""
    left: set[str] | None = None
    for shown in releases:
        if person in shown:
            own = {value for look, value in shown.values() if look == shown[person][0]}
            left = own if left is None else left & own
    return left or set()
