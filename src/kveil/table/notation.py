"""How intervals are written: `60-69` where all numbers that are released are whole, else `[60,70)`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kveil.arrays import Bools
from kveil.policy.attributes import Intervals
from kveil.policy.interval_scale import IntervalScale
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table


def not_released(table: Table, solution: Solution, position: int) -> Bools:
    """Return the rows whose value of a quasi-identifier is suppressed."""
    if table.whole_rows:
        return solution.suppressed_anywhere
    name = table.names[position]
    component = table.component_of[name]
    return np.asarray(solution.suppressed[component])


def write_intervals(table: Table, solution: Solution) -> Solution:
    """Return a solution with intervals written for whole numbers, where only rows that show nothing have others.

    The table was read before anybody was suppressed, so that one number of somebody who is left out makes all of its
    column half-open. That must not be seen.
    """
    shown = list(solution.shown)
    for name, rows in table.fractions.items():
        position = table.names.index(name)
        spec, here = table.policy.attributes[name].hierarchy, shown[position]
        assert isinstance(spec, Intervals)
        nothing = not_released(table, solution, position) | here.is_star[here.codes]
        if not (rows & ~nothing).any():
            shown[position] = in_whole_numbers(spec, here)
    return replace(solution, shown=tuple(shown))


def in_whole_numbers(spec: Intervals, shown: Shown) -> Shown:
    """Return what is shown with intervals written for whole numbers, and costs that are theirs."""
    any_number, whole = IntervalScale(spec, real=True), IntervalScale(spec, real=False)
    labels = [any_number.rewritten(label, whole) for label in shown.labels]
    ncp = shown.ncp.copy()
    for code, (old, new) in enumerate(zip(shown.labels, labels, strict=True)):
        bounds = whole.interval_of(new) if old != new or new.startswith("<") else None
        if bounds is not None:
            ncp[code] = whole.share(*bounds)
    return shown.relabelled(labels, ncp, shown.il)  # an interval of one number is that number
