"""A table on a cluster solved by parts: planned from counts on the driver, solved by executors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TypeVar

import polars as pl

from kveil.algorithms.algorithm import Algorithm, DivideOptions
from kveil.algorithms.proofs import tell_if_proved
from kveil.algorithms.splitting.planning import LimitGroups, Plan, plan_division, plan_mondrian
from kveil.engines.finishing import finish
from kveil.engines.part_solutions import in_one_part
from kveil.engines.solver import check_options, part_solver
from kveil.engines.spark.driver_tuples import TUPLE_TIMES
from kveil.engines.spark.executor_parts import SolvedRows, SparkCounter, UnitRows, known_values, solve_rows
from kveil.engines.spark.rules import rule_cells, rules_kept
from kveil.engines.spark.solving import SolvePart, SolveTask, SolveWhole, SplitPart, made_columns, set_columns
from kveil.engines.spark.units import Units
from kveil.errors import Refused, Unmeetable
from kveil.files import Source
from kveil.flow.spark.by_parts import SolvedParts
from kveil.flow.spark.spark_request import SparkFrame, SparkRequest
from kveil.flow.steps.inputs import check_rules, check_size, check_values
from kveil.flow.steps.stages import Stages
from kveil.free_form import Details
from kveil.policy.components import most_suppressed
from kveil.policy.model import Policy
from kveil.table.sensitive import WholeValues
from kveil.table.table import Table
from kveil.words import listing

Planned = TypeVar("Planned")


def solve_by_mondrian(
    units: Units, frame: SparkFrame, asked: SparkRequest, stages: Stages, exits: ExitStack, *, most: int
) -> SolvedParts:
    """Return what Mondrian finds for tuples that Spark keeps in ``frame``, cut into parts of so many."""
    policy, (algorithm,) = asked.policy, asked.able
    _check_items(units, policy)
    rows = UnitRows.tuples_of(units, frame)
    by_gain = policy.algorithm.options.get("choose") == "gain"
    algorithm.options.read(policy.algorithm.options, f"algorithm {algorithm.name}")
    start = _Start.of(rows, policy, stages, divided=False)
    try:
        plans = start.planned(lambda: plan_mondrian(start.limits, start.counter, most, by_gain=by_gain))
    finally:
        start.counter.forget()
    solved = _split_components(rows, start, plans, by_gain=by_gain, exits=exits)
    for summary in solved.summaries:
        summary.raise_error()
    _check_stars(rows, start.whole, solved)
    _check_order(start.whole, solved)
    stages.end("solve")
    details = {"parts": sum(summary.groups for summary in solved.summaries)}
    return _finished(rows, start.whole, solved, algorithm, details, exits)


def _split_components(
    rows: UnitRows, start: _Start, plans: Sequence[Plan], *, by_gain: bool, exits: ExitStack
) -> SolvedRows:
    """Split the parts of every component, one after another: each adds what it shows of its own attributes."""
    policy, parts = start.whole.policy, start.whole.components
    several = len(parts) > 1
    units, encoder = rows.units, rows.encoder(start.whole)
    solved: SolvedRows | None = None
    for number, plan in enumerate(plans):
        others = {name for part in parts if part is not parts[number] for name in part.attributes}
        made = [name for name in made_columns(policy, units.table.columns) if name not in others]
        before = () if solved is None else solved.made
        own = tuple(name for name in made if name not in before)
        task = SolveTask(
            encoder,
            SplitPart(plan.whole_table, by_gain),
            (*units.keys, TUPLE_TIMES, *(f"m{i}" for i in range(len(before)))),
            own,
            set_columns(policy),
            plan.why,
            component=number if several else None,
            before=len(before),
        )
        new = solve_rows(rows if solved is None else rows.with_made(solved), task, plan.cut_table.cuts, None, exits)
        earlier = [] if solved is None else solved.summaries
        counts = new.counts if solved is None else pl.concat([solved.counts, new.counts])
        solved = replace(new, made=(*before, *own), summaries=[*earlier, *new.summaries], counts=counts)
    assert solved is not None, "a table has a component"
    return solved


def _check_stars(rows: UnitRows, whole: Table, solved: SolvedRows) -> None:
    """Raise Refused where the whole table would have to say what becomes of rows that show stars.

    With several components, a row that is suppressed in one may be a group with others who show stars there.
    """
    policy, hidden = whole.policy, sum(summary.nothing_left for summary in solved.summaries)
    if len(whole.components) > 1 and policy.suppression.show == "star" and whole.persons is None:
        hidden += solved.suppressed(whole.names[0])
    if hidden:
        raise Refused(
            f"{hidden:,} of {rows.number:,} would show nothing but `*` where a model looks, and what becomes of them "
            "is decided on the whole table; take engine local or stream, or give the driver more memory."
        )


def solve_by_division(
    units: Units, asked: SparkRequest, stages: Stages, exits: ExitStack, *, columns: Sequence[str]
) -> SolvedParts:
    """Return what an algorithm finds for a table that it is asked to divide; ``columns`` are kept beside the units."""
    policy, (algorithm,) = asked.policy, asked.able
    _check_items(units, policy)
    rows = UnitRows.single(units, columns)
    own, _ = check_options(algorithm, dict(policy.algorithm.options))
    assert isinstance(own, DivideOptions)
    assert own.divide is not None
    most = own.divide
    start = _Start.of(rows, policy, stages, divided=True)
    part_solver(algorithm, start.whole, dict(policy.algorithm.options))  # options are checked before any part is solved
    try:
        plan = start.planned(lambda: plan_division(start.limits, start.counter, most, algorithm.name))
        packs = start.counter.packs(plan, most)
    finally:
        start.counter.forget()
    number = len(set(packs.values()))
    inside = plan.records - plan.left_out
    options = dict(policy.algorithm.options)
    solve: SolvePart | SolveWhole = SolveWhole(algorithm.name, options)
    if number > 1 or plan.left_out:
        remaining = most_suppressed(policy, plan.records) - plan.left_out
        solve = SolvePart(algorithm.name, options, remaining, inside)
    task = SolveTask(
        rows.encoder(start.whole),
        solve,
        tuple(rows.frame.columns),
        made_columns(policy, units.table.columns),
        set_columns(policy),
        plan.why,
    )
    solved = solve_rows(rows, task, plan.cut_table.cuts, packs, exits)
    _raise_first(solved, number if isinstance(solve, SolvePart) else 0, start)
    _check_stars(rows, start.whole, solved)
    _check_order(start.whole, solved)
    stages.end("solve")
    details = solved.summaries[0].details
    if isinstance(solve, SolvePart):
        sizes: dict[int, int] = {}
        for part, pack in packs.items():
            sizes[pack] = sizes.get(pack, 0) + plan.cut_table.records[part]
        details = {"divided": {"parts": number, "largest": max(sizes.values())}}
    return _finished(rows, start.whole, solved, algorithm, details, exits)


def _check_items(units: Units, policy: Policy) -> None:
    """Raise Refused where the items of individuals are no texts, which is all that sets of parts hold."""
    numbers = [name for name in set_columns(policy) if not units.table.is_text(name)]
    if numbers:
        raise Refused(f"items of people by parts are texts, and {listing(numbers)} is none; convert it first.")


def _raise_first(solved: SolvedRows, parts: int, start: _Start) -> None:
    """Raise what went wrong in the first part in which something did."""
    for summary in solved.summaries:
        try:
            summary.raise_error()
        except Unmeetable as error:
            told = in_one_part(error, parts) if parts else error
            raise tell_if_proved(told, start.limits.table) from None


def _check_order(whole: Table, solved: SolvedRows) -> None:
    """Raise Refused where sets would show their items in another order if nobody had been left out."""
    for name, sensitive in whole.sensitive.items():
        if isinstance(sensitive, WholeValues) and name not in whole.policy.generalized and solved.summaries[0].values:
            values = {value for summary in solved.summaries for value in summary.values.get(name, ())}
            if sensitive.as_shown(values) != sensitive.as_released(values):
                raise Refused(
                    f"the order of the items of {name} depends on who is left out, which parts do not know of each "
                    "other; give it a hierarchy, or take engine local."
                )


def _finished(
    rows: UnitRows,
    whole: Table,
    solved: SolvedRows,
    algorithm: Algorithm,
    details: Details,
    exits: ExitStack,
) -> SolvedParts:
    counts = solved.counts
    if whole.policy.dependencies:
        kept = rules_kept(solved, whole, counts)
        solved, counts = kept.solved, kept.counts
        details = {**details, "association": {"records": kept.records}} if kept.records else details
    return SolvedParts(rows, whole, solved, finish(whole, counts), algorithm, details, exits=exits)


@dataclass(frozen=True)
class _Start:
    """What a run by parts begins with: the trees of the table, what counts it, and its groups of equal limits."""

    whole: Table
    counter: SparkCounter
    limits: LimitGroups

    @classmethod
    def of(cls, rows: UnitRows, policy: Policy, stages: Stages, *, divided: bool) -> _Start:
        stages.begin("encoding")
        whole = known_values(rows.units, policy)
        counter = SparkCounter(rows, whole, divided=divided)
        limits = LimitGroups.counted(whole, counter, divided=divided)
        nothing = Source(rows.units.table.name, pl.DataFrame(), "frame")
        limits.check_conflicts(rows.units.table.name)
        check_size(nothing.name, limits.table)
        if policy.dependencies:
            check_rules(nothing.name, rule_cells(rows.units, policy), policy)
        check_values(nothing, limits.table)
        stages.end("read")
        stages.begin(f"solving with {policy.algorithm.name} in parts")
        return cls(whole, counter, limits)

    def planned(self, plan: Callable[[], Planned]) -> Planned:
        """Return what is planned; where there can be no release, say whether that is proved."""
        try:
            return plan()
        except Unmeetable as error:
            raise tell_if_proved(error, self.limits.table) from None
