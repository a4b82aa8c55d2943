"""What the owner of a table on Spark should look at, reckoned on the tuples that the driver holds."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from kveil.engines.spark.driver_tuples import SparkTuples
from kveil.files import Source
from kveil.policy.model import Policy
from kveil.policy.privacy import sensitive_of
from kveil.report.warn.bounds import exact_bounds, span_columns
from kveil.report.warn.evidence import evidence_of
from kveil.report.warn.promises import empty_promises, uniform_groups
from kveil.report.warn.sensitive_values import alike_values, marks_of_missing
from kveil.table.decode import Release
from kveil.verifier.alignment import Aligned
from kveil.verifier.rows import plain_rows


def tuple_warnings(policy: Policy, tuples: SparkTuples, release: Release) -> list[str]:
    """Return the owner's warnings that need no more of a table than its tuples; of individuals those about a policy.

    Columns that are no part of tuples, and follow others, are not looked at.
    """
    promises = empty_promises(policy)
    counted = [name for model in policy.privacy for name in sensitive_of(model)]
    sensitive = policy.with_role("sensitive")
    if policy.individual_column is not None or not (counted or sensitive or span_columns(policy)):
        return promises
    original = tuples.source
    frame = pl.DataFrame(
        {
            name: original.column(name).gather(release.source_rows) if made is None else made
            for name, made in release.columns.items()
            if made is not None or name in original.columns
        }
    )
    released = Source("the release", frame, "frame")
    rows = replace(plain_rows(released, policy, stars=True), times=tuples.times[release.rows])
    before = replace(plain_rows(original, policy), times=tuples.times)
    evidence = evidence_of(policy, Aligned.of(released, rows, original, before, release.rows))
    alone = uniform_groups(evidence) if set(sensitive) <= set(frame.columns) else []
    return [*promises, *alike_values(evidence), *marks_of_missing(evidence), *alone, *exact_bounds(evidence)]
