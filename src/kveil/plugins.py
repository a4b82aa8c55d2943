"""What packages with algorithms and measures of their own are written with: see docs/plugins.md.

An algorithm says of every record which group it is in; what a group shows, who is suppressed, whether the policy holds
and what it lost is kveil's work.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kveil.algorithms.algorithm import (
    BOUNDARIES,
    COMBINATIONS,
    COUNTED_MODELS,
    DEPENDENCIES,
    DIVERSE,
    FINGERPRINTS,
    GROUP_MODELS,
    INDIVIDUALS,
    MANY,
    MAX_WIDTH,
    RANGES,
    Algorithm,
    Search,
)
from kveil.algorithms.component import components_of
from kveil.algorithms.stars import NOTHING_LEFT, star_cells
from kveil.algorithms.suppression import LeftOut
from kveil.arrays import Ints
from kveil.measures import Measure
from kveil.models.of_policy import sensitive_pairs_of_rows
from kveil.models.subset import maximal_anonymous_subset
from kveil.policy.components import largest_k
from kveil.policy.fields import PolicyPart
from kveil.table.group_spans import group_spans
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table

__all__ = [
    "BOUNDARIES",
    "COMBINATIONS",
    "COUNTED_MODELS",
    "DEPENDENCIES",
    "DIVERSE",
    "FINGERPRINTS",
    "GROUP_MODELS",
    "INDIVIDUALS",
    "MANY",
    "MAX_WIDTH",
    "RANGES",
    "Algorithm",
    "Measure",
    "NoOptions",
    "PolicyPart",
    "Search",
    "Shown",
    "Solution",
    "Table",
    "largest_k",
    "of_groups",
]


class NoOptions(PolicyPart):
    """The options of an algorithm that has none."""


def of_groups(table: Table, group: Ints, name: str) -> Solution:
    """Return the solution in which every row shows what covers all of its group; rows of group -1 are suppressed.

    ``group`` has a number per row of the table. Groups that break a model, or would show nothing but `*`, are
    suppressed, too. ``name`` is the algorithm's, for the error about too many suppressed.
    """
    group = np.asarray(group, dtype=np.int32)
    left = LeftOut(table, name)
    if (group < 0).any():
        left.leave_out(group < 0, "left out by the algorithm")
    number = int(group.max(initial=-1)) + 1
    shown = []
    for tree, low, high in zip(table.trees, table.low, table.high, strict=True):
        here = group >= 0
        lowest, highest = group_spans(group[here], number, low[here], high[here])
        empty = lowest > highest
        lowest[empty] = highest[empty] = 0
        shown.append(Shown.covering(tree, lowest, highest, group))
    if not table.stars_take_part:
        left.leave_out(star_cells(shown, table.rows) & left.kept, NOTHING_LEFT)
    solution = Solution(tuple(shown), np.zeros((len(table.components), table.rows), dtype=bool))
    pairs = sensitive_pairs_of_rows(table)
    for component in components_of(table):
        required = component.requirements(component.shown_by(solution))
        kept = maximal_anonymous_subset(required, table.weights, pairs, left.kept)
        left.leave_out(left.kept & ~kept, "in a group that breaks a model")
    suppressed = np.repeat((~left.kept)[None, :], len(table.components), axis=0)
    return replace(solution, suppressed=suppressed, reasons=left.reasons)
