"""Numbers as texts say them: exact decimals, never floats."""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


EXACT = Context(prec=3000, Emax=MAX_EMAX, Emin=MIN_EMIN)  # more digits than any number that is read can need


LONGEST_NUMBER = 400  # characters of a text that is read as a number


def parse_number(text: str) -> Decimal | None:
    """Return the number a text writes, exactly, or None where it writes none (``NaN`` and ``inf`` are none)."""
    return Decimal(text) if len(text) <= LONGEST_NUMBER and _NUMBER.fullmatch(text) else None


def is_too_long(text: str) -> bool:
    """Tell whether a number that a text writes would not be read back once it is written out, as ``1e-999``."""
    return ("e" in text or "E" in text) and len(show_number(Decimal(text))) > LONGEST_NUMBER


def is_whole(number: Decimal) -> bool:
    """Tell whether a number has no fraction."""
    return number == number.to_integral_value()


def multiple_below(number: Decimal, step: Decimal) -> Decimal:
    """Return the largest multiple of a step that is not above a number, exactly."""
    times, rest = EXACT.divmod(number, step)
    return EXACT.multiply(times if rest >= 0 else EXACT.subtract(times, Decimal(1)), step)


def multiple_above(number: Decimal, step: Decimal) -> Decimal:
    """Return the smallest multiple of a step that is not below a number, exactly."""
    return multiple_below(number.copy_negate(), step).copy_negate()


def coarse_step(low: Decimal, high: Decimal) -> Decimal:
    """Return a round number that divides a domain into twenty parts at most, 1, 2 or 5 and zeros.

    Between whole numbers at least 5 apart it is 2 or more: multiples of 1 would be the numbers themselves.
    """
    width = EXACT.subtract(high, low)
    power = Decimal(1).scaleb(width.adjusted() - 2, EXACT)  # at most a hundredth of the width
    steps = (EXACT.multiply(Decimal(times), power) for times in (1, 2, 5, 10, 20, 50, 100))
    step = next(step for step in steps if EXACT.multiply(step, Decimal(20)) >= width)
    return max(step, Decimal(2)) if is_whole(low) and is_whole(high) and width >= 5 else step


def show_number(number: Decimal) -> str:
    """Return a number as people write it: no exponent, no trailing zeros."""
    text = format(number, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text


def show_span(low: Decimal, high: Decimal) -> str:
    """Return an inclusive range: ``11-20``, in brackets where a bound is negative, one value as itself."""
    if low == high:
        return show_number(low)
    if low < 0:
        return f"[{show_number(low)},{show_number(high)}]"
    return f"{show_number(low)}-{show_number(high)}"


_SPAN = re.compile(r"(\d[\d.]*)-(\d[\d.]*)|\[(-?[\d.]+),(-?[\d.]+)\]", re.ASCII)


def parse_span(text: str) -> tuple[Decimal, Decimal] | None:
    """Return the bounds of a text that :func:`show_span` could have written, else None."""
    single = parse_number(text)
    if single is not None:
        return single, single
    match = _SPAN.fullmatch(text)
    if not match:
        return None
    low, high = (parse_number(part) for part in match.groups() if part is not None)
    return (low, high) if low is not None and high is not None and low <= high else None
