"""Hierarchies for a column: round numbers, calendar, masks, known trees, and runs of values as a last resort."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

from kveil.errors import PolicyError, count
from kveil.policy.attributes import STAR, Attribute
from kveil.policy.hierarchy import Line, balanced_lines, build_lines, check_lines
from kveil.policy.numbers import show_number
from kveil.suggest.profile import Profile

ONE, TWO, FIVE, TEN = Decimal(1), Decimal(2), Decimal(5), Decimal(10)
FEW = 8  # as many values need no steps between themselves and `*`


@dataclass(frozen=True)
class Way:
    """How a column's values become coarser: a builder as a policy writes it, or lines of a tree; and why so.

    Neither where a value becomes `*` at once.
    """

    reason: str
    builder: dict[str, Any] | None = None
    lines: tuple[Line, ...] | None = None
    doubtful: bool = False


@cache
def _known(name: str) -> list[dict[str, str]]:
    text = (files("kveil") / "data" / "known" / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter=";"))


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _tree(lines: Sequence[Line]) -> tuple[Line, ...] | None:
    try:
        return check_lines(lines, "")
    except PolicyError:
        return None


def _by_table(profile: Profile, table: str, levels: tuple[str, str], least: float) -> tuple[Line, ...] | None:
    """Return a tree from a known table by names or codes, None where too few of the values are in it."""
    rows = _known(table)
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
        return _tree(lines)
    return None


def countries(profile: Profile) -> Way | None:
    """Return the tree of countries, parts of continents and continents."""
    lines = _by_table(profile, "countries", ("part", "continent"), 0.8)
    return Way("countries under their parts of the world and continents", lines=lines) if lines else None


def states(profile: Profile) -> Way | None:
    """Return the tree of the United States by division and region."""
    lines = _by_table(profile, "states", ("division", "region"), 0.9)
    return Way("states under the census's divisions and regions", lines=lines) if lines else None


def icd(profile: Profile) -> Way | None:
    """Return ICD codes under their categories and chapters."""
    nine, ten = profile.share("icd9"), profile.share("icd10")
    if max(nine, ten) < 0.9:
        return None
    system = "9" if nine >= ten else "10"
    chapters = [row for row in _known("icd") if row["system"] == system]
    lines: list[Line] = []
    for text in sorted(profile.texts):
        category = text.split(".")[0][: 3 if system == "10" else 4].upper()
        if system == "9" and category[:1].isdigit():
            category = category[:3]
        chapter = next((r["chapter"] for r in chapters if r["from"] <= category[:3] <= r["to"]), None)
        way: Line = (text,)
        if f"{category}.*" != text and "." in text:
            way += (f"{category}.*",)
        lines.append((*way, chapter, STAR) if chapter else (*way, STAR))
    tree = _tree(lines)
    return Way(f"looks like ICD-{system} codes: code, category, chapter", lines=tree) if tree else None


def dates(profile: Profile) -> Way | None:
    """Return the calendar for ISO dates, and a tree of months and years for other ways to write them."""
    if profile.share("date") == 1 and _knows({"dates": ["month", "year", "decade"]}, profile):
        return Way("ISO dates: month, year, decade", {"dates": ["month", "year", "decade"]})
    if profile.share("month") == 1:
        lines = [(text, text[:4], f"{text[:3]}*", STAR) for text in sorted(profile.texts)]
        return Way("months: year, decade", lines=_tree(lines))
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
        return Way(f"dates: {'month, ' if month is not None else ''}year, decade{unsure}", lines=_tree(lines))
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
        oldest = next(oldest for oldest in (99, 119, 139) if high <= oldest)
        return _intervals(
            Decimal(0), Decimal(oldest), [FIVE, TEN, TEN * 2, TEN * 4], "ages: bands of 5, 10, 20, 40 years"
        )
    step = _nice(span / 20)
    if profile.whole:
        step = max(step, TWO)
    if _lopsided(profile, step):
        coarse = _nice(span / 1000)
        if profile.whole:
            coarse = max(coarse, ONE)
        bottom = (low / coarse).to_integral_value("ROUND_FLOOR") * coarse
        top = (high / coarse).to_integral_value("ROUND_CEILING") * coarse
        inside = {"within": [show_number(bottom), show_number(top)], "round": show_number(coarse)}
        return Way("numbers, most of them close together: ranges with round bounds", {"ranges": inside})
    widths = [step]
    while widths[-1] * 2 < span and len(widths) < 4:
        widths.append(widths[-1] * 2)
    start = (low / widths[-1]).to_integral_value("ROUND_FLOOR") * widths[-1]
    pieces = ((high - start) / widths[-1]).to_integral_value("ROUND_FLOOR") + 1
    end = start + pieces * widths[-1]
    if profile.whole:
        end -= 1
    shown = ", ".join(show_number(width) for width in widths)
    return _intervals(start, end, widths, f"numbers: round widths {shown}")


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


def spans(profile: Profile) -> Way | None:
    """Return categories that are ranges of numbers, such as ``60-70``, joined two by two."""
    if profile.distinct < 3 or profile.share("span") < 1:
        return None
    bounds = {text: tuple(Decimal(n) for n in re.findall(r"\d+(?:\.\d+)?", text)) for text in profile.texts}
    ordered = sorted(profile.texts, key=lambda text: bounds[text])
    if any(low > high for low, high in bounds.values()) or any(
        bounds[a][1] > bounds[b][0] + 1 for a, b in pairwise(ordered)
    ):
        return None
    opening = ordered[0][0] if ordered[0][0] in "[(" else ""
    closing = ordered[0][-1] if ordered[0][-1] in "])" else ""
    ways: dict[str, list[str]] = {text: [text] for text in ordered}
    size = 2
    while size < len(ordered):
        for start in range(0, len(ordered), size):
            run = ordered[start : start + size]
            low, high = show_number(bounds[run[0]][0]), show_number(bounds[run[-1]][1])
            label = f"{opening}{low}-{high}{closing}" if len(run) > 1 else run[0]
            for text in run:
                if ways[text][-1] != label:
                    ways[text].append(label)
        size *= 2
    lines = _tree([(*way, STAR) for way in ways.values()])
    return Way("ranges of numbers, joined two by two", lines=lines) if lines else None


def balanced(profile: Profile) -> Way:
    """Return runs of values in the order of their texts, about equally frequent: a last resort."""
    lines = _tree(list(balanced_lines(profile.counts, 5)))
    if lines is None or max(map(len, lines)) < 3:
        return Way(f"{count(profile.distinct, 'value')}, no steps in between")
    return Way(
        "no known tree: values in the order of their texts, cut into runs that are about equally frequent; "
        "a tree by meaning would be better",
        lines=lines,
        doubtful=True,
    )


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
