"""Spans of `ranges` whose bounds are nobody's value: `bounds: midpoints`."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import numpy as np

from kveil.policy.numbers import EXACT, parse_span, show_span
from kveil.table.notation import not_released, write_intervals
from kveil.table.scale import Scale
from kveil.table.solution import Shown, Solution
from kveil.table.spans import draw_around_released
from kveil.table.table import Table

HALF = Decimal("0.5")


def move_bounds(table: Table, solution: Solution) -> Solution:
    """Return a solution with the bounds of spans moved halfway to the next released number, where the policy asks.

    Different spans stay different, so that groups and rules are what they were. Nothing depends on records that are
    suppressed.
    """
    shown = list(solution.shown)
    for position, scale in enumerate(table.trees):
        if isinstance(scale, Scale) and scale.spec.bounds == "midpoints":
            gone = not_released(table, solution, position)
            leaves = np.union1d(table.low[position][~gone], table.high[position][~gone])
            numbers = [scale.numbers[leaf] for leaf in leaves.tolist() if leaf != scale.missing]
            shown[position] = _moved(scale, shown[position], numbers)
    return replace(solution, shown=tuple(shown))


def asks_for_midpoints(table: Table) -> bool:
    """Tell whether bounds of a table are moved once it is known who is released."""
    return any(isinstance(scale, Scale) and scale.spec.bounds == "midpoints" for scale in table.trees)


def as_written(table: Table, solution: Solution) -> Solution:
    """Return a solution with the texts that are written: what they say, and so lose, depends on who is released."""
    return move_bounds(table, draw_around_released(table, write_intervals(table, solution)))


def _moved(scale: Scale, shown: Shown, numbers: Sequence[Decimal]) -> Shown:
    labels, losses = [], []
    values = frozenset(scale.numbers)  # a bound that is none of them was moved before
    for label, loss in zip(shown.labels, shown.ncp.tolist(), strict=True):
        span = parse_span(label)
        if span is None or span[0] == span[1] or label == scale.missing_text:
            labels.append(label)
            losses.append(loss)
            continue
        moved = midpoints(span, numbers, scale.spec.within)
        low, high = (new if old in values else old for old, new in zip(span, moved, strict=True))
        labels.append(show_span(low, high))
        losses.append(scale.loss(low, high))
    cost = np.array(losses)
    return replace(shown, labels=tuple(labels), ncp=cost, il=cost)


def midpoints(
    span: tuple[Decimal, Decimal], numbers: Sequence[Decimal], within: tuple[Decimal, Decimal]
) -> tuple[Decimal, Decimal]:
    """Return a span's bounds halfway to the numbers next to it, of all in order; at the ends, to the domain's."""
    below, above = bisect_left(numbers, span[0]), bisect_right(numbers, span[1])
    low = numbers[below - 1] if below else min(within[0], span[0])
    high = numbers[above] if above < len(numbers) else max(within[1], span[1])
    return EXACT.multiply(EXACT.add(low, span[0]), HALF), EXACT.multiply(EXACT.add(span[1], high), HALF)
