"""Spans of `ranges` whose bounds tell nobody's value: `bounds: midpoints`.

Bounds lie on the policy's grid, and are what they would be if every number were known no better than by its cell of
that grid. Halfway between two numbers alone would give them back: the one is read off another span, the other follows.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import numpy as np

from kveil.policy.attributes import Ranges
from kveil.policy.numbers import EXACT, multiple_above, multiple_below, parse_span, show_span
from kveil.table.notation import not_released, write_intervals
from kveil.table.scale import Scale
from kveil.table.solution import Shown, Solution
from kveil.table.spans import draw_around_released
from kveil.table.table import Table

TWO = Decimal(2)


def move_bounds(table: Table, solution: Solution) -> Solution:
    """Return a solution with the bounds of spans moved halfway to the next cell with a released number.

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
    for label, loss in zip(shown.labels, shown.ncp.tolist(), strict=True):
        span = parse_span(label)
        if span is None or span[0] == span[1] or label == scale.missing_text:
            labels.append(label)
            losses.append(loss)
            continue
        low, high = midpoints(span, numbers, scale.spec)
        labels.append(show_span(low, high))
        losses.append(scale.loss(low, high))
    cost = np.array(losses)
    return replace(shown, labels=tuple(labels), ncp=cost, il=cost)


def midpoints(span: tuple[Decimal, Decimal], numbers: Sequence[Decimal], spec: Ranges) -> tuple[Decimal, Decimal]:
    """Return a span's bounds halfway across the empty cells next to it, the outermost at the ends of the domain.

    ``span`` has bounds on the grid, ``numbers`` are all released ones in order. Different spans stay different: of an
    odd number of empty cells the middle one is in no span. A span that was moved stays as it is.
    """
    step, (lowest, highest) = spec.grid, spec.within
    if step is None:
        return span
    first, after = bisect_left(numbers, span[0]), bisect_right(numbers, span[1])
    low, high = lowest, highest
    if 0 < first < len(numbers):
        low = multiple_below(numbers[first], step)
        empty = EXACT.divide_int(EXACT.subtract(low, multiple_above(numbers[first - 1], step)), step)
        low = EXACT.subtract(low, EXACT.multiply(EXACT.divide_int(empty, TWO), step))
    if 0 < after < len(numbers):
        high = multiple_above(numbers[after - 1], step)
        empty = EXACT.divide_int(EXACT.subtract(multiple_below(numbers[after], step), high), step)
        high = EXACT.add(high, EXACT.multiply(EXACT.divide_int(empty, TWO), step))
    return max(low, lowest), min(high, highest)
