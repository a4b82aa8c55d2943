"""Bringing suppressed rows back in: a row counts as released only if every component can take it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kveil.algorithms.neighbourhoods import ROUNDS, whole_runs
from kveil.arrays import Ints, Longs
from kveil.stopping import Stop
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table

# Lets rows into a component of a solution: returns who came in, and what its attributes then show.
LetIn = Callable[[int, Ints], tuple[Ints, list[Shown]]]


def come_back(table: Table, solution: Solution, coming: Ints, run: Longs, let_in: LetIn, stop: Stop) -> Solution:
    """Return a solution with fewer suppressed rows, the same one where none can come back.

    Every component lets in whom it can. Who did not get into all of them is left out, with all of the same ``run``, and
    the others try again from the start, since they may have come in together with those; until all of them get in
    everywhere. Where the search is to stop before that, nobody comes back.
    """
    for _ in range(ROUNDS):
        if not len(coming):
            return solution
        shown = list(solution.shown)
        inside = np.full(table.rows, len(table.components))
        for number, component in enumerate(table.components):
            if stop.over():
                return solution
            came, columns = let_in(number, coming)
            inside[came] -= 1
            for position, column in zip(table.positions(component.attributes), columns, strict=True):
                shown[position] = column
        everywhere = whole_runs(run, inside[coming] == 0)
        if everywhere.all():
            suppressed = solution.suppressed.copy()
            suppressed[:, coming] = False
            return replace(solution, shown=tuple(shown), suppressed=suppressed, alike=None)
        coming, run = coming[everywhere], run[everywhere]
    return solution
