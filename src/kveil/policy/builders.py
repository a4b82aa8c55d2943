"""Hierarchies that a policy describes instead of listing: intervals, masks, dates, and balanced trees over values."""

from __future__ import annotations

import datetime
import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from decimal import Decimal
from functools import cache
from itertools import count
from typing import Any

from kveil.errors import PolicyError
from kveil.policy.attributes import STAR, Dates, Hierarchy, Intervals, Mask
from kveil.policy.lines import Line, Lines, check_lines, collapse
from kveil.policy.numbers import EXACT, is_whole, multiple_below, parse_number, show_number, show_span

LONGEST_NAME = 80  # characters of a value that may name a run
LONGEST_WHOLE = 18  # digits of a number that is counted with at once
_WORD_ENDS = re.compile(r"\b|^|$")
_TIME = re.compile(r"[T ]\d{2}:\d{2}.*", re.ASCII | re.DOTALL)


class IntervalScale:
    """The intervals of one attribute: nested, starting at `from`, the last cut at `to`.

    Inclusive for whole numbers (``11-20``), half-open for others (``[1.5,2.5)``). A column is of whole
    numbers if the policy's numbers and all its values are. At an open end the outermost interval of every width goes
    on for ever and is written ``<20`` or ``>=90``, whatever the values; it counts as wide as the others of its width.
    """

    def __init__(self, spec: Intervals, *, real: bool) -> None:
        self.spec = spec
        self.real = real or not all(is_whole(n) for n in (spec.from_, spec.to, *spec.widths))
        self._labels: dict[Decimal | int, list[str]] = {}  # by the narrowest interval: the others lie around it
        self._above: dict[int, Line] = {}  # the same, as ways up, by the place of the narrowest interval
        if not self.real:
            self._whole = int(spec.from_), int(spec.to), int(spec.widths[0])

    def bounds(self, number: Decimal, width: Decimal) -> tuple[Decimal, Decimal]:
        """Return the interval of a width that holds a number, as its label names the bounds; open ends are not cut."""
        start = self.spec.from_
        inside = min(max(number, start), self.spec.to)
        low = EXACT.add(start, multiple_below(EXACT.subtract(inside, start), width))
        high = EXACT.add(low, width) if self.real else EXACT.add(low, EXACT.subtract(width, Decimal(1)))
        return low, high if self.spec.open_above else min(high, self.spec.to)

    def _goes_down(self, low: Decimal) -> bool:
        """Tell whether the interval that starts here holds everything below it."""
        return self.spec.open_below and low == self.spec.from_

    def _goes_up(self, high: Decimal) -> bool:
        """Tell whether the interval that ends here holds everything above it."""
        return self.spec.open_above and (high > self.spec.to if self.real else high >= self.spec.to)

    def label(self, low: Decimal, high: Decimal) -> str:
        """Return the text of an interval; an interval of one whole number is that number."""
        if self._goes_down(low):
            return f"<{show_number(high if self.real else EXACT.add(high, Decimal(1)))}"
        if self._goes_up(high):
            return f">={show_number(low)}"
        return f"[{show_number(low)},{show_number(high)})" if self.real else show_span(low, high)

    def holds(self, number: Decimal) -> bool:
        """Tell whether a number lies on the scale; half-open intervals leave `to` itself out unless it is open."""
        if number < self.spec.from_:
            inside = self.spec.open_below
        elif number > self.spec.to or (self.real and number == self.spec.to):
            inside = self.spec.open_above
        else:
            inside = True
        return inside and (self.real or is_whole(number))

    def line(self, value: str) -> Line | None:
        """Return a value's way up, None where the scale does not know it."""
        if not self.real and value.isdecimal() and value.isascii() and (value[0] != "0" or value == "0"):
            upper = self._above_whole(value)  # nearly all values are written so
            if upper is not None:
                return upper if upper[0] == value else (value, *upper)
        number = parse_number(value)
        if number is None or not self.holds(number):
            return None
        labels = self._labels_over(number)
        if labels[0] == show_number(number):
            labels = [value if label == labels[0] else label for label in labels]
        return collapse([value, *labels, STAR])

    def _above_whole(self, value: str) -> Line | None:
        """Return what a whole number, in digits alone, has above it; None where it lies beyond the ends or is long."""
        if len(value) > LONGEST_WHOLE:
            return None
        number, (first, last, narrowest) = int(value), self._whole
        if not first <= number <= last:
            return None
        which = (number - first) // narrowest
        if which not in self._above:
            self._above[which] = collapse([*self._labels_over(Decimal(number)), STAR])
        return self._above[which]

    def _labels_over(self, number: Decimal) -> list[str]:
        """Return the intervals that hold a number, from the narrowest on; numbers of one narrowest share all."""
        spec = self.spec
        if self.real:
            which: Decimal | int = self.bounds(number, spec.widths[0])[0]
        else:  # whole numbers all of them, which Python counts with faster
            first, last, narrowest = self._whole
            which = (min(max(int(number), first), last) - first) // narrowest
        labels = self._labels.get(which)
        if labels is None:
            start = self.bounds(number, spec.widths[0])[0]
            labels = self._labels[which] = [self.label(*self.bounds(start, width)) for width in spec.widths]
        return labels

    def knows(self, text: str) -> bool:
        """Tell whether a text is a number on the scale, or one of its intervals."""
        return self.line(text) is not None or self.interval_of(text) is not None

    def interval_of(self, label: str) -> tuple[Decimal, Decimal] | None:
        """Return the bounds of the narrowest interval that is written so, None where none is."""
        if label.startswith("<"):
            number: Decimal | None = self.spec.from_
        elif label.startswith(">="):
            number = self.spec.to
        else:
            number = parse_number(label[1:].split(",")[0] if label.startswith("[") else label.split("-")[0])
        if number is None or not self.holds(number):
            return None
        intervals = (self.bounds(number, width) for width in self.spec.widths)
        return next((bounds for bounds in intervals if self.label(*bounds) == label), None)

    def rewritten(self, label: str, other: IntervalScale) -> str:
        """Return what another scale of the same intervals writes for one of these; any other text as it is."""
        low = parse_number(label[1:].split(",")[0] if label.startswith("[") else label.split("-")[0])
        if low is None or self.real == other.real or parse_number(label) is not None:
            return label
        ours = (width for width in self.spec.widths if self.label(*self.bounds(low, width)) == label)
        width = next(ours, None)
        return label if width is None else other.label(*other.bounds(low, width))

    @property
    def extent(self) -> Decimal:
        """How wide the whole scale is; an open end reaches as far as the last interval of the widest step would."""
        spec, extra = self.spec, Decimal(0 if self.real else 1)
        span = EXACT.subtract(spec.to, spec.from_)
        if spec.open_above:
            return EXACT.add(multiple_below(span, spec.widths[-1]), spec.widths[-1])
        return EXACT.add(span, extra)

    def share(self, low: Decimal, high: Decimal) -> float:
        """Return the share of the scale that an interval covers, 0 for one whole number."""
        if low == high and not self._goes_down(low) and not self._goes_up(high):
            return 0.0
        return float((high - low + (0 if self.real else 1)) / self.extent)

    def height(self, low: Decimal, level: int) -> int:
        """Return how many edges a leaf may lie below the interval of ``widths[level]`` that starts at low.

        The first interval inside is the widest, so it decides; beside it only the one that has no end, which is never
        the same node as a number.
        """
        high = self.bounds(low, self.spec.widths[level])[1]
        starts = [low, self.spec.to] if self._goes_up(high) else [low]
        return max(self._edges(start, level) for start in starts)

    def _edges(self, start: Decimal, level: int) -> int:
        edges = 0
        below = "" if self.real else show_number(start)
        for width in self.spec.widths[: level + 1]:
            here = self.label(*self.bounds(start, width))
            edges += here != below
            below = here
        return edges

    @property
    def tallest(self) -> int:
        """How many edges a leaf may lie below the root."""
        level = len(self.spec.widths) - 1
        last = self.bounds(self.spec.to, self.spec.widths[level])[0]
        return 1 + max(self.height(self.spec.from_, level), self.height(last, level) if self.spec.open_above else 0)


def _mask_climber(spec: Mask) -> Callable[[str], Line]:
    """Return the way up of values; values of one length and beginning share theirs above the first mask."""
    kept = spec.keep
    first = kept[0]

    @cache
    def above(start: str, length: int, level: int) -> Line:
        masked = start + STAR * (length - kept[level])
        if level + 1 == len(kept):
            return (masked, STAR) if masked != STAR else (STAR,)
        upper = above(start[: kept[level + 1]], length, level + 1)
        return upper if upper[0] == masked else (masked, *upper)

    def line(value: str) -> Line:
        upper = above(value[:first], len(value), 0)
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


def balanced_lines(
    counts: Iterable[tuple[str, int]], fan_out: int, *, order: Callable[[str], Any] | None = None, least: int
) -> tuple[Line, ...]:
    """Return a tree over values whose siblings hold about equally many records, in the order of their texts.

    ``order`` gives values other places. Each level cuts its parent's run of values into at most ``fan_out`` parts
    of about equal weight. Runs are named by values that occur at least ``least`` times, see ``name_runs``.
    """
    if fan_out < 2:
        raise PolicyError("balanced:N needs N of at least 2.")
    ordered = sorted(counts, key=lambda pair: (pair[0] if order is None else order(pair[0]), pair[0]))
    lines: list[tuple[str, ...]] = []
    runs = count(1)

    def cut(run: list[tuple[str, int]], above: Line) -> None:
        if len(run) <= fan_out:
            lines.extend((value, *above) for value, _ in run)
            return
        total, seen = sum(weight for _, weight in run), 0
        parts: list[list[tuple[str, int]]] = [[] for _ in range(fan_out)]
        for value, weight in run:
            parts[min(fan_out - 1, seen * fan_out // total)].append((value, weight))
            seen += weight
        filled = [part for part in parts if part]
        for part in filled:
            if len(part) == 1:
                lines.append((part[0][0], *above))
            elif len(filled) == 1:
                lines.extend((value, *above) for value, _ in part)
            else:
                cut(part, (f"\0{next(runs)}", *above))

    cut(ordered, (STAR,))
    return name_runs(lines, dict(ordered), least)


def name_runs(lines: Sequence[Line], counts: Mapping[str, int], least: int) -> tuple[Line, ...]:
    """Return a tree of runs of values with its inner nodes named by their first and last frequent value.

    A label is shown to everybody, so that it may only name values that occur at least ``least`` times: a rare value
    tends to stand at the end of a run, and would tell that somebody has it though the record itself is left out. A
    frequent value in which a rare one can be read (`Surgery-Plastic`, where somebody has `Plastic`) names no run
    either, nor does a very long one. Runs that such values do not name, or do not tell apart, are numbered.
    """
    rare = {line[0] for line in lines if counts.get(line[0], 0) < least}
    common = [line[0] for line in lines if line[0] not in rare and len(line[0]) <= LONGEST_NAME]
    harmless = {value for value in common if not _reads_one_of(value, rare)}
    frequent: dict[str, list[str]] = {}
    for line in lines:
        for label in reversed(line[1:-1]):  # inner nodes, those above first
            ends = frequent.setdefault(label, [])
            if line[0] in harmless:
                ends.append(line[0])
    taken = {line[0] for line in lines} | {lines[0][-1]} if lines else set()
    names: dict[str, str] = {}
    for number, (label, values) in enumerate(frequent.items(), 1):
        name = f"{values[0]} … {values[-1]}" if len(values) > 1 else f"run {number}"
        while name in taken:
            name = f"run {number}" if " … " in name else f"{name}*"
        taken.add(name)
        names[label] = name
    return tuple((line[0], *(names[label] for label in line[1:-1]), line[-1]) for line in lines)


def _reads_one_of(text: str, values: Set[str]) -> bool:
    """Tell whether some whole words of a text, one after the other, are one of the values."""
    ends = [match.start() for match in _WORD_ENDS.finditer(text)]
    return any(text[start:end] in values for i, start in enumerate(ends) for end in ends[i + 1 :])


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
