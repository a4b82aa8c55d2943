"""A release that is judged slice by slice gets the verdict that it gets as a whole, good or bad."""

from __future__ import annotations

from random import Random

import numpy as np
import polars as pl
from hypothesis import assume, event, given
from hypothesis import strategies as st

from counting import counted, grouped, types_of
from kveil.algorithms.algorithm import GROUP_MODELS
from kveil.engines.spark.slices import grouping_attributes
from kveil.files import Source
from kveil.flow.inputs import table_of
from kveil.policy.attributes import STAR
from kveil.policy.components import components
from kveil.policy.model import Policy
from kveil.policy.privacy import TCloseness
from kveil.verifier.aligned import Aligned
from kveil.verifier.release import lay_beside, verify_rows
from kveil.verifier.slices import SlicedRelease
from kveil.verifier.verdict import Verdict
from made_releases import frame_of, released_columns, some_release
from strategies import Case, cases, examples, placed


def judged_by_slices(aligned: Aligned, policy: Policy, number: int) -> Verdict:
    """The verdict on a release of records whose groups are shared out among so many slices."""
    release, original = aligned.release, aligned.original
    texts = aligned.rows.texts.select(grouping_attributes(policy))
    of_row = np.array([hash(row) % number for row in texts.iter_rows()], dtype=np.int64)
    shown = (~aligned.rows.stars(policy.quasi_identifiers)).to_numpy()
    everyone = {
        model.sensitive: grouped(release.frame.select(model.sensitive).filter(shown))
        for model in policy.privacy
        if isinstance(model, TCloseness)
    }
    judged = SlicedRelease(policy, types_of(release), everyone)
    gone = np.setdiff1d(np.arange(original.rows), aligned.places)
    for number_of in range(number):
        rows = np.flatnonzero(of_row == number_of)
        records = np.concatenate([aligned.places[rows], gone if number_of == 0 else gone[:0]])
        own = Source("the release", release.frame[rows.tolist()], "frame")
        before = Source("the original", original.frame[records.tolist()], "frame")
        judged.add(counted(lay_beside(own, before, np.arange(len(rows)), policy), policy))
    return judged.verdict()


@given(
    case=cases(with_ranges=True, max_width=True, models=GROUP_MODELS),
    seed=st.integers(0, 9999),
    number=st.integers(1, 4),
)
@examples(60)
def test_slices_and_the_whole_have_the_same_verdict(case: Case, seed: int, number: int) -> None:
    with placed(case) as here:
        policy = here.policy
        assume(len(components(policy)) == 1 and grouping_attributes(policy) and STAR not in policy.data.missing)
        rows, places = some_release(here, Random(seed))
        release = table_of(frame_of(rows, released_columns(here)), policy)
        places = pl.Series(places, dtype=pl.Int64).to_numpy()
        aligned = lay_beside(release, table_of(case.frame(), policy), places, policy)
        whole = verify_rows(release, aligned.rows, policy, aligned)
        slices = judged_by_slices(aligned, policy, number)
        event("holds" if whole.holds else "broken")
        assert slices.holds == whole.holds
        assert slices.suppression == whole.suppression
        assert slices.boundaries == whole.boundaries
        assert slices.guarantees == whole.guarantees
        assert slices.private_warnings == whole.private_warnings
        assert sorted(slices.warnings) == sorted(whole.warnings)
        if whole.holds:
            assert slices.truth == whole.truth
            assert slices.unchanged == whole.unchanged
