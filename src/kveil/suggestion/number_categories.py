"""Categories that are ranges of numbers: ``60-70``, ``[75-100)``, ``<18``, ``65+``."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import pairwise

from kveil.policy.attributes import STAR
from kveil.policy.numbers import show_number
from kveil.suggestion.hierarchy_guesses import Way, tree_of
from kveil.suggestion.profile import Profile

_NUMBER = r"(\d+(?:\.\d+)?)"
_RANGE = re.compile(rf"[\[(]?{_NUMBER}\s?(?:-|–|to)\s?{_NUMBER}[\])]?", re.ASCII)
_BELOW = re.compile(rf"(?:<=?|≤|under|below|up to)\s?{_NUMBER}|{_NUMBER} (?:or|and) (?:less|under|younger)", re.I)
_ABOVE = re.compile(rf"(?:>=?|≥|over|above)\s?{_NUMBER}|{_NUMBER}\s?(?:\+|(?:or|and) (?:more|over|older|above))", re.I)
Bounds = tuple[Decimal | None, Decimal | None]


def bounds_of(text: str) -> Bounds | None:
    """Return the smallest and the largest number of a range, None for an open end; None where it is no range."""
    if found := _RANGE.fullmatch(text):
        low, high = Decimal(found[1]), Decimal(found[2])
        return (low, high) if low <= high else None
    if found := _BELOW.fullmatch(text):
        return None, Decimal(found[1] or found[2])
    if found := _ABOVE.fullmatch(text):
        return Decimal(found[1] or found[2]), None
    return None


def spans(profile: Profile) -> Way | None:
    """Return ranges of numbers in their order, joined two by two."""
    if profile.distinct < 3:
        return None
    bounds: dict[str, Bounds] = {}
    for text in profile.texts:
        found = bounds_of(text)
        if found is None:
            return None
        bounds[text] = found
    ordered = sorted(profile.texts, key=lambda text: _place(bounds[text]))
    if any(_overlap(bounds[a], bounds[b]) for a, b in pairwise(ordered)):
        return None
    closed = next((text for text in ordered if None not in bounds[text]), ordered[0])
    brackets = closed[0] if closed[0] in "[(" else "", closed[-1] if closed[-1] in "])" else ""
    ways: dict[str, list[str]] = {text: [text] for text in ordered}
    size = 2
    while size < len(ordered):
        for start in range(0, len(ordered), size):
            run = ordered[start : start + size]
            label = _joined(bounds[run[0]][0], bounds[run[-1]][1], brackets) if len(run) > 1 else run[0]
            for text in run:
                if ways[text][-1] != label:
                    ways[text].append(label)
        size *= 2
    lines = tree_of([(*way, STAR) for way in ways.values()])
    return Way("ranges of numbers, joined two by two", lines=lines) if lines else None


def _place(bounds: Bounds) -> tuple[Decimal, Decimal]:
    low, high = bounds
    return Decimal("-Infinity") if low is None else low, Decimal("Infinity") if high is None else high


def _overlap(first: Bounds, second: Bounds) -> bool:
    """Tell whether a range reaches into the next; shared bounds, as in ``60-70, 70-80``, are none."""
    return first[1] is None or second[0] is None or first[1] > second[0] + 1


def _joined(low: Decimal | None, high: Decimal | None, brackets: tuple[str, str]) -> str:
    if low is None:
        return f"up to {show_number(high)}" if high is not None else "any number"
    if high is None:
        return f"{show_number(low)} or more"
    return f"{brackets[0]}{show_number(low)}-{show_number(high)}{brackets[1]}"
