"""Mondrian: LeFevre, DeWitt, Ramakrishnan 2006, strict.

As Gong et al. 2017 use it, with any model as the condition of a split. Departures, each in docs/decisions: children
that do not hold alone stay together as one rest part instead of forbidding the split; missing numbers are a child of
their own; a component's parts satisfy all of its models by themselves.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from kveil.algorithms.component import components_of
from kveil.algorithms.limits import is_bounded
from kveil.algorithms.splitting.parts import ComponentParts, Splitter
from kveil.algorithms.stars import NOTHING_LEFT, group_of_stars_is_lost, nothing_left
from kveil.algorithms.suppression import beyond_limit
from kveil.arrays import Bools, Ints, Longs
from kveil.models.distributions import AlphaShare, Close, DistinctValues
from kveil.models.groups import AtLeastK, Groups, Pairs
from kveil.models.of_policy import group_model, sensitive_pairs
from kveil.policy.components import most_suppressed
from kveil.policy.fields import PolicyPart
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table


class MondrianOptions(PolicyPart):
    """Options of Mondrian.

    choose: `widest` splits the attribute with the widest normalized range first, as in the paper; `gain` the one
    whose split lowers the loss most.
    """

    choose: Literal["widest", "gain"] = "widest"


def mondrian(table: Table, options: MondrianOptions, rng: np.random.Generator) -> Solution:
    """Split top-down while every part satisfies every model; a part shows the LCA of its values.

    Records that no release can keep (their group of equal limits fails) are suppressed, from the most frequent
    value where leaving out a few is enough. Cost: O(tuples · attributes) per level of the recursion.
    """
    return solve_by_parts(table, "mondrian", by_gain=options.choose == "gain")


def solve_by_parts(table: Table, name: str, *, by_gain: bool = False, splitter: type[Splitter] = Splitter) -> Solution:
    """Return a solution by one way of dividing components into parts, or raise where too much would be lost."""
    allowed = most_suppressed(table.policy, table.records)
    kept = np.ones(table.records, dtype=bool)
    trimmed = _trim(table, allowed)
    kept[trimmed] = False
    reasons = {"one of too many with the same sensitive value": trimmed} if len(trimmed) else {}
    starred = np.zeros(table.records, dtype=bool)
    while True:
        solution, hidden = split_kept(table, kept, by_gain=by_gain, splitter=splitter)
        lost = int((solution.suppressed_anywhere | hidden).sum())
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
    table: Table, kept: Bools, *, by_gain: bool, splitter: type[Splitter] = Splitter
) -> tuple[Solution, Bools]:
    """Return a solution over the kept rows, and the rows that would show nothing but stars."""
    distinct = table.distinct
    member = distinct.member
    everyone = bool(kept.all())
    weights = distinct.weights if everyone else np.bincount(member[kept], minlength=len(distinct.weights))
    pairs = sensitive_pairs(table, None if everyone else kept)
    splitters = [splitter(component, pairs, weights) for component in components_of(table)]
    divided = _split_all(splitters, weights > 0, by_gain=by_gain)
    suppressed = np.zeros((len(splitters), table.records), dtype=bool)
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
    divided = []
    for c, own in enumerate(splitters):
        inside = alive[c] & ~parked[c]
        parts = own.partition(inside, by_gain=by_gain) if may_split[c] else own.unsplit(inside)
        if group_of_stars_is_lost(table):
            own.dissolve(parts)
        divided.append(own.park(parts, alive[c] & parked[c]))
    return divided


def _trim(table: Table, allowed: int) -> Ints:
    """Return rows to suppress so that the whole table satisfies models that forbid too frequent values.

    Of the most frequent value of the failing model, the last in canonical order first; empty where the table holds
    or where leaving out so many is not allowed. Only for a table without boundaries, where a row has one value.
    """
    nothing = np.zeros(0, dtype=np.int32)
    bounded = any(is_bounded(table, position) for position in range(len(table.trees)))
    if not allowed or bounded or table.persons is not None or not table.sensitive:
        return nothing
    models = [group_model(model, table) for model in table.policy.privacy]
    tally = {name: np.bincount(s.code, minlength=s.known + 1) for name, s in table.sensitive.items()}
    waiting: dict[tuple[str, int], list[int]] = {}  # rows of a value that are still in, in canonical order
    gone: list[int] = []
    out = np.zeros(table.records, dtype=bool)
    while len(gone) <= allowed:
        failing = [model for model in models if not model.good(_as_one(table, tally, table.records - len(gone)))[0]]
        if not failing:
            return np.array(sorted(gone), dtype=np.int32)
        frequent = next((m for m in failing if not isinstance(m, (AtLeastK, DistinctValues, Close))), None)
        if frequent is None or frequent.sensitive is None:
            return nothing
        name, known = frequent.sensitive, table.sensitive[frequent.sensitive].known
        # Only (α,k) takes missing for a value.
        counts = tally[name] if isinstance(frequent, AlphaShare) else tally[name][:known]
        if not counts.any():
            return nothing
        value = int(np.argmax(counts))
        if (name, value) not in waiting:
            order = table.canonical
            waiting[name, value] = order[table.sensitive[name].code[order] == value].tolist()
        row = waiting[name, value].pop()
        while out[row]:
            row = waiting[name, value].pop()
        out[row] = True
        gone.append(row)
        for other, sensitive in table.sensitive.items():
            tally[other][sensitive.code[row]] -= 1
    return nothing


def _as_one(table: Table, tally: dict[str, Longs], rows: int) -> Groups:
    """Return a whole table as one group, by its counts alone."""
    pairs = {}
    for name, counts in tally.items():
        codes = np.flatnonzero(counts).astype(np.int32)
        pairs[name] = Pairs(np.zeros(len(codes), dtype=np.int32), codes, counts[codes], table.sensitive[name].known)
    return Groups(np.zeros(1, dtype=np.int32), 1, np.array([rows], dtype=np.int64), pairs)
