"""`kveil anonymize` on a table of which few rows are different: all is done on these, and written record by record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kveil.algorithms.algorithm import Algorithm
from kveil.engines.distinct import DistinctRows, WrittenRows, distinct_rows
from kveil.engines.store import ReleaseFile
from kveil.engines.stream import StreamStore
from kveil.errors import DataError
from kveil.files import Source, StoredSource
from kveil.flow.steps.inputs import check_input, check_values
from kveil.flow.steps.judging import check_verdict
from kveil.flow.steps.shown_policy import policy_sha256
from kveil.flow.steps.stages import Stages
from kveil.flow.steps.table_search import bound_of, goes_by_tuples, search_table
from kveil.policy.model import Policy
from kveil.report.run import Run, WayBack
from kveil.report.warn import evidence_of, owners_warnings, release_warnings
from kveil.table.decode import decode
from kveil.table.encode import encode
from kveil.table.table import Table
from kveil.verifier.release import verify_rows


@dataclass(frozen=True)
class FewRows:
    """The different rows of a table, encoded."""

    rows: DistinctRows
    table: Table


def few_rows(source: Source, policy: Policy, able: Sequence[Algorithm]) -> FewRows | None:
    """Return the different rows of a table; None where records are looked at one by one, or nearly all are different.

    What is wrong with a table is told by the way that looks at all of its records, so that it tells how many.
    """
    if not goes_by_tuples(policy, able):
        return None
    rows = distinct_rows(source, policy) if isinstance(source, StoredSource) else None
    if rows is None:
        return None
    try:
        table = replace(encode(rows.source, policy), times=rows.times, ties=())
        check_input(rows.source, table)
        check_values(rows.source, table)
    except DataError:
        return None
    return FewRows(rows, table)


def release_few_rows(
    few: FewRows, source: Source, able: Sequence[Algorithm], stages: Stages, out: ReleaseFile, *, bounded: bool
) -> Run:
    """Make and verify a release of a table of which few rows are different."""
    rows, table, policy = few.rows, few.table, few.table.policy
    stages.end("read")
    chosen = search_table(table, able, stages, by_tuples=True)
    sorted_policy = policy.model_copy(update={"release": policy.release.model_copy(update={"order": "sorted"})})
    release = decode(rows.source, table.changed(policy=sorted_policy), chosen.solution)
    written = WrittenRows.of(release, rows, policy)
    stages.end("solve")
    digest = written.write(rows, policy, out)
    stages.end("write")
    stages.begin("verifying")
    reopened = StreamStore().reopened(policy, out)
    assert isinstance(reopened, StoredSource), "a release that streams is a file"
    laid = written.laid(rows, reopened, policy)
    aligned = laid.aligned
    verdict = verify_rows(aligned.release, aligned.rows, policy, aligned=aligned)
    check_verdict(verdict, aligned, policy, chosen.algorithm)
    warnings = release_warnings(aligned.release, policy, release.labels, times=aligned.rows.times)
    private_warnings = owners_warnings(evidence_of(policy, aligned, of_record=laid.place[rows.of_record]))
    stages.end("verify")
    least = bound_of(table, stages, bounded=bounded)

    def way_back() -> WayBack:
        reasons = {}
        for reason, who in chosen.solution.reasons.items():
            chosen_rows = np.zeros(table.rows, dtype=bool)
            chosen_rows[who] = True
            reasons[reason] = np.flatnonzero(chosen_rows[rows.of_record]).astype(np.int32)
        return WayBack(written.records(rows, policy.release.order), reasons)

    return Run(
        source=source,
        table=table,
        attempt=chosen,
        release=release,
        aligned=aligned,
        verdict=verdict,
        warnings=warnings,
        private_warnings=private_warnings,
        policy_sha256=policy_sha256(policy, aligned.rows),
        bound=least,
        engine="stream",
        release_sha256=digest,
        way_back=way_back,
    )
