"""`kveil anonymize` on a cluster: tuples on the driver or parts on executors, verified as Spark wrote the release."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from kveil.algorithms.algorithm import Algorithm
from kveil.choose import Attempt
from kveil.databases import Place
from kveil.engines.spark.counting import Written, count_release, count_written, types_of
from kveil.engines.spark.driver_tuples import SparkTuples, TooManyTuples, tuples_of
from kveil.engines.spark.executor_parts import keep_tuples
from kveil.engines.spark.ordering import in_order
from kveil.engines.spark.owner import ABOUT, about, check_key, owner_frame
from kveil.engines.spark.reading import SparkTable, compared_columns, open_table, table_of_frame
from kveil.engines.spark.session import as_pattern, on_disk, spark_session, tell_plainly
from kveil.engines.spark.showing import Joined, join_shown, shown_tuples
from kveil.engines.spark.staging import StagedFolder
from kveil.engines.spark.tuple_release import HeldRelease
from kveil.engines.spark.units import Units
from kveil.errors import Refused
from kveil.files import Outputs, check_columns, with_commas
from kveil.flow.spark.by_parts import SolvedParts, check_by_parts, divides
from kveil.flow.spark.by_tuples import DriverLimits, check_units
from kveil.flow.spark.spark_request import SparkFrame, SparkRequest, cell_warnings
from kveil.flow.spark.spark_solving import solve_by_division, solve_by_mondrian
from kveil.flow.spark.spark_warnings import tuple_warnings
from kveil.flow.steps.inputs import check_input, check_values
from kveil.flow.steps.judging import check_verdict
from kveil.flow.steps.outputs import Targets
from kveil.flow.steps.run_outputs import files_beside
from kveil.flow.steps.shown_policy import policy_sha256
from kveil.flow.steps.stages import Stages
from kveil.flow.steps.table_search import bound_of, search_table
from kveil.policy.model import Policy
from kveil.report.account import Account, make_account
from kveil.report.run import Run
from kveil.table.decode import Release, decode
from kveil.table.encode import encode_tuples
from kveil.table.table import Table
from kveil.verifier.counts import incomplete, lay_counts, questions
from kveil.verifier.release import verify_rows
from kveil.words import listing


@dataclass(frozen=True)
class SolvedTuples:
    """The tuples of a table with what was found for them."""

    units: Units
    tuples: SparkTuples
    table: Table
    attempt: Attempt
    release: Release  # a row for every tuple that is released

    @property
    def names(self) -> list[str]:
        """The released columns, in the order of the table."""
        return [name for name in self.units.table.columns if name in self.table.policy.released]

    def joined(self, *, one_by_one: bool) -> Joined | HeldRelease:
        """Return every unit with what it shows, by tuples where these tell it all, unless asked for ``one_by_one``."""
        policy = self.table.policy
        made = {name: column for name, column in self.release.columns.items() if column is not None}
        frame = with_commas(pl.DataFrame(made), self.tuples.source.commas.intersection(policy.unchanged))
        reasons = self.attempt.solution.reasons
        shown = shown_tuples(frame, self.release.rows, self.table.rows, reasons)
        if not one_by_one and self.units.are_told_by_tuples(policy):
            return HeldRelease(self.units, self.tuples, shown)
        return join_shown(self.units, self.tuples, shown)

    @property
    def released(self) -> int:
        """How many rows the release has."""
        return int(self.tuples.times[self.release.rows].sum())

    def verified(self, join: Joined | HeldRelease, release: SparkFrame, asked: SparkRequest, stages: Stages) -> Run:
        """Return the run of a release that is there as Spark wrote it, judged by what Spark counts of it."""
        policy, tuples = asked.policy, self.tuples
        stages.begin("verifying")
        with tell_plainly("read the release back"):
            types = types_of(release)
        questioned = questions(policy, types)
        written: Written = count_written(
            release, policy, questioned, types, number=len(tuples.place), summed=bool(questioned.apart)
        )
        counts = count_release(join, written, policy, questioned, tuples.counted)
        laid = lay_counts(policy, counts)
        verdict = verify_rows(laid.release, laid.rows, policy, aligned=laid.aligned).with_findings(
            incomplete(policy, counts)
        )
        assert laid.aligned is not None, "the original was counted, too"
        check_verdict(verdict, laid.aligned, policy, self.attempt.algorithm)
        stages.end("verify")
        least = bound_of(self.table, stages, bounded=asked.bounded)
        return Run(
            source=tuples.source,
            table=self.table,
            attempt=self.attempt,
            release=self.release,
            aligned=laid.aligned,
            verdict=verdict,
            warnings=cell_warnings(release, policy, types, written.totals.rows, counted=written.rows),
            private_warnings=tuple_warnings(policy, tuples, self.release),
            policy_sha256=policy_sha256(policy, laid.rows),
            bound=least,
            engine="spark",
            records=tuples.records,
        )


def able_on_spark(policy: Policy, able: Sequence[Algorithm]) -> list[Algorithm]:
    """Return those algorithms that work on tuples; refuse what engine spark cannot do, before anything is read."""
    if policy.release.order == "keep":
        raise Refused("engine spark has no order to keep, since a table there has none; take order sorted or shuffle.")
    if policy.individual_column is not None and policy.release.shape == "long":
        raise Refused("engine spark has no long releases; take release.shape sets, or engine local.")
    if divides(policy, able):
        if "seconds" in policy.algorithm.options:
            raise Refused(
                "engine spark solves the parts that divide asks for on machines that have no clock in common; "
                "leave seconds out, or take engine local or stream."
            )
        return list(able)
    chosen = [algorithm for algorithm in able if algorithm.on_tuples]
    if "refine" in policy.algorithm.options or not chosen:
        what = "refining" if chosen else listing([algorithm.name for algorithm in able])
        raise Refused(
            f"engine spark gives tuples with counts to the search, and {what} needs single records; take datafly, "
            "mondrian, incognito, k-msd or a Classfly without refine, an algorithm that has divide with it, or engine "
            "local."
        )
    return chosen


def anonymize_on_spark(asked: SparkRequest, place: Place, targets: Targets, stages: Stages) -> Account:
    """Make a release of a table on Spark, a folder of Parquet files that appears once it is verified."""
    if divides(asked.policy, asked.able):
        check_by_parts(asked)
    session = spark_session()
    assert isinstance(targets.release, Path), "other places are refused before"
    with Outputs() as outputs, ExitStack() as exits:
        staged = exits.enter_context(StagedFolder(session, targets.release))
        owner = None
        if targets.owner is not None:
            owner = exits.enter_context(StagedFolder(session, targets.owner, private=True))
        beside = [(target, private) for target, private in targets.beside() if target != targets.owner]
        files = {target: outputs.open(target, private=private) for target, private in beside}
        stages.begin("reading")
        table = open_table(session, place, compared=compared_columns(asked.policy))
        check_columns(table.columns, asked.policy.attributes, table.name)
        key = () if owner is None else check_key(table, asked.policy, targets.owner_key)
        solved = solve_table(table, asked, stages, exits, key)
        join = solved.joined(one_by_one=owner is not None)
        exits.callback(join.let_go)
        stages.begin("writing")
        staged.write(in_order(join, solved.names, asked.policy, solved.released))
        if owner is not None:
            assert isinstance(join, Joined), "it was asked for one by one"
            owner.write(owner_frame(join, key))
            owner.describe(ABOUT, about(join, key))
        stages.end("write")
        with tell_plainly("read the release back"):
            release = session.read.parquet(as_pattern(on_disk(staged.rows)))
        run = solved.verified(join, release, asked, stages)
        account = make_account(run, seconds=stages.seconds, release_sha256=None)
        for target, content in files_beside(run, account, replace(targets, owner=None), stages.progress):
            outputs.write(files[target], content)
        outputs.commit(last=partial(_named, staged, owner))
    return account


def _named(release: StagedFolder, owner: StagedFolder | None) -> None:
    """Give the folders their names, the release last; where it cannot get one, the owner's goes, too."""
    if owner is not None:
        owner.commit()
    try:
        release.commit()
    except BaseException:
        if owner is not None:
            owner.withdraw()
        raise


def anonymize_spark_frame(frame: Any, asked: SparkRequest, stages: Stages) -> tuple[SparkFrame, Run]:
    """Return a verified release of a frame of Spark as another one, which does not depend on the first any more."""
    if divides(asked.policy, asked.able):
        check_by_parts(asked)
    with ExitStack() as exits:
        solved = solve_table(table_of_frame(frame, "the frame"), asked, stages, exits, ())
        join = solved.joined(one_by_one=False)
        exits.callback(join.let_go)
        with tell_plainly("make the release"):
            release = in_order(join, solved.names, asked.policy, solved.released)
            release = release.localCheckpoint(eager=True)
        stages.end("write")
        return release, solved.verified(join, release, asked, stages)


def solve_table(
    table: SparkTable, asked: SparkRequest, stages: Stages, exits: ExitStack, key: Sequence[str]
) -> SolvedTuples | SolvedParts:
    """Return what the algorithms find for a table: on the driver, or by parts where it is asked for or too large.

    ``key`` are columns that say who is who, for the owner's folder.
    """
    policy = asked.policy
    if divides(policy, asked.able):
        units = check_units(table, policy)
        return solve_by_division(units, asked, stages, exits, columns=[table.place(name) for name in key])
    units = check_units(table, policy)
    limits = DriverLimits.of(table.session)
    try:
        return solve_tuples(units, asked, stages, most=limits.tuples)
    except TooManyTuples as error:
        if [algorithm.name for algorithm in asked.able] != ["mondrian"]:
            raise TooManyTuples(f"{error} mondrian alone is solved in parts.") from None
        try:
            check_by_parts(asked)
        except Refused as why:
            raise TooManyTuples(f"{error} By parts they cannot be solved: {why}") from None
        frame = keep_tuples(units, exits)
        return solve_by_mondrian(units, frame, asked, stages, exits, most=limits.part)


def solve_tuples(units: Units, asked: SparkRequest, stages: Stages, *, most: int) -> SolvedTuples:
    """Return what the algorithms find for the tuples of a table, of which the driver holds so many at most."""
    policy = asked.policy
    tuples = tuples_of(units, policy, most)
    stages.begin("encoding")
    encoded = encode_tuples(tuples.source, policy, tuples.times, tuples.of_row)
    check_input(tuples.source, encoded)
    check_values(tuples.source, encoded)
    stages.end("read")
    found = search_table(encoded, asked.able, stages, by_tuples=True)
    stages.end("solve")
    as_they_come = policy.release.model_copy(update={"order": "keep"})
    laid = encoded.changed(policy=policy.model_copy(update={"release": as_they_come}))
    return SolvedTuples(units, tuples, encoded, found, decode(tuples.source, laid, found.solution))
