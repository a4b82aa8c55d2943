"""Spans of `ranges` drawn around released records alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kveil.arrays import Bools
from kveil.policy.numbers import parse_span
from kveil.table.group_spans import group_spans
from kveil.table.notation import not_released
from kveil.table.scale import Scale
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table


def draw_around_released(table: Table, solution: Solution) -> Solution:
    """Return a solution whose spans reach from the smallest to the largest released value that shows them.

    A record may be suppressed after its group was made, for the sake of another component or of the limit. A bound that
    is its value would publish what it has. Groups may become one by that, which keeps every model; where rules are
    declared, a span that would become the same as another stays.
    """
    shown = list(solution.shown)
    for position, scale in enumerate(table.trees):
        gone = not_released(table, solution, position)
        if isinstance(scale, Scale) and gone.any():
            shown[position] = _drawn(table, position, scale, shown[position], ~gone)
    return replace(solution, shown=tuple(shown))


def _drawn(table: Table, position: int, scale: Scale, shown: Shown, here: Bools) -> Shown:
    codes = shown.codes[here]
    low, high = group_spans(codes, len(shown.labels), table.low[position][here], table.high[position][here])
    labels, ncp, il = list(shown.labels), shown.ncp.copy(), shown.il.copy()
    taken = {labels[code] for code in np.unique(codes).tolist()}
    for code in np.unique(codes).tolist():
        span = parse_span(labels[code])
        if span is None or span[0] == span[1] or labels[code] == scale.missing_text:
            continue
        text, loss = scale.shown(int(low[code]), int(high[code]))
        if text not in taken or not table.policy.dependencies:
            taken.add(text)
            labels[code], ncp[code], il[code] = text, loss, loss
    return shown.relabelled(labels, ncp, il)
