"""The intervals of one attribute, of whole numbers or of others."""

from __future__ import annotations

from decimal import Decimal

from kveil.policy.attributes import STAR, Intervals
from kveil.policy.lines import Line, collapse
from kveil.policy.numbers import EXACT, is_whole, multiple_below, parse_number, show_number, show_span

LONGEST_WHOLE = 18  # digits of a number that is counted with at once


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
