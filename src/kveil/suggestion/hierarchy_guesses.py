"""Hierarchies for a column: round numbers, calendar, masks, known trees, and runs of values as a last resort."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from importlib.resources import files

from kveil.errors import PolicyError
from kveil.policy.attributes import STAR, Attribute
from kveil.policy.balanced import balanced_lines
from kveil.policy.builders import build_lines
from kveil.policy.lines import Line, check_lines
from kveil.policy.months import read_months
from kveil.policy.numbers import show_number
from kveil.policy.written import IntervalKeys, WrittenBuilder
from kveil.suggestion.profile import Profile, usual_k
from kveil.words import count

ONE, TWO, FIVE, TEN = Decimal(1), Decimal(2), Decimal(5), Decimal(10)
LATER = "open for what a later table brings"
TAILS = (0.0, 0.01, 0.02, 0.05, 0.1)  # of the records, that one open band at each end may take
ENOUGH = 8  # different numbers between the tails, else there is nothing to cut into bands
MOSTLY = 0.9  # of a column's values have a form that tells how they become coarser
FEW = 8  # as many values need no steps between themselves and `*`


@dataclass(frozen=True)
class Order:
    """What runs of values go by: numbers that another column, ``about``, has for them; else what the values are."""

    of: Mapping[str, Decimal] | None = None
    about: str = ""


@dataclass(frozen=True)
class Way:
    """How a column's values become coarser: a builder as a policy writes it, or lines of a tree; and why so.

    Neither where a value becomes `*` at once. ``runs``: the inner nodes of the tree are runs of values in an order.
    """

    reason: str
    builder: WrittenBuilder | None = None
    lines: tuple[Line, ...] | None = None
    doubtful: bool = False
    runs: Order | None = None


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
            lines.append((text, *([f"{category}*"] if category in divided else []), chapter, STAR))
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
    return _written_dates(profile)


def _written_dates(profile: Profile) -> Way | None:
    """Return months, years and decades of dates in other notations; few others beside them become `*` at once."""
    if profile.share("day_first") + profile.share("year_first") < MOSTLY:
        return None
    months = read_months(profile.texts)
    strange = profile.distinct - len(months.of)
    if strange > (1 - MOSTLY) * profile.distinct:
        return None
    lines: list[Line] = []
    for text in sorted(profile.texts):
        if text in months.of:
            year, month = months.of[text]
            steps = (f"{year:04d}-{month:02d}",) if months.known else ()
            lines.append((text, *steps, f"{year:04d}", f"{year // 10:03d}*", STAR))
        else:
            lines.append((text, STAR))
    tree = tree_of(lines)
    if tree is None:
        return None
    told = f"dates: {'month, ' if months.known else ''}year, decade"
    told += "" if months.known else ", day and month cannot be told apart"
    if strange:
        told += f"; {count(strange, 'value')} of {profile.distinct} no dates, directly under `*`"
    return Way(told, lines=tree)


def _knows(builder: WrittenBuilder, profile: Profile) -> bool:
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


def numbers(profile: Profile, *, age: bool = False) -> Way | None:
    """Return intervals of round widths, open at their ends; far numbers of a few records lie beyond the ends."""
    values = profile.numbers
    if values is None or len(values) < 2:
        return None
    if age and profile.whole and values[0] >= 0 and values[-1] <= 130:
        told = f"ages: bands of 5, 10, 20, 40 years, the last {LATER}"
        return _intervals((Decimal(0), Decimal(119)), [FIVE, TEN, TEN * 2, TEN * 4], told, "above")
    low, high = values[0], values[-1]
    told = ""
    for tail in TAILS:
        if tail and not _lopsided(profile, (low, high), _step(profile, high - low)):
            break
        inner = _between_tails(profile, tail)
        if sum(inner[0] <= value <= inner[1] for value in values) < min(ENOUGH, len(values)):
            break
        told = ", those that lie far from most beyond the ends" if inner != (values[0], values[-1]) else ""
        low, high = inner
    widths = [_step(profile, high - low)]
    while widths[-1] * 2 < high - low and len(widths) < 4:
        widths.append(widths[-1] * 2)
    start = (low / widths[-1]).to_integral_value("ROUND_FLOOR") * widths[-1]
    pieces = max(((high - start) / widths[-1]).to_integral_value("ROUND_FLOOR") + 1, TWO)
    end = start + pieces * widths[-1] - (ONE if profile.whole else widths[0])
    shown = ", ".join(show_number(width) for width in widths)
    return _intervals((start, end), widths, f"numbers: round widths {shown}{told}; {LATER}", "both")


def _step(profile: Profile, span: Decimal) -> Decimal:
    """Return the narrowest width for numbers of a span."""
    step = _nice(span / 20)
    return max(step, TWO) if profile.whole else step


def _intervals(ends: tuple[Decimal, Decimal], widths: list[Decimal], reason: str, which: str) -> Way:
    inside: IntervalKeys = {
        "from": show_number(ends[0]),
        "to": show_number(ends[1]),
        "widths": [show_number(width) for width in widths],
        "open": which,
    }
    return Way(reason, {"intervals": inside})


def _between_tails(profile: Profile, tail: float) -> tuple[Decimal, Decimal]:
    """Return the smallest and the largest number once a share of the records is taken off at each end."""
    ordered = sorted((Decimal(text), weight) for text, weight in profile.counts)
    ends = []
    for side in (ordered, ordered[::-1]):
        seen = 0
        for number, weight in side:
            seen += weight
            if seen > tail * profile.known:
                ends.append(number)
                break
    return ends[0], ends[1]


def _lopsided(profile: Profile, ends: tuple[Decimal, Decimal], width: Decimal) -> bool:
    """Tell whether one interval of the narrowest width would hold most of the records, and more than one number."""
    inside: dict[Decimal, list[int]] = {}
    for text, weight in profile.counts:
        number = min(max(Decimal(text), ends[0]), ends[1])
        inside.setdefault((number / width).to_integral_value("ROUND_FLOOR"), []).append(weight)
    fullest = max(inside.values(), key=sum)
    return sum(fullest) > 0.5 * profile.known and len(fullest) > 2 and profile.distinct > 30


def codes(profile: Profile) -> Way | None:
    """Return runs of whole numbers that stand for something, in their order; few need no steps."""
    if profile.distinct <= FEW or profile.numbers is None:
        return None
    return balanced_runs(profile, told="numbers that stand for something")


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
    together = {head: texts for head, texts in together.items() if frequency.get(head, least) >= least}
    shared = {text for texts in together.values() if len(texts) > 1 for text in texts}
    if len(shared) < 0.4 * profile.distinct or len(together) < 2:
        return None
    lines = [(text, f"{begins[text]}*", STAR) if text in shared else (text, STAR) for text in sorted(profile.texts)]
    tree = tree_of(lines)
    return Way("values under the word they begin with", lines=tree, doubtful=True) if tree else None


AS_VALUES = Order()


def balanced_runs(profile: Profile, *, order: Order = AS_VALUES, told: str = "no known tree") -> Way:
    """Return runs of values in an order, about equally frequent: a last resort."""
    lines = _run_lines(profile.counts, order, usual_k(profile.rows))
    if lines is None or max(map(len, lines)) < 3:
        return Way(f"{count(profile.distinct, 'value')}, no steps in between")
    if order.about:
        how = f"values in the order of {order.about}"
    else:
        how = "values in the order of their numbers" if profile.numbers is not None else "values by how they begin"
    return Way(
        f"{told}: {how}, cut into runs that are about equally frequent; a tree by meaning would be better",
        lines=lines,
        doubtful=True,
        runs=order,
    )


def _run_lines(counts: Iterable[tuple[str, int]], order: Order, least: int) -> tuple[Line, ...] | None:
    return tree_of(balanced_lines(counts, 5, least=least, order=order.of, about=order.about))


def runs_of_people(way: Way, people: Mapping[str, int], least: int) -> Way:
    """Return runs with beginnings that at least so many people have, whatever their number of records."""
    if way.lines is None or way.runs is None:
        return way
    counts = [(line[0], people.get(line[0], 0)) for line in way.lines]
    return replace(way, lines=_run_lines(counts, way.runs, least))


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
    return balanced_runs(profile)
