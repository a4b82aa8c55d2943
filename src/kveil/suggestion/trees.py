"""Hierarchies for a column: round numbers, calendar, masks, known trees, and runs of values as a last resort."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

from kveil.errors import PolicyError
from kveil.policy.attributes import STAR, Attribute
from kveil.policy.builders import balanced_lines, build_lines, name_runs
from kveil.policy.lines import Line, check_lines
from kveil.policy.numbers import show_number
from kveil.suggestion.profile import Profile, usual_k
from kveil.words import count

ONE, TWO, FIVE, TEN = Decimal(1), Decimal(2), Decimal(5), Decimal(10)
ROOM = Decimal("0.1")  # of the span of numbers, left for what a later table brings
LATER = "with room for what a later table brings"
FEW = 8  # as many values need no steps between themselves and `*`


@dataclass(frozen=True)
class Way:
    """How a column's values become coarser: a builder as a policy writes it, or lines of a tree; and why so.

    Neither where a value becomes `*` at once. ``runs``: the inner nodes of the tree are runs of values in an order.
    """

    reason: str
    builder: dict[str, Any] | None = None
    lines: tuple[Line, ...] | None = None
    doubtful: bool = False
    runs: bool = False


@cache
def known_table(name: str) -> list[dict[str, str]]:
    """Return a small table of the package's own, as its rows."""
    text = (files("kveil") / "data" / "known" / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter=";"))


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def tree_of(lines: Sequence[Line]) -> tuple[Line, ...] | None:
    """Return lines if they are a tree, else None."""
    try:
        return check_lines(lines, "")
    except PolicyError:
        return None


def _by_table(profile: Profile, table: str, levels: tuple[str, str], least: float, reason: str) -> Way | None:
    """Return a tree from a known table by names or codes, None where too few of the values are in it.

    Values that are not in it become `*` at once, which the steward is told.
    """
    rows = known_table(table)
    for key in ("name", "code"):
        place = {_plain(row[key]): row for row in rows if row[key]}
        known = [text for text in profile.texts if _plain(text) in place]
        weight = dict(profile.counts)
        if len(known) < 3 or sum(weight[text] for text in known) < least * profile.known:
            continue
        if len(known) < 0.6 * profile.distinct:
            continue
        labels = {row[level] for row in rows for level in levels}
        if labels & set(profile.texts):  # Georgia is a country and a state, South a region and a value of Adult
            marked = {label: f"{label} (part)" for label in labels}
        else:
            marked = {label: label for label in labels}
        lines: list[Line] = []
        for text in sorted(profile.texts):
            row = place.get(_plain(text))
            way = (marked[row[levels[0]]], marked[row[levels[1]]]) if row else ()
            lines.append((text, *way, STAR))
        tree = tree_of(lines)
        strange = profile.distinct - len(known)
        if strange:
            reason += f"; {count(strange, 'value')} of {profile.distinct} not known there, directly under `*`"
        return Way(reason, lines=tree, doubtful=strange > 0) if tree else None
    return None


def countries(profile: Profile) -> Way | None:
    """Return the tree of countries, parts of continents and continents."""
    told = "countries under their parts of the world and continents"
    return _by_table(profile, "countries", ("part", "continent"), 0.8, told)


def states(profile: Profile) -> Way | None:
    """Return the tree of the United States by division and region."""
    told = "states under the census's divisions and regions"
    return _by_table(profile, "states", ("division", "region"), 0.9, told)


def icd(profile: Profile) -> Way | None:
    """Return ICD codes under their categories and chapters."""
    nine, ten = profile.share("icd9"), profile.share("icd10")
    if max(nine, ten) < 0.9:
        return None
    system = "9" if nine >= ten else "10"
    chapters = [row for row in known_table("icd") if row["system"] == system]
    categories = {text: _icd_category(text, system) for text in profile.texts}
    divided = {category for text, category in categories.items() if text.upper() != category}
    lines: list[Line] = []
    strange = 0
    for text, category in sorted(categories.items()):
        chapter = next((r["chapter"] for r in chapters if r["from"] <= category[:3] <= r["to"]), None)
        strange += chapter is None
        if chapter is None:
            lines.append((text, STAR))
        else:
            lines.append((text, *([f"{category}.*"] if category in divided else []), chapter, STAR))
    tree = tree_of(lines)
    told = f"looks like ICD-{system} codes: code, category, chapter"
    if strange:
        told += f"; {count(strange, 'value')} of {profile.distinct} in no chapter, directly under `*`"
    return Way(told, lines=tree, doubtful=strange > 0) if tree else None


def _icd_category(text: str, system: str) -> str:
    """Return a code's category: what stands before the point, of ICD-9 with the zeros that programs cut off."""
    before = text.split(".")[0].upper()
    if system == "10":
        return before[:3]
    return before[:3].zfill(3) if before[:1].isdigit() else before[: 4 if before.startswith("E") else 3]


def dates(profile: Profile) -> Way | None:
    """Return the calendar for ISO dates, and a tree of months and years for other ways to write them."""
    if profile.share("date") == 1 and _knows({"dates": ["month", "year", "decade"]}, profile):
        return Way("ISO dates: month, year, decade", {"dates": ["month", "year", "decade"]})
    if profile.share("month") == 1:
        lines = [(text, text[:4], f"{text[:3]}*", STAR) for text in sorted(profile.texts)]
        return Way("months: year, decade", lines=tree_of(lines))
    if profile.share("day_first") == 1:
        parts = {text: [int(part) for part in re.split(r"[./-]", text)] for text in profile.texts}
        first, second = max(p[0] for p in parts.values()), max(p[1] for p in parts.values())
        month = 1 if first > 12 >= second else 0 if second > 12 >= first else None
        lines = []
        for text, part in sorted(parts.items()):
            year = f"{part[2]:04d}"
            steps = (f"{year}-{part[month]:02d}",) if month is not None else ()
            lines.append((text, *steps, year, f"{year[:3]}*", STAR))
        unsure = "" if month is not None else ", day and month cannot be told apart"
        return Way(f"dates: {'month, ' if month is not None else ''}year, decade{unsure}", lines=tree_of(lines))
    return None


def _knows(builder: dict[str, Any], profile: Profile) -> bool:
    spec = Attribute.model_validate({"role": "quasi-identifier", "hierarchy": builder}).hierarchy
    try:
        return not build_lines(spec, profile.texts, profile.name)[1]
    except PolicyError:
        return False


def mask(profile: Profile) -> Way | None:
    """Return masks from the end, for codes whose first characters say more than their last."""
    longest = max(map(len, profile.texts))
    keep = list(range(longest - 1, 0, -1))[:4]
    if not keep or not _knows({"mask": {"keep": keep}}, profile):
        return None
    return Way(f"codes of up to {longest} characters, cut from the end", {"mask": {"keep": keep}})


def _nice(number: Decimal) -> Decimal:
    """Return the smallest of 1, 2, 5, 10, 20, 50 … (and their tenths) that is not below a number."""
    scale = ONE
    while scale * TEN <= number:
        scale *= TEN
    while scale > number:
        scale /= TEN
    return next(scale * step for step in (ONE, TWO, FIVE, TEN) if scale * step >= number)


def numbers(profile: Profile, age: bool = False) -> Way | None:
    """Return intervals of round widths, for lopsided numbers ranges with round bounds."""
    values = profile.numbers
    if values is None or len(values) < 2:
        return None
    low, high = values[0], values[-1]
    span = high - low
    if age and profile.whole and low >= 0 and high <= 130:
        oldest = Decimal(119 if high <= 119 else 139)  # nobody whom a later table brings is older
        return _intervals(Decimal(0), oldest, [FIVE, TEN, TEN * 2, TEN * 4], "ages: bands of 5, 10, 20, 40 years")
    step = _nice(span / 20)
    if profile.whole:
        step = max(step, TWO)
    if _lopsided(profile, step):
        coarse = _nice(span / 1000)
        if profile.whole:
            coarse = max(coarse, ONE)
        bottom = ((low - _room_below(low, span)) / coarse).to_integral_value("ROUND_FLOOR") * coarse
        top = ((high + ROOM * span) / coarse).to_integral_value("ROUND_CEILING") * coarse
        inside = {"within": [show_number(bottom), show_number(top)], "round": show_number(coarse)}
        return Way(f"numbers, most of them close together: ranges with round bounds; {LATER}", {"ranges": inside})
    widths = [step]
    while widths[-1] * 2 < span and len(widths) < 4:
        widths.append(widths[-1] * 2)
    start = ((low - _room_below(low, span)) / widths[-1]).to_integral_value("ROUND_FLOOR") * widths[-1]
    pieces = ((high + ROOM * span - start) / widths[-1]).to_integral_value("ROUND_FLOOR") + 1
    end = start + pieces * widths[-1]
    if profile.whole:
        end -= 1
    shown = ", ".join(show_number(width) for width in widths)
    return _intervals(start, end, widths, f"numbers: round widths {shown}; {LATER}")


def _room_below(low: Decimal, span: Decimal) -> Decimal:
    """Return how much smaller numbers may become in a later table; what has none below 0 is taken to have a floor."""
    return min(ROOM * span, low) if low >= 0 else ROOM * span


def _intervals(start: Decimal, end: Decimal, widths: list[Decimal], reason: str) -> Way:
    inside = {"from": show_number(start), "to": show_number(end), "widths": [show_number(width) for width in widths]}
    return Way(reason, {"intervals": inside})


def _lopsided(profile: Profile, width: Decimal) -> bool:
    """Tell whether one interval of the narrowest width would hold most of the records, and more than one number."""
    inside: dict[Decimal, list[int]] = {}
    for text, weight in profile.counts:
        inside.setdefault((Decimal(text) / width).to_integral_value("ROUND_FLOOR"), []).append(weight)
    fullest = max(inside.values(), key=sum)
    return sum(fullest) > 0.5 * profile.known and len(fullest) > 2 and profile.distinct > 30


def codes(profile: Profile) -> Way | None:
    """Return runs of whole numbers that stand for something, in their order; few need no steps."""
    if profile.distinct <= FEW or profile.numbers is None:
        return None
    return balanced(profile, {text: Decimal(text) for text in profile.texts}, "numbers that stand for something")


def prefixes(profile: Profile) -> Way | None:
    """Return values under what they begin with, such as ``Surgery-General`` under ``Surgery*``."""
    if profile.distinct <= FEW or profile.numbers is not None:
        return None
    begins = {text: found[0] for text in profile.texts if (found := re.match(r"[^\W\d_]{3,}(?=[-/:_])", text))}
    # A value that is nothing but the beginning of others belongs to them.
    heads = set(begins.values())
    begins |= {text: text for text in profile.texts if text in heads}
    together = {head: [text for text in begins if begins[text] == head] for head in heads}
    frequency, least = dict(profile.counts), usual_k(profile.rows)  # a label names nobody's own word
    together = {head: texts for head, texts in together.items() if sum(map(frequency.__getitem__, texts)) >= least}
    shared = {text for texts in together.values() if len(texts) > 1 for text in texts}
    if len(shared) < 0.4 * profile.distinct or len(together) < 2:
        return None
    lines = [(text, f"{begins[text]}*", STAR) if text in shared else (text, STAR) for text in sorted(profile.texts)]
    tree = tree_of(lines)
    return Way("values under the word they begin with", lines=tree, doubtful=True) if tree else None


def balanced(profile: Profile, order: Mapping[str, Decimal] | None = None, told: str = "no known tree") -> Way:
    """Return runs of values in an order, by default that of their texts, about equally frequent: a last resort."""
    ordered = None if order is None else order.__getitem__
    lines = tree_of(list(balanced_lines(profile.counts, 5, ordered, least=usual_k(profile.rows))))
    if lines is None or max(map(len, lines)) < 3:
        return Way(f"{count(profile.distinct, 'value')}, no steps in between")
    return Way(
        f"{told}: values in the order of {'their texts' if order is None else 'their numbers'}, cut into runs that are "
        "about equally frequent; a tree by meaning would be better",
        lines=lines,
        doubtful=True,
        runs=True,
    )


def named_for_people(way: Way, people: Mapping[str, int], least: int) -> Way:
    """Return runs named by values that at least so many people have, whatever their number of records."""
    return way if way.lines is None else replace(way, lines=name_runs(way.lines, people, least))


def first_of(profile: Profile, *ways: Callable[[Profile], Way | None]) -> Way:
    """Return the first hierarchy that fits; few values need none."""
    if profile.distinct == 0:
        return Way("no values")
    for way in ways:
        found = way(profile)
        if found is not None:
            return found
    if profile.distinct <= FEW:
        return Way(f"{count(profile.distinct, 'value')}, no steps in between")
    return balanced(profile)
