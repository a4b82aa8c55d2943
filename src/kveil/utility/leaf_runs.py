"""Released values as runs of leaves: what an analyst knows of a record is that its value is one of these."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

import numpy as np

from kveil.arrays import Bools, Longs
from kveil.policy.numbers import parse_span
from kveil.table.scale import Scale
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table
from kveil.table.tree import Tree


@dataclass(frozen=True)
class LeafRuns:
    """For every released row and quasi-identifier the first and the last leaf of what is shown."""

    first: Longs
    last: Longs
    rows: Longs  # of the table
    leaves: tuple[int, ...]  # how many there are of each quasi-identifier


def spans_of_solution(table: Table, solution: Solution) -> LeafRuns:
    """Return what a solution shows; rows that are dropped are absent, stars stand for every leaf."""
    dropped = solution.suppressed_anywhere if table.policy.suppression.show == "drop" else None
    rows = np.arange(table.rows) if dropped is None else np.flatnonzero(~dropped)
    first = np.empty((len(table.names), len(rows)), dtype=np.int64)
    last = np.empty_like(first)
    for position, name in enumerate(table.names):
        tree, shown = table.trees[position], solution.shown[position]
        low, high = _ends(tree, shown)
        starred: Bools = solution.suppressed[table.component_of[name]][rows]
        codes = shown.codes[rows]
        first[position] = np.where(starred, 0, low[codes])
        last[position] = np.where(starred, tree.leaves - 1, high[codes])
    return LeafRuns(first, last, rows, tuple(tree.leaves for tree in table.trees))


def _ends(tree: Tree | Scale, shown: Shown) -> tuple[Longs, Longs]:
    """Return the first and the last leaf of every code that is shown; what no tree knows stands for every leaf."""
    low = np.zeros(len(shown.labels), dtype=np.int64)
    high = np.full(len(shown.labels), tree.leaves - 1, dtype=np.int64)
    if isinstance(tree, Tree):
        nodes = min(len(tree.labels), len(shown.labels))
        low[:nodes], high[:nodes] = tree.first[:nodes], tree.last[:nodes]
        return low, high
    for code, label in enumerate(shown.labels):
        if label == tree.missing_text and tree.missing is not None:
            low[code] = high[code] = tree.missing
            continue
        span = parse_span(label)
        if span is not None:
            low[code] = min(bisect_left(tree.numbers, span[0]), len(tree.numbers) - 1)
            high[code] = max(bisect_right(tree.numbers, span[1]) - 1, low[code])
    return low, high
