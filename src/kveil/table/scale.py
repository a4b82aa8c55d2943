"""The numbers of a `ranges` attribute, which have no tree: groups show spans of them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal

from kveil.policy.attributes import STAR, Ranges
from kveil.policy.numbers import EXACT, multiple_above, multiple_below, parse_span, show_span

DIVISION = Context(prec=28)  # Python's own: shares of a domain do not depend on the context of the host


@dataclass(frozen=True)
class Scale:
    """The numbers of a `ranges` attribute: leaf numbers are ranks, groups show spans of them.

    The leaf after the last number is missing, if the data has it.
    """

    numbers: tuple[Decimal, ...]
    spec: Ranges
    missing: int | None
    missing_text: str

    @property
    def leaves(self) -> int:
        """The number of different values, missing included."""
        return len(self.numbers) + (self.missing is not None)

    @property
    def width(self) -> Decimal:
        """The width of the domain."""
        return EXACT.subtract(self.spec.within[1], self.spec.within[0])

    def bounds(self) -> list[tuple[Decimal, Decimal]]:
        """Return what every number is as the lower and as the upper end of a span, rounded outward."""
        return [round_outward(number, number, self.spec) for number in self.numbers]

    def shown(self, low: int, high: int) -> tuple[str, float]:
        """Return the text and the loss of a group whose leaves run from low to high.

        A group of one value shows that value; others show their bounds, rounded outward; a group that mixes
        missing and numbers shows `*`.
        """
        if self.missing is not None and high == self.missing:
            return (self.missing_text, 0.0) if low == high else (STAR, 1.0)
        bottom, top = self.numbers[low], self.numbers[high]
        if bottom == top:
            return show_span(bottom, bottom), 0.0
        bottom, top = round_outward(bottom, top, self.spec)
        return show_span(bottom, top), self.loss(bottom, top)

    def shows_more(self, low: int, high: int, widest: Decimal) -> bool:
        """Tell whether a group whose leaves run from low to high shows more than a largest width.

        Rounding outward counts; numbers beside missing show anything.
        """
        if low == high or self.missing == high:
            return low != high
        bottom, top = round_outward(self.numbers[low], self.numbers[high], self.spec)
        return EXACT.subtract(top, bottom) > widest

    def loss(self, low: Decimal, high: Decimal) -> float:
        """Return the share of the domain a span covers."""
        return min(
            float(DIVISION.divide(EXACT.subtract(high, low), self.width)), 1.0
        )  # rounding outward may pass the domain's ends

    def loss_of_text(self, text: str) -> float:
        """Return the loss of a released text; 1 for `*` and for what is no span."""
        if text == self.missing_text:
            return 0.0
        span = parse_span(text)
        return 1.0 if span is None else self.loss(*span)


def round_outward(low: Decimal, high: Decimal, spec: Ranges) -> tuple[Decimal, Decimal]:
    """Return bounds moved outward to multiples of the policy's grid, where it has one."""
    step = spec.grid
    return (low, high) if step is None else (multiple_below(low, step), multiple_above(high, step))
