"""`kveil anonymize` on a cluster by parts: executors solve them, and the driver holds counts and slices alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from kveil.algorithms.algorithm import Algorithm, DivideOptions
from kveil.algorithms.splitting.planning import LimitGroups, Plan, check_parts, plan_division, plan_mondrian
from kveil.choose import Attempt, Tried
from kveil.engines.finishing import FinishedColumn, finish
from kveil.engines.local import part_solver
from kveil.engines.parts import in_one_part
from kveil.engines.spark.counting import Types, count_release, count_written, types_of
from kveil.engines.spark.parts import (
    SolvedRows,
    SparkCounter,
    UnitRows,
    group_sizes,
    known_values,
    records_of_classes,
    solved_rows,
    totals_of,
)
from kveil.engines.spark.session import told_plainly
from kveil.engines.spark.showing import Joined
from kveil.engines.spark.slices import Slices, grouping_attributes, values_taking_part
from kveil.engines.spark.solving import (
    SolvePart,
    SolveTask,
    SolveWhole,
    SplitPart,
    made_columns,
    set_columns,
    starred_columns,
)
from kveil.engines.spark.units import Units
from kveil.engines.summary import GONE, NAME, RECORDS
from kveil.errors import Refused, Unmeetable
from kveil.files import Source
from kveil.flow.check import proved_or_not_found
from kveil.flow.inputs import check_input, check_values
from kveil.flow.judging import check_verdict
from kveil.flow.publish import policy_sha256
from kveil.flow.spark_request import SparkFrame, SparkRequest, cell_warnings
from kveil.flow.stages import Stages
from kveil.measures import GroupSizes, together
from kveil.policy.attributes import STAR
from kveil.policy.components import most_suppressed
from kveil.policy.model import Policy
from kveil.report.run import Run
from kveil.report.warn.promises import empty_promises
from kveil.table.decode import Release
from kveil.table.sensitive import WholeValues, changed_meanwhile
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table
from kveil.verifier.counts import CountedSides, incomplete, lay_counts, questions
from kveil.verifier.release import verify_rows
from kveil.verifier.slices import SlicedRelease
from kveil.verifier.verdict import Verdict
from kveil.words import listing


def divides(policy: Policy, able: Sequence[Algorithm]) -> bool:
    """Tell whether a policy asks an algorithm to solve a table in parts."""
    named = len(able) == 1 and policy.algorithm.name == able[0].name
    return named and "divide" in policy.algorithm.options and issubclass(able[0].options, DivideOptions)


def check_by_parts(asked: SparkRequest) -> None:
    """Raise Refused where a table cannot be solved by parts on a cluster, whatever it has."""
    check_parts(asked.policy)
    policy = asked.policy
    if policy.individual_column is not None and not divides(policy, asked.able):
        raise Refused("individuals go by parts only with divide; take engine local or stream.")
    if any(policy.fixed_lines(name) is None for name in policy.generalized):
        raise Refused(
            "items that are generalized by parts need a hierarchy of their own; write it as a tree or a file."
        )
    if STAR in asked.policy.data.missing:
        raise Refused("a table by parts has no `*` that means missing; write another text for it.")
    if asked.bounded:
        raise Refused("a table by parts has no --bound, which looks at all tuples; leave it out, or take engine local.")
    if not grouping_attributes(asked.policy):
        raise Refused(
            "a table by parts is verified by slices, and no quasi-identifier is in all models; take engine local."
        )


@dataclass(frozen=True)
class SolvedParts:
    """A table of which every part was solved, with what is known of the whole."""

    rows: UnitRows
    whole: Table
    solved: SolvedRows
    columns: Mapping[str, FinishedColumn]
    algorithm: Algorithm
    details: Mapping[str, Any]
    exits: ExitStack

    @property
    def policy(self) -> Policy:
        """The policy of the run."""
        return self.whole.policy

    @property
    def names(self) -> list[str]:
        """The released columns, in the order of the table."""
        return [name for name in self.rows.units.table.columns if name in self.policy.released]

    @property
    def suppressed(self) -> int:
        """How many records, or individuals, are suppressed."""
        first = self.whole.names[0]
        counts = [
            own.counts.filter((pl.col(NAME) == first) & pl.col(GONE))[RECORDS].sum() for own in self.solved.summaries
        ]
        return int(sum(counts))

    @property
    def released(self) -> int:
        """How many rows the release has."""
        return self.rows.number - (self.suppressed if self.policy.suppression.show == "drop" else 0)

    def joined(self) -> Joined:
        """Return every unit with what it shows."""
        starred = starred_columns(self.policy) if self.suppressed else []
        shown = {*self.policy.quasi_identifiers, *starred, *set_columns(self.policy)}
        made = [name for name in self.solved.made if name in shown]
        rewritten = {name: column.rewritten for name, column in self.columns.items()}
        return self.solved.joined(rewritten, made, self.exits)

    def attempt(self, groups: GroupSizes) -> Attempt:
        """Return what was found, with one row for all that is released and one for all that is suppressed."""
        policy = self.policy
        lost, items = map(sum, zip(*(summary.items for summary in self.solved.summaries), strict=True))
        losses = together(
            policy,
            {name: column.loss for name, column in self.columns.items()},
            groups,
            self.rows.number,
            self.suppressed,
            lost / items if items else None,
        )
        codes = np.zeros(2, dtype=np.int32)
        shown = tuple(Shown.covering(tree, codes[:1], codes[:1], codes) for tree in self.whole.trees)
        solution = Solution(shown, np.array([[False, True]]), {}, self.details)
        tried = [Tried(self.algorithm.name, losses.of(policy.loss))]
        return Attempt(self.algorithm, policy.algorithm.options, solution, losses, tried)

    @property
    def table(self) -> Table:
        """All that is released, and all that is suppressed, as two rows of a table."""
        nothing = np.zeros((len(self.whole.names), 2), dtype=np.int32)
        times = np.array([self.rows.number - self.suppressed, self.suppressed], dtype=np.int64)
        return self.whole.changed(leaves=nothing, low=nothing, high=nothing, sensitive={}, times=times)

    def verified(self, join: Joined, release: SparkFrame, asked: SparkRequest, stages: Stages) -> Run:
        """Return the run of a release that is there as Spark wrote it, judged slice by slice."""
        policy = self.policy
        stages.begin("verifying")
        if totals_of(join) != (self.rows.number, self.rows.hashed):
            raise changed_meanwhile(self.rows.units.table.name)
        with told_plainly("read the release back"):
            types = types_of(release)
        judged = self._judged(join, release, types)
        check_verdict(judged.verdict, judged.aligned, policy, self.algorithm)
        groups = group_sizes(join, policy, stars_take_part=self.table.stars_take_part)
        records = None if self.whole.persons is None else np.array(records_of_classes(join), dtype=np.int64)
        stages.end("verify")
        return Run(
            Source(self.rows.units.table.name, pl.DataFrame(), "frame"),
            self.table,
            self.attempt(groups),
            Release({}, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), {}),
            judged.aligned,
            judged.verdict,
            cell_warnings(release, policy, types, judged.rows),
            empty_promises(policy),
            policy_sha256(policy, judged.aligned.rows),
            engine="spark",
            records=records,
            groups=groups if self.whole.persons is None else None,
        )

    def _judged(self, join: Joined, release: SparkFrame, types: Types) -> _Judged:
        """Return the verdict on a release: of records slice by slice, of individuals as a whole.

        How many share a set of items is counted over the whole release, so that no slice can tell.
        """
        policy = self.policy
        asked = questions(policy, types)
        if self.whole.persons is not None:
            written = count_written(release, policy, asked, types, number=self.released)
            counts = count_release(join, written, policy, asked, None)
            laid = lay_counts(policy, counts)
            verdict = verify_rows(laid.release, laid.rows, policy, laid.aligned)
            assert laid.aligned is not None, "the original was counted, too"
            return _Judged(laid.aligned, verdict.with_findings(incomplete(policy, counts)), written.totals.rows)
        judged = SlicedRelease(policy, types, values_taking_part(release, policy))
        for counts in Slices.of(release, join, policy, self.released, self.exits).counted(policy, asked, types):
            judged.add(counts)
        laid, counted = judged.together()
        assert laid.aligned is not None, "the original was counted, too"
        return _Judged(laid.aligned, judged.verdict(), counted.written.rows)


@dataclass(frozen=True)
class _Judged:
    """A verdict, with what it was found on, and how many rows the release has."""

    aligned: CountedSides
    verdict: Verdict
    rows: int


# ------------------------------------------------------------------------------------------------ solving


def solved_by_mondrian(
    units: Units, frame: SparkFrame, asked: SparkRequest, stages: Stages, exits: ExitStack, *, most: int
) -> SolvedParts:
    """Return what Mondrian finds for tuples that Spark keeps in ``frame``, cut into parts of so many."""
    policy, (algorithm,) = asked.policy, asked.able
    rows = UnitRows.tuples_of(units, frame)
    by_gain = policy.algorithm.options.get("choose") == "gain"
    algorithm.options.read(policy.algorithm.options, f"algorithm {algorithm.name}")
    start = _Start.of(rows, policy, stages, divided=False)
    try:
        plan = start.planned(lambda: plan_mondrian(start.limits, start.counter, most, by_gain=by_gain))
    finally:
        start.counter.forget()
    task = SolveTask(
        rows.encoder(start.whole),
        SplitPart(plan.whole_table, by_gain),
        units.keys,
        made_columns(policy, units.table.columns),
        (),
        plan.why,
    )
    solved = solved_rows(rows, task, plan.cut_table.cuts, None, exits)
    for summary in solved.summaries:
        summary.raise_error()
    hidden = sum(summary.nothing_left for summary in solved.summaries)
    if hidden:
        raise Refused(
            f"{hidden:,} of {rows.number:,} would show nothing but `*`, and where they go instead is looked for in the "
            "whole table; take engine local or stream, or give the driver more memory."
        )
    stages.end("solve")
    details = {"parts": sum(summary.groups for summary in solved.summaries)}
    return _finished(rows, start.whole, solved, algorithm, details, exits)


def solved_by_division(
    units: Units, asked: SparkRequest, stages: Stages, exits: ExitStack, *, columns: Sequence[str]
) -> SolvedParts:
    """Return what an algorithm finds for a table that it is asked to divide; ``columns`` are kept beside the units."""
    policy, (algorithm,) = asked.policy, asked.able
    numbers = [name for name in set_columns(policy) if not units.table.is_text(name)]
    if numbers:
        raise Refused(f"items of individuals by parts are texts, and {listing(numbers)} is none; convert it first.")
    rows = UnitRows.single(units, columns)
    most = int(policy.algorithm.options["divide"])
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
    solved = solved_rows(rows, task, plan.cut_table.cuts, packs, exits)
    _raise_first(solved, number if isinstance(solve, SolvePart) else 0, start)
    _check_order(start.whole, solved)
    stages.end("solve")
    details: dict[str, Any] = dict(solved.summaries[0].details)
    if isinstance(solve, SolvePart):
        sizes: dict[int, int] = {}
        for part, pack in packs.items():
            sizes[pack] = sizes.get(pack, 0) + plan.cut_table.records[part]
        details = {"divided": {"parts": number, "largest": max(sizes.values())}}
    return _finished(rows, start.whole, solved, algorithm, details, exits)


def _raise_first(solved: SolvedRows, parts: int, start: _Start) -> None:
    """Raise what went wrong in the first part in which something did."""
    for summary in solved.summaries:
        try:
            summary.raise_error()
        except Unmeetable as error:
            told = in_one_part(error, parts) if parts else error
            raise proved_or_not_found(told, start.limits.table) from None


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
    details: Mapping[str, Any],
    exits: ExitStack,
) -> SolvedParts:
    counts = pl.concat([summary.counts for summary in solved.summaries])
    return SolvedParts(rows, whole, solved, finish(whole, counts), algorithm, details, exits)


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
        check_input(nothing, limits.table)
        check_values(nothing, limits.table)
        stages.end("read")
        stages.begin(f"solving with {policy.algorithm.name} in parts")
        return cls(whole, counter, limits)

    def planned(self, plan: Any) -> Plan:
        """Return a plan; where there can be no release, say whether that is proved."""
        try:
            made: Plan = plan()
        except Unmeetable as error:
            raise proved_or_not_found(error, self.limits.table) from None
        return made
