"""Mondrian: LeFevre, DeWitt, Ramakrishnan 2006, strict.

As Gong et al. 2017 use it, with any model as the condition of a split. Departures, each in docs/decisions: children
that do not hold alone stay together as one rest part instead of forbidding the split; missing numbers are a child of
their own; a component's parts satisfy all of its models by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from kveil.algorithms.component import components_of
from kveil.algorithms.limits import is_bounded
from kveil.algorithms.neighbourhoods import counted_rows, looks_at_values, runs_to_leave_out
from kveil.algorithms.splitting.parts import ComponentParts, Splitter
from kveil.algorithms.stars import NOTHING_LEFT, group_of_stars_is_lost, nothing_left
from kveil.algorithms.suppression import beyond_limit
from kveil.arrays import Bools, Longs
from kveil.models.of_policy import group_model, sensitive_pairs
from kveil.policy.components import most_suppressed
from kveil.policy.fields import PolicyPart
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table

CROWDED = "in a neighbourhood with too much of one sensitive value"  # the reason that owners are told


class MondrianOptions(PolicyPart):
    """Options of Mondrian.

    choose: `widest` splits the attribute with the widest normalized range first, as in the paper; `gain` the one
    whose split lowers the loss most.
    """

    choose: Literal["widest", "gain"] = "widest"


def mondrian(table: Table, options: MondrianOptions, rng: np.random.Generator) -> Solution:
    """Split top-down while every part satisfies every model; a part shows the LCA of its values.

    Records that no release can keep (their group of equal limits fails) are suppressed; where the whole table has too
    much of one value and leaving out some neighbourhoods is enough, only these. Cost: O(tuples · attributes) per level
    of the recursion.
    """
    return solve_by_parts(table, "mondrian", by_gain=options.choose == "gain")


def solve_by_parts(
    table: Table, name: str, *, by_gain: bool = False, splitter: Callable[..., Splitter] = Splitter
) -> Solution:
    """Return a solution by one way of dividing components into parts, or raise where too much would be lost."""
    allowed = most_suppressed(table.policy, table.records)
    kept = np.ones(table.rows, dtype=bool)
    crowded = _crowded(table, allowed)
    kept[crowded] = False
    reasons = {CROWDED: np.flatnonzero(crowded).astype(np.int32)} if crowded.any() else {}
    starred = np.zeros(table.rows, dtype=bool)
    while True:
        solution, hidden = split_kept(table, kept, by_gain=by_gain, splitter=splitter)
        lost = table.count(solution.suppressed_anywhere | hidden)
        if lost > allowed:
            raise beyond_limit(table, name, lost, allowed)
        starred |= hidden
        if not hidden.any() or not table.whole_rows:
            break
        kept &= ~hidden  # dropping rows shrinks the groups of other components: split again without them
    if starred.any():
        reasons[NOTHING_LEFT] = np.flatnonzero(starred).astype(np.int32)
    suppressed = solution.suppressed | hidden
    alike = None if suppressed.any() else solution.alike
    return Solution(solution.shown, suppressed, {**solution.reasons, **reasons}, solution.details, alike=alike)


def split_kept(
    table: Table, kept: Bools, *, by_gain: bool, splitter: Callable[..., Splitter] = Splitter
) -> tuple[Solution, Bools]:
    """Return a solution over the kept rows, and the rows that would show nothing but stars."""
    distinct = table.distinct
    member = distinct.member
    everyone = bool(kept.all())
    weights = distinct.weights if everyone else table.tally(member, len(distinct.weights), chosen=kept)
    pairs = sensitive_pairs(table, kept=None if everyone else kept)
    splitters = [splitter(component, pairs, weights) for component in components_of(table)]
    divided = _split_all(splitters, weights > 0, by_gain=by_gain)
    suppressed = np.zeros((len(splitters), table.rows), dtype=bool)
    shown: list[Shown | None] = [None] * len(table.names)
    reasons = {}
    number = 0
    for c, (own, parts) in enumerate(zip(splitters, divided, strict=True)):
        for position, column in zip(own.positions, own.shown(parts, member), strict=True):
            shown[position] = column
        suppressed[c] = (parts.part < 0)[member] | ~kept
        number += parts.low.shape[1]
        gone = np.flatnonzero(suppressed[c] & kept).astype(np.int32)
        if len(gone):
            reasons[own.why] = gone
    columns = tuple(column for column in shown if column is not None)
    alike = divided[0].part[member] if len(divided) == 1 and not suppressed.any() else None
    solution = Solution(columns, suppressed, reasons, {"parts": number}, alike=alike)
    return solution, nothing_left(table, columns, {}) & ~solution.suppressed_anywhere


def split_part(table: Table, whole_table: Mapping[str, Longs], *, by_gain: bool) -> Solution:
    """Return the solution of a part of a table that was cut as Mondrian cuts it, and has one component.

    ``whole_table`` has how many of the whole table have each sensitive value. Rows that would show nothing but stars
    are shown so: what becomes of them is for the whole table to say.
    """
    (component,) = components_of(table)
    own = Splitter(component, sensitive_pairs(table), table.distinct.weights, whole_table=whole_table)
    parts = own.split_as_one(by_gain=by_gain)
    member = table.distinct.member
    columns = dict(zip(own.positions, own.shown(parts, member), strict=True))
    shown = tuple(columns[position] for position in range(len(table.names)))
    nobody = np.zeros((1, table.rows), dtype=bool)
    return Solution(shown, nobody, {}, {"parts": parts.low.shape[1]}, alike=parts.part[member])


def _split_all(splitters: list[Splitter], alive: Bools, *, by_gain: bool) -> list[ComponentParts]:
    """Return the parts of every component; rows that no part can hold are in none.

    Rows of stars that other parts fail without are set apart, and everything is split again without them.
    """
    parked = [np.zeros(len(alive), dtype=bool) for _ in splitters]
    while True:
        divided = _split_without(splitters, alive, parked, by_gain=by_gain)
        star = [
            own.in_the_way(parts) & ~parked[c] for c, (own, parts) in enumerate(zip(splitters, divided, strict=True))
        ]
        if not any(rows.any() for rows in star):
            return divided
        parked = [before | rows for before, rows in zip(parked, star, strict=True)]


def _split_without(
    splitters: list[Splitter], everyone: Bools, parked: list[Bools], *, by_gain: bool
) -> list[ComponentParts]:
    """Split every component's tuples but those set apart; the latter become a part that shows stars."""
    table = splitters[0].table
    alive, may_split = insides(splitters, everyone, parked)
    divided = []
    for c, own in enumerate(splitters):
        inside = alive[c] & ~parked[c]
        parts = own.partition(inside, by_gain=by_gain) if may_split[c] else own.unsplit(inside)
        if group_of_stars_is_lost(table):
            own.dissolve(parts)
        divided.append(own.park(parts, alive[c] & parked[c]))
    return divided


def insides(splitters: list[Splitter], everyone: Bools, parked: list[Bools]) -> tuple[list[Bools], list[bool]]:
    """Return for every component the tuples that some part can hold, and whether these may be split.

    Whoever no part of one component can hold is gone from all where rows are suppressed as a whole.
    """
    table = splitters[0].table
    alive = [everyone for _ in splitters]
    may_split = [True for _ in splitters]
    changed = True
    while changed:
        changed = False
        for c, own in enumerate(splitters):
            out, may_split[c] = own.outside(alive[c] & ~parked[c])
            if out.any():
                changed = table.whole_rows and len(splitters) > 1
                for other in range(len(splitters)) if table.whole_rows else [c]:
                    alive[other] = alive[other] & ~out
    return alive, may_split


def _crowded(table: Table, allowed: int) -> Bools:
    """Return neighbourhoods to suppress so that the whole table satisfies models that forbid too frequent values.

    Nobody where the table holds, or where leaving out so many is not allowed. Only for a table without boundaries,
    where a row has one value.
    """
    bounded = any(is_bounded(table, position) for position in range(len(table.trees)))
    if not allowed or bounded or table.persons is not None or not looks_at_values(table):
        return np.zeros(table.rows, dtype=bool)
    models = [group_model(model, table) for model in table.policy.privacy]
    return runs_to_leave_out(counted_rows(table, np.arange(table.rows)), models, allowed)
