"""Labels with two ends, as readers read them: `18-25`, `2016-04 to 2016-06`, `Ea… to Fo…`, `Alta … Moss`.

Whoever has a release knows the labels and not the hierarchy. A label that goes from one thing to another tells them
that every value below it lies between the two. Readers may put values in several orders: what lies outside in all of
these does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from kveil.policy.numbers import EXACT, is_whole, parse_number

LONGEST = 300  # characters of a label that are looked at
SHORT = 3  # characters of an end that is the beginning of a name, and not a name
_NUMBER = r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)"
_NUMBERS = (
    re.compile(r"(\(?)(\d+(?:\.\d+)?)\s?(?:-|–|—)\s?(\d+(?:\.\d+)?)(\)?)", re.ASCII),
    re.compile(rf"()({_NUMBER})(?:\s(?:to|-|–|—)\s|\s?(?:…|\.\.\.?)\s?)({_NUMBER})()", re.ASCII),
    re.compile(rf"([\[(\]])\s?({_NUMBER})\s?(?:[,;]|-|–|\sto\s|…|\.\.)\s?({_NUMBER})\s?([\])\[])", re.ASCII),
)
_DATE = re.compile(
    r"(?:(\d{4})(?:([-/.])(\d{1,2})(?:\2(\d{1,2}))?)?|(\d{1,2})([-/.])(\d{1,2})\6(\d{4}))"
    r"(?:[T ]\s?(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?)?",
    re.ASCII,
)
_BETWEEN_DATES = re.compile(r"\sto\s|\s?(?:…|\.\.\.?|–|—|-)\s?")
_BEGINNINGS = re.compile(r"(.+?)(?:…|\.\.\.)\s?(?:to|-|–|—)\s?(.+?)(?:…|\.\.\.)", re.DOTALL)
_VALUES = re.compile(r"(\S.*?)\s+(?:…|\.\.\.)\s+(.*\S)", re.DOTALL)
_LETTERS = re.compile(r"([A-Z])\s?(?:-|–|—|to)\s?([A-Z])|([a-z])\s?(?:-|–|—)\s?([a-z])")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}([.,])\d{3}(\1\d{3})*", re.ASCII)

Outside = Callable[[str], bool | None]  # None where a value is of another kind than the ends
Date = tuple[int, ...]
Readings = tuple[Date | None, Date | None]  # with the day before the month, and with the month before the day


@dataclass(frozen=True)
class Ends:
    """What a label goes from and to, and the test whether a value lies outside.

    ``sure`` says that the label can be nothing else; other ones are ranges only if something below them lies inside.
    """

    low: str
    high: str
    outside: Outside
    sure: bool = True
    behind: Decimal | None = None  # the number after the end, where a band such as `15-19` may be meant to hold it


def ends_of(label: str, *, letters: bool = False) -> Ends | None:
    """Return a label's two ends, None where it has none; `A-C` has two if the tree is one of ``letters``."""
    if len(label) > LONGEST:
        return None
    text = label.strip()
    found = _number_ends(text) or _date_ends(text) or _beginning_ends(text) or _value_ends(text)
    if found is None and letters and (match := _LETTERS.fullmatch(text)):
        low, high = (end for end in match.groups() if end is not None)
        return _of_beginnings(low, high, [(low, high)]) if low < high else None
    return found


def labels_of_letters(labels: Iterable[str]) -> bool:
    """Tell whether a tree names nodes by letters, as `A-C` and `D-F`: one such label alone may be anything."""
    return sum(_LETTERS.fullmatch(label) is not None for label in labels) > 1


def _number_ends(text: str) -> Ends | None:
    for pattern in _NUMBERS:
        match = pattern.fullmatch(text)
        if match is None:
            continue
        opening, one, other, closing = match.groups()
        low, high = parse_number(one), parse_number(other)
        if low is None or high is None or low > high:
            return None
        excluded = set[Decimal]()
        if opening + closing in {"[)", "[[", "]["}:  # in two notations
            excluded.add(high)
        if opening + closing in {"(]", "]]", "]["}:
            excluded.add(low)
        behind = None
        if pattern is _NUMBERS[0] and is_whole(low) and is_whole(high):
            behind = EXACT.add(high, Decimal(1))
        return Ends(one, other, partial(_number_outside, (one, other), (low, high), excluded), behind=behind)
    return None


def _number_outside(
    written: tuple[str, str], ends: tuple[Decimal, Decimal], excluded: set[Decimal], value: str
) -> bool | None:
    """Tell whether a number lies outside, of codes also by their first digits, of dates by their years.

    A number with a fraction lies in the whole number that it has begun: 25.5 years are in `18-25`.
    """
    number = parse_number(value)
    if number is None:
        years = [end.isdigit() and len(end) == 4 for end in written]
        date = next(filter(None, _readings(value)), None) if all(years) else None
        return None if date is None else not ends[0] <= date[0] <= ends[1]
    numbers = [number]
    if _THOUSANDS.fullmatch(value):
        numbers.append(Decimal(re.sub(r"[.,]", "", value)))
    low, high = ends
    above = EXACT.add(high, Decimal(1)) if is_whole(low) and is_whole(high) and not excluded else None
    for own in numbers:
        if low <= own and (own <= high or (above is not None and own < above)) and own not in excluded:
            return False
    width = len(written[0])
    of_codes = value.isdigit() and all(end.isdigit() and len(end) == width for end in written) and len(value) > width
    return not (of_codes and written[0] <= value[:width] <= written[1])


def runs_over(label: str, values: Iterable[str]) -> bool:
    """Tell whether the values below a band of whole numbers run on to the number behind its end: 20 in `15-19`."""
    ends = ends_of(label)
    return ends is not None and ends.behind is not None and any(parse_number(own) == ends.behind for own in values)


def meaning(label: str) -> str:
    """Say what a band of a tree that is closed on the right stands for, by the numbers of its label alone."""
    ends = ends_of(label)
    assert ends is not None
    assert ends.behind is not None
    return f"{label[:40]!r} for {EXACT.add(Decimal(ends.low), Decimal(1))} to {ends.behind}"


def is_closed_right(below: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether bands of a tree are meant to hold the number behind their end instead of the one they begin with.

    So are those that call 16 to 20 `15-19`: several hold the number behind, and none the one that it is named from.
    """
    bands = [(label, ends) for label in below if (ends := ends_of(label)) is not None and ends.behind is not None]
    begun = any(parse_number(own) == parse_number(ends.low) for label, ends in bands for own in below[label])
    return not begun and sum(runs_over(label, below[label]) for label, _ in bands) > 1


def _date_ends(text: str) -> Ends | None:
    for match in _BETWEEN_DATES.finditer(text):
        one, other = text[: match.start()].strip(), text[match.end() :].strip()
        orders = [
            (low, high) if low is not None and high is not None and low[: len(high)] <= high else None
            for low, high in zip(_readings(one), _readings(other), strict=True)
        ]
        if any(orders):
            return Ends(one, other, partial(_date_outside, orders))
    return None


def _date_outside(orders: Sequence[tuple[Date, Date] | None], value: str) -> bool | None:
    """Tell whether a date lies outside, whether its day or its month is taken to come first."""
    told = [
        low[: len(date)] <= date[: len(low)] and date[: len(high)] <= high
        for date, (low, high) in ((d, o) for d, o in zip(_readings(value), orders, strict=True) if d and o)
    ]
    return not any(told) if told else None


def _readings(text: str) -> Readings:
    """Return a date as year, month, day, hour …, as far as it says."""
    match = _DATE.fullmatch(text)
    if match is None:
        return None, None
    time = [int(part) for part in match.groups()[8:] if part is not None]
    if match[1] is not None:
        date = [int(part) for part in (match[1], match[3], match[4]) if part is not None]
        read = (*date, *time) if _is_date(date) and (not time or len(date) == 3) else None
        return read, read
    one, other, year = int(match[5]), int(match[7]), int(match[8])
    day_first, month_first = [year, other, one], [year, one, other]
    return (
        (*day_first, *time) if _is_date(day_first) else None,
        (*month_first, *time) if _is_date(month_first) else None,
    )


def _is_date(date: list[int]) -> bool:
    return all(low <= part <= high for part, (low, high) in zip(date, ((1, 9999), (1, 12), (1, 31)), strict=False))


def _beginning_ends(text: str) -> Ends | None:
    """Return the ends of a list of beginnings, `Ea… to Fo…, Ga…`, of which one at least goes from one to another."""
    if not text.endswith(("…", "...")):
        return None
    pieces: list[tuple[str, str]] = []
    spans = 0
    for piece in re.split(r"(?<=…), |(?<=\.\.\.), ", text):
        match = _BEGINNINGS.fullmatch(piece)
        spans += match is not None
        if match is not None:
            pieces.append((match[1], match[2]))
        else:
            single = re.sub(r"(…|\.\.\.)$", "", piece)
            pieces.append((single, single))
    if not spans:
        return None
    return _of_beginnings(pieces[0][0], pieces[-1][1], pieces)


def _of_beginnings(low: str, high: str, pieces: list[tuple[str, str]]) -> Ends:
    def outside(value: str) -> bool:
        return not any(_begins(value, piece, order) for order in ORDERS for piece in pieces)

    return Ends(low, high, outside)


def _begins(value: str, piece: tuple[str, str], order: Callable[[str], str]) -> bool:
    low, high, own = order(piece[0]), order(piece[1]), order(value)
    return low <= own and own[: len(high)] <= high


def _value_ends(text: str) -> Ends | None:
    """Return the ends of a run from one value to another, `Alta … Moss`."""
    match = _VALUES.fullmatch(text)
    if match is None or "…" in match[1] or "…" in match[2]:
        return None
    low, high = match[1], match[2]

    def outside(value: str) -> bool:
        return not any(_between(value, low, high, order) for order in ORDERS) and not _naturally(value, low, high)

    return Ends(low, high, outside, sure=False)


def _between(value: str, low: str, high: str, order: Callable[[str], str]) -> bool:
    own, first, last = order(value), order(low), order(high)
    return first <= own and (own <= last or (len(high) <= SHORT and own.startswith(last)))


def _naturally(value: str, low: str, high: str) -> bool:
    """Tell whether a value lies between two others where digits count as numbers: `town2` before `town10`."""
    own, first, last = map(_natural_key, (value, low, high))
    return first <= own <= last


def _natural_key(text: str) -> list[tuple[int, Decimal, str]]:
    parts = re.split(r"(\d+)", text.casefold())
    return [(0, Decimal(part), "") if part.isdecimal() else (1, Decimal(0), part) for part in parts if part]


def _plain(text: str) -> str:
    """Return a text with its accents taken off, capitals as small letters."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(sign))


def _letters_and_digits(text: str) -> str:
    return "".join(filter(str.isalnum, _plain(text)))


# By which people look things up; by code point, where capitals stand before all small letters, hardly anybody does.
ORDERS: tuple[Callable[[str], str], ...] = (str.casefold, _plain, _letters_and_digits)


def count_outside(label: str, values: Sequence[str], *, letters: bool, right: bool = False) -> int:
    """Return how many of the values below a label lie outside of its two ends; its tree may be closed on the ``right``.

    0 where it has none, where no value is of their kind, and where it names the first and the last of the values as the
    tree lists them in an order of its owner's: `Jan … Mar`.
    """
    ends = ends_of(label, letters=letters)
    if ends is None:
        return 0
    if not ends.sure and (values[0], values[-1]) == (ends.low, ends.high) and list(values) != sorted(values):
        return 0
    inside = values if not right else [own for own in values if parse_number(own) != ends.behind or ends.behind is None]
    told = [(value, outside) for value in inside if (outside := ends.outside(value)) is not None]
    out = sum(outside for _, outside in told)
    if ends.sure or out < len(told):
        return out
    return out if any(value.startswith((ends.low, ends.high)) for value in values) else 0
