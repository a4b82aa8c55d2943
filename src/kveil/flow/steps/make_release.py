"""From a table to a verified release: encode, solve, decode, lay out, verify, one call per room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kveil.algorithms.algorithm import Algorithm
from kveil.algorithms.registry import loops_of
from kveil.choose import Attempt, attempt
from kveil.engines.store import ReleaseFile, Store
from kveil.errors import Unmeetable
from kveil.files import Source
from kveil.flow.steps.inputs import check_input, check_values
from kveil.flow.steps.judging import check_verdict
from kveil.flow.steps.outputs import written_meanwhile
from kveil.flow.steps.publish import policy_sha256
from kveil.flow.steps.request import Request
from kveil.flow.steps.stages import Stages
from kveil.progress import Progress
from kveil.report.run import Run
from kveil.report.warn import evidence_of, owners_warnings, release_warnings
from kveil.table.decode import decode
from kveil.table.encode import encode
from kveil.table.table import Table
from kveil.table.tuples import in_tuples
from kveil.verifier.release import lay_beside, verify_rows

if TYPE_CHECKING:  # imported by the runs that need them, which few do
    from kveil.algorithms.bound.bound import Bound


def make_release(source: Source, asked: Request, stages: Stages, store: Store, out: ReleaseFile | None) -> Run:
    """Make and verify a release of a table, alone and together with earlier ones."""
    policy, earlier = asked.policy, asked.earlier
    stages.begin("encoding")
    if store.by_tuples and earlier is None and out is not None:
        from kveil.flow.steps.few_rows import few_rows, release_few_rows

        few = few_rows(source, policy, asked.able)
        if few is not None:
            return release_few_rows(few, source, asked.able, stages, out, bounded=asked.bounded)
    source = store.hold(policy, source)
    table = encode(source, policy)
    check_input(source, table)
    check_values(source, table)
    stages.end("read")
    together = people = None
    told = stages.told_when_compiling(loops_of(policy, asked.able))
    if earlier is None:
        try:
            chosen = _solved(table, asked.able, told, by_tuples=store.by_tuples)
        except Unmeetable as error:
            from kveil.algorithms.proofs import proved_or_not_found

            raise proved_or_not_found(error, table) from None
    else:
        people = earlier.people_of(source, policy)
        together = earlier.attempt(table, people, asked.able, told)
        chosen = together.attempt
    release = decode(source, table, chosen.solution)
    stages.end("solve")
    laid = store.lay_out(policy, source, release, out)
    stages.end("write")
    stages.begin("verifying")
    with written_meanwhile(laid, source, policy, out) as written:
        released = laid.source
        aligned = lay_beside(released, source, release.rows, policy)
        verdict = verify_rows(released, aligned.rows, policy, aligned=aligned)
        if earlier is not None and people is not None:
            verdict = verdict.with_previous(*earlier.check(released, policy, people.gather(release.rows)))
        check_verdict(verdict, aligned, policy, chosen.algorithm)
        warnings = release_warnings(released, policy, release.labels)
        private_warnings = owners_warnings(evidence_of(policy, aligned))
        private_warnings += [] if together is None else together.warnings(table.noun)
        digest = policy_sha256(policy, aligned.rows)
        stages.end("verify")
        least = _bound(table, stages) if asked.bounded else None
        told_of = warnings, private_warnings, digest, least, store.engine, written()
        stages.end("write")
    return Run(source, table, chosen, release, aligned, verdict, *told_of)


def _solved(table: Table, able: Sequence[Algorithm], told: Progress, *, by_tuples: bool) -> Attempt:
    """Return what the algorithms find; on tuples with counts, where that is the same for all of them."""
    if not by_tuples or "refine" in table.policy.algorithm.options or not all(one.on_tuples for one in able):
        return attempt(table, able, told)
    tuples = in_tuples(table)
    found = attempt(tuples.table, able, told)
    if tuples.table is table:
        return found
    return replace(found, solution=found.solution.spread(tuples.of_row))


def _bound(table: Table, stages: Stages) -> Bound:
    from kveil.algorithms.bound.bound import lower_bound

    least = lower_bound(table, stages.progress)
    stages.end("solve")
    return least
