"""Hierarchies that a policy describes instead of listing: intervals, masks and dates."""

from __future__ import annotations

import datetime
import re
from calendar import monthrange
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import cache

from kveil.policy.attributes import STAR, Dates, Hierarchy, Intervals, Mask, Ranges
from kveil.policy.interval_scale import LONGEST_WHOLE, IntervalScale
from kveil.policy.lines import Line, Lines, check_lines
from kveil.policy.numbers import is_whole, parse_number, parse_span

_TIME = re.compile(r"[T ]\d{2}:\d{2}.*", re.ASCII | re.DOTALL)


def _mask_climber(spec: Mask) -> Callable[[str], Line]:
    """Return the way up of values; values of one length and beginning share theirs above the first mask."""
    known: dict[tuple[str, int], Line] = {}  # what is left of a value and its length, and the masks from there up

    def line(value: str) -> Line:
        waiting: list[str] = []
        upper: Line = (STAR,)
        for kept in spec.keep:
            start = value[:kept]
            above = known.get((start, len(value)))
            if above is not None:
                upper = above
                break
            waiting.append(start)
        for start in reversed(waiting):
            masked = start + STAR * (len(value) - len(start))
            if upper[0] != masked:
                upper = (masked, *upper)
            known[start, len(value)] = upper
        return upper if upper[0] == value else (value, *upper)

    return line


_DATE_LABELS: dict[str, Callable[[str], str]] = {
    "month": lambda date: date[:7],
    "quarter": lambda date: f"{date[:4]}-Q{(int(date[5:7]) + 2) // 3}",
    "year": lambda date: date[:4],
    "decade": lambda date: date[:3] + STAR,
    "century": lambda date: date[:2] + STAR * 2,
}

_DAYS = {number: frozenset(f"-{day:02}" for day in range(1, number + 1)) for number in range(28, 32)}  # of a month


def _date_climber(spec: Dates) -> Callable[[str], Line | None]:
    """Return the way up of ISO dates, or of moments that start with one; None for anything else."""

    @cache
    def month_of(month: str) -> tuple[Line, frozenset[str]] | None:
        """Return what the days of a month have above them, and how they are written."""
        try:
            first = datetime.date.fromisoformat(f"{month}-01")
        except ValueError:
            return None
        above = (*[_DATE_LABELS[level](month) for level in spec.levels], STAR)
        return above, _DAYS[monthrange(first.year, first.month)[1]]

    def line(value: str) -> Line | None:
        month = month_of(value[:7])
        if month is None or value[7:10] not in month[1] or (len(value) > 10 and not _TIME.fullmatch(value, 10)):
            return None
        return (value, *month[0])

    return line


def is_real(texts: Iterable[str]) -> bool:
    """Tell whether any of the texts is a number with a fraction, or an interval that is written for such numbers."""
    return any(map(_is_real, texts))


def _is_real(text: str) -> bool:
    if text.isdecimal():
        return False
    if text.startswith("["):
        return text.endswith(")")
    number = parse_number(text)
    return number is not None and not is_whole(number)


def both_notations(spec: Intervals, label: str) -> tuple[str, ...]:
    """Return an interval's label as it is written over whole numbers and over others; any other text as it is."""
    whole, any_number = IntervalScale(spec, real=False), IntervalScale(spec, real=True)
    return tuple(dict.fromkeys((label, any_number.rewritten(label, whole), whole.rewritten(label, any_number))))


def label_writer(spec: Hierarchy | None, released: Iterable[str]) -> Callable[[str], str]:
    """Return how labels of a hierarchy that was built over more values are written in a release.

    ``released`` are the values that are, or the texts that are shown. Intervals of whole numbers are written as such,
    whatever the values that are left out were.
    """
    if not isinstance(spec, Intervals):
        return lambda label: label
    any_number, here = IntervalScale(spec, real=True), IntervalScale(spec, real=is_real(released))
    return lambda label: any_number.rewritten(label, here)


def climber(spec: Hierarchy | None, values: Iterable[str]) -> Callable[[str], Line | None]:
    """Return the function from a value to its way up, for builders and for no hierarchy.

    ``values`` are a column's distinct values: they decide whether `intervals` are of whole numbers.
    """
    if spec is None:
        return lambda value: (value, STAR)
    if isinstance(spec, Intervals):
        return IntervalScale(spec, real=is_real(values)).line
    if isinstance(spec, Mask):
        return _mask_climber(spec)
    if isinstance(spec, Dates):
        return _date_climber(spec)
    raise TypeError(f"{type(spec).__name__} is no builder")


def _in_order(spec: Hierarchy | None, values: Iterable[str]) -> list[str]:
    if isinstance(spec, Intervals):
        return sorted(values, key=_by_size)
    return sorted(values)


def _by_size(value: str) -> tuple[Decimal | int, str]:
    if value.isdecimal() and value.isascii() and len(value) <= LONGEST_WHOLE:
        return int(value), value
    return parse_number(value) or Decimal(0), value


def build_lines(spec: Hierarchy | None, values: Iterable[str], where: str) -> tuple[Lines, list[str]]:
    """Return a builder's hierarchy over a column's distinct values, and the values it does not know.

    Leaves stand in their natural order: numbers by size, other texts by code point.
    """
    distinct = _in_order(spec, values)
    ways = [*map(climber(spec, distinct), distinct)]
    lines = [line for line in ways if line is not None]
    unknown = [value for value, line in zip(distinct, ways, strict=True) if line is None] if None in ways else []
    if isinstance(spec, Mask) and any(STAR in value for value in distinct):
        # Only a value that looks masked already can stand in another one's way.
        check_lines(lines, where, remedy="rename the values that contain `*`, or use a hierarchy file")
    return Lines(tuple(lines), STAR, built=True), unknown


def label_test(spec: Hierarchy | None, lines: Lines | None) -> Callable[[str], bool]:
    """Return a test whether a text can be a node of a hierarchy at all, without the data it is built over.

    Certain for files and trees; for builders it rejects what no value could give.
    """
    if lines is not None:
        labels = {label for line in lines.lines for label in line}
        return labels.__contains__
    if isinstance(spec, Dates):
        return lambda text: text == STAR or _is_date_label(spec, text)
    if isinstance(spec, Intervals):
        scales = (IntervalScale(spec, real=False), IntervalScale(spec, real=True))
        return lambda text: text == STAR or any(scale.knows(text) for scale in scales)
    return lambda text: True


def shows_for_others(spec: Hierarchy | None, text: str) -> bool:
    """Tell whether a builder can show a text for values that are not this text: a label above them, but `*`.

    A number, or a date, that stands for missing is shown for itself alone.
    """
    if text == STAR:
        return False
    if isinstance(spec, Mask):
        return any(text[kept:] == STAR * (len(text) - kept) for kept in spec.keep if kept < len(text))
    if isinstance(spec, Dates):
        return _date_climber(spec)(text) is None and _is_date_label(spec, text)
    if isinstance(spec, Intervals):
        scales = (IntervalScale(spec, real=False), IntervalScale(spec, real=True))
        return parse_number(text) is None and any(scale.interval_of(text) is not None for scale in scales)
    if isinstance(spec, Ranges):
        span = parse_span(text)
        return span is not None and span[0] < span[1]
    return False


def _is_date_label(spec: Dates, text: str) -> bool:
    if _date_climber(spec)(text) is not None:
        return True
    patterns = {
        "month": r"\d{4}-(0[1-9]|1[0-2])",
        "quarter": r"\d{4}-Q[1-4]",
        "year": r"\d{4}",
        "decade": r"\d{3}\*",
        "century": r"\d{2}\*\*",
    }
    return any(re.fullmatch(patterns[level], text, re.ASCII) for level in spec.levels)
