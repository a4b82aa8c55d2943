"""From a table to a verified release: encode, solve, decode, lay out, verify, one call per room."""

from __future__ import annotations

from kveil.algorithms.registry import loops_of
from kveil.engines.store import ReleaseFile, Store
from kveil.files import Source
from kveil.flow.steps.inputs import check_input, check_values
from kveil.flow.steps.judging import check_verdict
from kveil.flow.steps.outputs import write_meanwhile
from kveil.flow.steps.request import Request
from kveil.flow.steps.shown_policy import policy_sha256
from kveil.flow.steps.stages import Stages
from kveil.flow.steps.table_search import bound_of, goes_by_tuples, search_table
from kveil.report.run import Run
from kveil.report.warn import evidence_of, owners_warnings, release_warnings, sheets_left_aside
from kveil.table.decode import decode
from kveil.table.encode import encode
from kveil.verifier.release import lay_beside, verify_rows


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
    if earlier is None:
        by_tuples = store.by_tuples and goes_by_tuples(policy, asked.able)
        chosen = search_table(table, asked.able, stages, by_tuples=by_tuples)
    else:
        people = earlier.people_of(source, policy)
        told = stages.told_when_compiling(loops_of(policy, asked.able))
        together = earlier.attempt(source, table, people, asked.able, told)
        chosen = together.attempt
    release = decode(source, table, chosen.solution)
    stages.end("solve")
    laid = store.lay_out(policy, source, release, out)
    stages.end("write")
    stages.begin("verifying")
    with write_meanwhile(laid, source, policy, out) as written:
        released = laid.source
        aligned = lay_beside(released, source, release.rows, policy)
        verdict = verify_rows(released, aligned.rows, policy, aligned=aligned)
        if earlier is not None and people is not None:
            told_together = earlier.check(released, policy, people.gather(release.rows))
            verdict = verdict.with_previous(told_together.check, told_together.findings, told_together.lapsed)
        check_verdict(verdict, aligned, policy, chosen.algorithm)
        warnings = release_warnings(released, policy, release.labels)
        private_warnings = owners_warnings(evidence_of(policy, aligned))
        private_warnings += sheets_left_aside(source)
        private_warnings += [] if together is None else together.warnings(table.noun)
        published = policy_sha256(policy, aligned.rows)
        stages.end("verify")
        least = bound_of(table, stages, bounded=asked.bounded)
        digest = written()
        stages.end("write")
    return Run(
        source=source,
        table=table,
        attempt=chosen,
        release=release,
        aligned=aligned,
        verdict=verdict,
        warnings=warnings,
        private_warnings=private_warnings,
        policy_sha256=published,
        bound=least,
        engine=store.engine,
        release_sha256=digest,
    )
