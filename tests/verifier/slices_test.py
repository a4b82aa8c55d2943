"""A release that is judged slice by slice gets the verdict that it gets as a whole, good or bad."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import polars as pl
from hypothesis import assume, event, given
from hypothesis import strategies as st

from counting import counted, grouped, types_of
from kveil.algorithms.algorithm import GROUP_MODELS
from kveil.files import Source
from kveil.flow.steps.inputs import table_of
from kveil.policy.attributes import STAR
from kveil.policy.model import Policy
from kveil.policy.privacy import TCloseness
from kveil.verifier.alignment import Aligned
from kveil.verifier.release import lay_beside, verify_rows
from kveil.verifier.slices import SlicedRelease, Slicing, slicings
from kveil.verifier.stars import Stars
from kveil.verifier.verdict import Verdict
from kveil.words import count
from made_releases import frame_of, released_columns, some_release
from small_people import policy_of
from strategies import Case, cases, examples, placed


def judged_by_slices(aligned: Aligned, policy: Policy, number: int) -> Verdict:
    """The verdict on a release of records whose groups are shared out among so many slices."""
    release, original = aligned.release, aligned.original
    first, *others = slicings(policy)
    shown = (~aligned.rows.stars(policy.quasi_identifiers)).to_numpy()
    everyone = {
        model.sensitive: grouped(release.frame.select(model.sensitive).filter(shown))
        for model in policy.privacy
        if isinstance(model, TCloseness)
    }
    judged = SlicedRelease(policy, types_of(release), everyone)
    gone = np.setdiff1d(np.arange(original.rows), aligned.places)
    for number_of, rows in enumerate(sliced(aligned, first, number)):
        records = np.concatenate([aligned.places[rows], gone if number_of == 0 else gone[:0]])
        own = Source("the release", release.frame[rows.tolist()], "frame")
        before = Source("the original", original.frame[records.tolist()], "frame")
        judged.add(counted(lay_beside(own, before, np.arange(len(rows)), policy), policy), first)
    for slicing in others:
        for rows in sliced(aligned, slicing, number):
            own = Source("the release", release.frame[rows.tolist()], "frame")
            before = Source("the original", original.frame[aligned.places[rows].tolist()], "frame")
            counts = counted(lay_beside(own, before, np.arange(len(rows)), policy), policy)
            judged.add_again(replace(counts, original=None), slicing)
    return judged.verdict()


def sliced(aligned: Aligned, slicing: Slicing, number: int) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    texts = aligned.rows.texts.select(slicing.attributes)
    of_row = np.array([hash(row) % number for row in texts.iter_rows()], dtype=np.int64)
    return [np.flatnonzero(of_row == number_of) for number_of in range(number)]


@given(
    case=cases(with_ranges=True, max_width=True, models=GROUP_MODELS),
    seed=st.integers(0, 9999),
    number=st.integers(1, 4),
)
@examples(60)
def test_slices_and_the_whole_have_the_same_verdict(case: Case, seed: int, number: int) -> None:
    with placed(case) as here:
        policy = here.policy
        assume(STAR not in policy.data.missing)
        rows, places = some_release(here, Random(seed))
        release = table_of(frame_of(rows, released_columns(here)), policy)
        places = pl.Series(places, dtype=pl.Int64).to_numpy()
        aligned = lay_beside(release, table_of(case.frame(), policy), places, policy)
        whole = verify_rows(release, aligned.rows, policy, aligned=aligned)
        slices = judged_by_slices(aligned, policy, number)
        event(f"{'holds' if whole.holds else 'broken'}, sliced {count(len(slicings(policy)), 'time')}")
        stars = Stars.of(aligned.rows, policy)
        if len(stars.parts) > 1 and stars.anywhere.any():
            assert any("slices do not tell what that means" in finding for finding in slices.findings)
            return
        assert slices.holds == whole.holds
        assert slices.suppression == whole.suppression
        assert slices.boundaries == whole.boundaries
        assert slices.guarantees == whole.guarantees
        assert slices.private_warnings == whole.private_warnings
        assert sorted(slices.warnings) == sorted(whole.warnings)
        if whole.holds:
            assert slices.truth == whole.truth
            assert slices.unchanged == whole.unchanged


def test_a_rule_that_is_broken_between_slices_is_found() -> None:
    rows = {"age": ["10", "12", "14", "50"], "city": ["Oslo", "Oslo", "Oslo", "Rome"], "sex": ["f", "f", "f", "m"]}
    original = pl.DataFrame({**rows, "illness": ["flu", "gout", "flu", ""]})
    policy = policy_of("[{model: k-anonymity, k: 1}]", "dependencies: ['city -> sex', 'sex -> city']")

    def judged(frame: pl.DataFrame) -> Verdict:
        release, table = table_of(frame, policy), table_of(original, policy)
        return judged_by_slices(lay_beside(release, table, np.arange(4), policy), policy, 4)

    kept, broken = judged(original), judged(original.with_columns(sex=pl.Series(["*", "f", "f", "m"])))
    assert kept.findings == []
    assert [checked["holds"] for checked in kept.dependencies] == [True, True]
    assert [checked["holds"] for checked in broken.dependencies] == [False, True]
    assert any("city -> sex does not hold: 1 left side" in finding for finding in broken.findings)
