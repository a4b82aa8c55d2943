"""A tree over the values of a column when nothing is known of their meaning: runs that are about equally frequent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal

from kveil.errors import PolicyError
from kveil.policy.lines import Line
from kveil.policy.months import read_months
from kveil.policy.numbers import parse_number
from kveil.policy.ordered_runs import month_cuts, number_cuts, number_of, ordered_lines
from kveil.policy.text_runs import is_readable, text_lines

LONGEST_NUMBER = 30  # characters of a text that is taken for a number
_CODE = re.compile(r"[+-]?0\d", re.ASCII)  # a zero in front belongs to a code, not to a number


def balanced_lines(
    counts: Iterable[tuple[str, int]],
    fan_out: int,
    *,
    least: int,
    order: Mapping[str, Decimal] | None = None,
    about: str = "",
) -> tuple[Line, ...]:
    """Return a tree over values whose siblings hold about equally many records.

    Each level cuts its parent's run of values into at most ``fan_out`` parts of about equal weight: numbers by size,
    dates by the calendar, other texts by what they begin with. ``order`` gives every value a number to go by, which
    labels say is ``about`` something else. What a label says is true of every value below it, and no end of it is
    anybody's value: labels are shown to everybody, and would tell that somebody has a rare value though the record is
    left out. Beginnings are named that at least ``least`` records have.
    """
    if fan_out < 2:
        raise PolicyError("balanced:N needs N of at least 2.")
    weights = dict(counts)
    lines = _by_number(weights, order, about, fan_out)
    if lines is None:
        lines = _by_month(weights, fan_out)
    return tuple(text_lines(weights, fan_out, least) if lines is None else lines)


def _by_number(
    weights: Mapping[str, int], order: Mapping[str, Decimal] | None, about: str, fan_out: int
) -> list[Line] | None:
    """Return runs by size, of the values or of what they go by; None where some have no number, or no label fits."""
    if order is not None:
        if not about or not is_readable(about):
            return None
        return _unmistaken(ordered_lines(order, weights, number_cuts(about=about), fan_out), weights)
    numbers = {text: number for text in weights if (number := _number(text)) is not None}
    if len(numbers) < len(weights):
        return None
    return _unmistaken(ordered_lines(numbers, weights, number_cuts(), fan_out), weights)


def _number(text: str) -> Decimal | None:
    return None if len(text) > LONGEST_NUMBER or _CODE.match(text) else parse_number(text)


def _by_month(weights: Mapping[str, int], fan_out: int) -> list[Line] | None:
    """Return runs by the calendar; None where some values are no dates, or all are of one month."""
    months = read_months(weights)
    numbers = {text: number_of(*month) for text, month in months.of.items()}
    if len(numbers) < len(weights) or len(set(numbers.values())) < 2:
        return None
    return _unmistaken(ordered_lines(numbers, weights, month_cuts(), fan_out), weights)


def _unmistaken(lines: list[Line] | None, values: Mapping[str, int]) -> list[Line] | None:
    """Return lines unless one of their labels is a value, too."""
    return None if lines is None or any(label in values for line in lines for label in line[1:-1]) else lines
