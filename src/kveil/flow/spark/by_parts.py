"""`kveil anonymize` on a cluster by parts: executors solve them, and the driver holds counts and slices alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import KW_ONLY, dataclass
from functools import partial

import numpy as np
import polars as pl

from kveil.algorithms.algorithm import Algorithm, DivideOptions
from kveil.algorithms.rules.sides import check_sides
from kveil.algorithms.splitting.planning import check_parts
from kveil.choose import Attempt, Tried
from kveil.engines.finishing import FinishedColumn
from kveil.engines.spark.counting import Types, count_release, count_written, types_of
from kveil.engines.spark.executor_parts import (
    SolvedRows,
    UnitRows,
    group_sizes,
    records_of_classes,
    totals_of,
)
from kveil.engines.spark.session import tell_plainly
from kveil.engines.spark.showing import Joined
from kveil.engines.spark.slices import Slices, values_taking_part
from kveil.engines.spark.solving import (
    set_columns,
    starred_columns,
)
from kveil.engines.spark.tuple_release import HeldRelease
from kveil.errors import Refused
from kveil.files import Source
from kveil.flow.spark.spark_request import SparkFrame, SparkRequest, cell_warnings
from kveil.flow.steps.judging import check_verdict
from kveil.flow.steps.shown_policy import policy_sha256
from kveil.flow.steps.stages import Stages
from kveil.free_form import Details
from kveil.measures import GroupSizes, losses_together
from kveil.policy.attributes import STAR
from kveil.policy.model import Policy
from kveil.report.run import Run
from kveil.report.warn.promises import empty_promises
from kveil.table.decode import Release
from kveil.table.sensitive import error_of_change
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table
from kveil.verifier.counts import CountedSides, incomplete, lay_counts, questions
from kveil.verifier.release import verify_rows
from kveil.verifier.slices import SlicedRelease, slicings
from kveil.verifier.verdict import Verdict


def divides(policy: Policy, able: Sequence[Algorithm]) -> bool:
    """Tell whether a policy asks an algorithm to solve a table in parts."""
    named = len(able) == 1 and policy.algorithm.name == able[0].name
    return named and "divide" in policy.algorithm.options and issubclass(able[0].options, DivideOptions)


def check_by_parts(asked: SparkRequest) -> None:
    """Raise Refused where a table cannot be solved by parts on a cluster, whatever it has."""
    check_parts(asked.policy)
    check_sides(asked.policy)
    policy = asked.policy
    if any(policy.fixed_lines(name) is None for name in policy.generalized):
        raise Refused(
            "items that are generalized by parts need a hierarchy of their own; write it as a tree or a file."
        )
    if STAR in asked.policy.data.missing:
        raise Refused("a table by parts has no `*` that means missing; write another text for it.")
    if asked.bounded:
        raise Refused("a table by parts has no --bound, which looks at all tuples; leave it out, or take engine local.")


@dataclass(frozen=True)
class SolvedParts:
    """A table of which every part was solved, with what is known of the whole."""

    rows: UnitRows
    whole: Table
    solved: SolvedRows
    columns: Mapping[str, FinishedColumn]
    algorithm: Algorithm
    details: Details
    _: KW_ONLY
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
        return self.solved.suppressed(self.whole.names[0])

    @property
    def released(self) -> int:
        """How many rows the release has."""
        return self.rows.number - (self.suppressed if self.policy.suppression.show == "drop" else 0)

    def joined(self, *, one_by_one: bool = True) -> Joined:
        """Return every unit with what it shows, by tuples where these tell it all, unless asked for ``one_by_one``."""
        starred = starred_columns(self.policy) if self.suppressed else []
        shown = {*self.policy.quasi_identifiers, *starred, *set_columns(self.policy)}
        made = [name for name in self.solved.made if name in shown]
        rewritten = {name: column.rewritten for name, column in self.columns.items()}
        one_by_one = one_by_one or not self.rows.units.are_told_by_tuples(self.policy)
        return self.solved.joined(rewritten, made, self.exits, one_by_one=one_by_one)

    def attempt(self, groups: GroupSizes) -> Attempt:
        """Return what was found, with one row for all that is released and one for all that is suppressed."""
        policy = self.policy
        lost, items = map(sum, zip(*(summary.items for summary in self.solved.summaries), strict=True))
        losses = losses_together(
            policy,
            {name: column.loss for name, column in self.columns.items()},
            groups,
            self.rows.number,
            self.suppressed,
            lost / items if items else None,
        )
        codes = np.zeros(2, dtype=np.int32)
        shown = tuple(Shown.covering(tree, codes[:1], codes[:1], codes) for tree in self.whole.trees)
        solution = Solution(shown, np.array([[False, True]] * len(self.whole.components)), {}, self.details)
        tried = [Tried(self.algorithm.name, losses.of(policy.loss))]
        return Attempt(self.algorithm, policy.algorithm.options, solution, losses, tried)

    @property
    def table(self) -> Table:
        """All that is released, and all that is suppressed, as two rows of a table."""
        nothing = np.zeros((len(self.whole.names), 2), dtype=np.int32)
        times = np.array([self.rows.number - self.suppressed, self.suppressed], dtype=np.int64)
        return self.whole.changed(leaves=nothing, low=nothing, high=nothing, sensitive={}, times=times)

    def verified(self, join: Joined | HeldRelease, release: SparkFrame, asked: SparkRequest, stages: Stages) -> Run:
        """Return the run of a release that is there as Spark wrote it, judged slice by slice."""
        assert isinstance(join, Joined), "the driver holds no tuples of parts"
        policy = self.policy
        stages.begin("verifying")
        units, before = self.rows.units, (self.rows.number, self.rows.hashed)
        # Where records were not joined, they are looked at once more.
        if any(totals_of(frame, units) != before for frame in (join.frame, *([units.frame] if join.counted else []))):
            raise error_of_change(units.table.name)
        with tell_plainly("read the release back"):
            types = types_of(release)
        judged = self._judged(join, release, types)
        check_verdict(judged.verdict, judged.aligned, policy, self.algorithm)
        groups = group_sizes(join, policy, stars_take_part=self.table.stars_take_part)
        records = None if self.whole.persons is None else np.array(records_of_classes(join), dtype=np.int64)
        stages.end("verify")
        return Run(
            source=Source(self.rows.units.table.name, pl.DataFrame(), "frame"),
            table=self.table,
            attempt=self.attempt(groups),
            release=Release({}, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), {}),
            aligned=judged.aligned,
            verdict=judged.verdict,
            warnings=cell_warnings(release, policy, types, judged.rows),
            private_warnings=empty_promises(policy),
            policy_sha256=policy_sha256(policy, judged.aligned.rows),
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
            verdict = verify_rows(laid.release, laid.rows, policy, aligned=laid.aligned)
            assert laid.aligned is not None, "the original was counted, too"
            return _Judged(laid.aligned, verdict.with_findings(incomplete(policy, counts)), written.totals.rows)
        judged = SlicedRelease(policy, types, values_taking_part(release, policy))
        first, *others = slicings(policy)
        sliced = partial(Slices.of, release, rows=self.released)
        for counts in sliced(joined=join, names=first.attributes).counted(policy, asked, types, self.exits):
            judged.add(counts, first)
            del counts  # or the driver would hold two slices at a time
        for slicing in others:
            for counts in sliced(joined=None, names=slicing.attributes).counted(policy, asked, types, self.exits):
                judged.add_again(counts, slicing)
                del counts
        laid, counted = judged.together()
        assert laid.aligned is not None, "the original was counted, too"
        return _Judged(laid.aligned, judged.verdict(), counted.written.rows)


@dataclass(frozen=True)
class _Judged:
    """A verdict, with what it was found on, and how many rows the release has."""

    aligned: CountedSides
    verdict: Verdict
    rows: int
