"""`kveil verify` and `kveil measure` on a cluster: Spark counts, the same functions judge and reckon."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from kveil.databases import Place
from kveil.engines.choosing import check_on_spark
from kveil.engines.memory import numbers_held
from kveil.engines.spark.counting import Written, count_release, count_written, types_of
from kveil.engines.spark.laying import LaidTuples, lay_slices
from kveil.engines.spark.owner import join_by_owner
from kveil.engines.spark.reading import SparkTable, check_kinds, check_table, compared_columns, open_table
from kveil.engines.spark.session import spark_session, tell_plainly
from kveil.engines.spark.showing import Joined
from kveil.engines.spark.units import units_of
from kveil.errors import DataError, Refused
from kveil.files import Source, check_layout, look_beside, open_stored
from kveil.flow.measure import Measured
from kveil.flow.steps.shown_policy import policy_sha256
from kveil.flow.verify import Checked
from kveil.measures import measure_solution, plugged_measures
from kveil.policy.model import Policy
from kveil.report.account import count_suppressed
from kveil.table.encode import encode_tuples
from kveil.table.reread import codes_of_release
from kveil.verifier.counts import Questions, ReleaseCounts, incomplete, lay_counts, questions
from kveil.verifier.release import NOTHING_BESIDE, verify_rows
from kveil.verifier.rows import release_rows
from kveil.words import count, listing


def verify_on_spark(policy: Policy, release: Place, original: Place | None, owner: Path | None) -> Checked:
    """Check a release on Spark; with the original, which the owner's folder aligns, also truth and boundaries."""
    if (original is None) != (owner is None):
        raise DataError(
            "rows on Spark are aligned by the owner's folder; give --original and --owner together, or neither."
        )
    check_on_spark([release, *([] if original is None else [original])])
    written, asked = _written(policy, release)
    counts = ReleaseCounts(written.types, written.rows, written.rows, written.totals, written.apart)
    if original is not None and owner is not None:
        counts = count_release(_joined(policy, original, owner), written, policy, asked, None)
    laid = lay_counts(policy, counts)
    # Files are looked into one after another, by this process: Spark tells nothing of what they hold beside cells.
    beside = NOTHING_BESIDE
    if isinstance(release, Path):
        beside = look_beside(release, open_stored(release), policy.data.missing[0])
    verdict = verify_rows(laid.release, laid.rows, policy, aligned=laid.aligned, beside=beside)
    verdict = verdict.with_findings(incomplete(policy, counts))
    return Checked(verdict, policy_sha256(policy, laid.rows))


def _written(policy: Policy, release: Place) -> tuple[Written, Questions]:
    """Return what Spark counts of a release as it was written."""
    table = open_table(spark_session(), release, compared=())
    absent = [name for name in policy.released if name not in table.columns]
    if absent:
        raise DataError(f"{table.name} lacks {listing(absent)}, which a release of this policy has.")
    sets = policy.with_role("sensitive") if policy.individual_column is not None else []
    check_kinds(table, [name for name in table.columns if name not in sets])
    with tell_plainly(f"read {table.name}"):
        frame = table.frame.toDF(*table.columns)
        types, rows = types_of(frame), frame.count()
    asked = questions(policy, types)
    return count_written(frame, policy, asked, types, number=rows), asked


def _joined(policy: Policy, original: Place, owner: Path) -> Joined:
    check_layout(policy.data, "parquet", original.name)
    session = spark_session()
    table: SparkTable = open_table(session, original, compared=compared_columns(policy))
    check_table(table, policy)
    return join_by_owner(session, units_of(table, policy), owner)


def measure_on_spark(policy: Policy, release: Place, original: Place, owner: Path | None) -> Measured:
    """Return what a release on Spark lost, by what the owner's folder says is shown of whom."""
    if owner is None:
        raise DataError("rows on Spark are aligned by the owner's folder; give it with --owner.")
    if policy.generalized:
        raise Refused("engine spark does not measure generalized items; take engine local.")
    check_on_spark([release, original])
    written, asked = _written(policy, release)
    join = _joined(policy, original, owner)
    slices = lay_slices(join, policy, asked, names=list(written.types), number=written.totals.rows)
    tuples = list(slices)
    shown_sum = sum(part.counted.sums[1] for part in tuples)
    released = sum(int(part.counted.times[part.released].sum()) for part in tuples)
    if (released, (shown_sum,)) != (written.totals.rows, written.totals.sums):
        raise DataError("the owner's folder is not about this release; give the --owner of this very release.")
    return _measured(policy, tuples)


def _measured(policy: Policy, tuples: list[LaidTuples]) -> Measured:
    starts = np.cumsum([0, *(len(part.released) for part in tuples)])
    of_row = np.concatenate([part.tuple_of + start for part, start in zip(tuples, starts, strict=False)])
    times, here = (
        np.concatenate(parts) for parts in zip(*((p.counted.times, p.released) for p in tuples), strict=True)
    )
    frame = pl.concat([part.records for part in tuples])
    if policy.individual_column is not None:
        frame = frame.with_columns(pl.Series(policy.individual_column, of_row))
    source = numbers_held(Source("the original", frame, "frame"), policy)
    table = encode_tuples(source, policy, times, of_row.astype(np.int32))
    shown = pl.concat([part.shown for part in tuples]).filter(here)
    rows = release_rows(Source("the release", shown, "frame"), policy)
    starred = rows.starred.to_numpy() if table.stars_take_part else None
    texts = {name: rows.texts[name] for name in policy.quasi_identifiers}
    solution, unknown = codes_of_release(table, texts, np.flatnonzero(here), starred=starred)
    return Measured(
        measure_solution(table, solution),
        count_suppressed(solution.suppressed_anywhere, times=table.times),
        [f"{count(unknown, 'label')} unknown to their hierarchies, counted as fully general."] if unknown else [],
        plugged_measures(table, solution),
    )
