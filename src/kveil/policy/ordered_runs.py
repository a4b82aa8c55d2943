"""Runs of values in an order that every reader knows: of numbers by size, of dates by the calendar.

A run is named by where it begins and ends, and both are nobody's value: a number between two of the table, the first
month of a year. So a label holds for every value below it, and tells nobody's own. The outermost runs are open.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Generic, TypeVar

from kveil.policy.attributes import STAR
from kveil.policy.lines import Line
from kveil.policy.numbers import EXACT, multiple_below, show_number

Key = TypeVar("Key", Decimal, int)
DIGITS = 60  # of a number that a label may show


@dataclass(frozen=True)
class Cutting(Generic[Key]):
    """How runs are cut and named: ``between`` two neighbours, and what a run is called by the two cuts around it."""

    between: Callable[[Key, Key], Key | None]
    name: Callable[[Key | None, Key | None], str]


def ordered_lines(
    values: Mapping[str, Key], weights: Mapping[str, int], how: Cutting[Key], fan_out: int
) -> list[Line] | None:
    """Return a tree of runs of values by their keys, each cut into at most so many about equally heavy ones.

    None where a cut that is needed has no name.
    """
    by_key: dict[Key, list[str]] = {}
    for value in sorted(values, key=lambda value: (values[value], value)):
        by_key.setdefault(values[value], []).append(value)
    lines: list[Line] = []

    def grow(keys: Sequence[Key], above: Line, low: Key | None, high: Key | None) -> bool:
        parts = [] if sum(len(by_key[key]) for key in keys) <= fan_out else parts_of(keys)
        if len(parts) < 2:
            lines.extend((value, *above) for key in keys for value in by_key[key])
            return True
        cuts = [low]
        for one, other in pairwise(parts):
            cut = how.between(one[-1], other[0])
            if cut is None:
                return False
            cuts.append(cut)
        cuts.append(high)
        for part, (start, end) in zip(parts, pairwise(cuts), strict=True):
            alone = len(part) == 1 and len(by_key[part[0]]) == 1
            if not grow(part, above if alone else (how.name(start, end), *above), start, end):
                return False
        return True

    def parts_of(keys: Sequence[Key]) -> list[list[Key]]:
        return cut_evenly([(key, sum(weights.get(value, 0) for value in by_key[key])) for key in keys], fan_out)

    return lines if grow(list(by_key), (STAR,), None, None) else None


Thing = TypeVar("Thing", bound=Hashable)


def cut_evenly(weights: Sequence[tuple[Thing, int]], fan_out: int) -> list[list[Thing]]:
    """Return things in their order in at most so many parts of about equal weight, two at least where there are two."""
    total, seen = max(sum(weight for _, weight in weights), 1), 0
    parts: list[list[Thing]] = [[] for _ in range(fan_out)]
    for thing, weight in weights:
        parts[min(fan_out - 1, seen * fan_out // total)].append(thing)
        seen += weight
    filled = [part for part in parts if part]
    if len(filled) > 1 or len(weights) < 2 or fan_out < 2:
        return filled
    (together,) = filled  # what weighs most stands behind all others
    return [together[:-1], together[-1:]]


def number_cuts(*, about: str = "") -> Cutting[Decimal]:
    """Return how runs of numbers are cut and named; ``about`` is what the numbers are of, if not the values."""
    before = f"{about} " if about else ""

    def name(low: Decimal | None, high: Decimal | None) -> str:
        if low is None:
            return f"{before}below {show_number(high)}" if high is not None else STAR
        return (
            f"{before}above {show_number(low)}"
            if high is None
            else f"{before}{show_number(low)} to {show_number(high)}"
        )

    return Cutting(roundest_between, name)


def roundest_between(low: Decimal, high: Decimal) -> Decimal | None:
    """Return the roundest number strictly between two, which tells least of them; None if it takes very many digits."""
    if low < 0 < high:
        return Decimal(0)
    if low >= high:
        return None
    place = max(low.adjusted(), high.adjusted()) + 1
    for exponent in range(place, place - DIGITS, -1):
        for step in (Decimal((0, (1,), exponent)), Decimal((0, (5,), exponent - 1))):
            number = EXACT.add(multiple_below(low, step), step)
            if number < high:
                shown = show_number(number)
                return number if len(shown) <= DIGITS else None
    return None


def month_cuts() -> Cutting[int]:
    """Return how runs of months are cut and named: at the beginning of a year where one lies between them."""

    def between(low: int, high: int) -> int | None:
        year = high // 12 * 12
        return year if low < year else low + 1

    def name(low: int | None, high: int | None) -> str:
        if low is None:
            return f"before {_start(high)}" if high is not None else STAR
        if high is None:
            return f"{_start(low)} or later"
        if low % 12 == high % 12 == 0:
            first, last = f"{low // 12:04d}", f"{high // 12 - 1:04d}"
        else:
            first, last = _month(low), _month(high - 1)
        return first if first == last else f"{first} to {last}"

    return Cutting(between, name)


def number_of(year: int, month: int) -> int:
    """Return the number of a month, counted from the beginning of the calendar."""
    return year * 12 + month - 1


def _start(month: int) -> str:
    return _month(month) if month % 12 else f"{month // 12:04d}"


def _month(month: int) -> str:
    return f"{month // 12:04d}-{month % 12 + 1:02d}"
