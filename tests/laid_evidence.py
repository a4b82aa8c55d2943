"""A release beside its original, as warnings look at it, from columns that a test writes down; no test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from kveil.flow.steps.inputs import table_of
from kveil.policy.model import Policy
from kveil.report.warn.evidence import Evidence, evidence_of
from kveil.verifier.release import lay_beside

Columns = Mapping[str, Sequence[object]]


def evidence(policy: Policy, original: Columns, release: Columns, places: Sequence[int] | None = None) -> Evidence:
    """Return a release beside its original; ``places`` are the original's rows, or people, of its rows."""
    after = pl.DataFrame(release)
    where = np.arange(after.height) if places is None else np.array(places, dtype=np.int64)
    laid = lay_beside(table_of(after, policy), table_of(pl.DataFrame(original), policy), where, policy)
    return evidence_of(policy, laid)
