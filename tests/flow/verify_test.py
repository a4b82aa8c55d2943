"""Checking a release made by anyone: alone, beside its original, and together with earlier ones."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import kveil
from kveil.errors import DataError
from kveil.files import read_table
from kveil.flow.steps.inputs import table_of
from kveil.flow.steps.shown_policy import policy_sha256
from kveil.flow.verify import VerifyTerms, verify, verify_sources
from kveil.verifier.rows import release_rows
from small_archives import KEYED, archived
from support import columns_of, make_policy, write_policy, write_rows

POLICY = make_policy(release={"order": "keep"}, limit=0)
ORIGINAL = pl.DataFrame(columns_of())[:8]
RELEASE = ORIGINAL.drop("name").with_columns(age=pl.col("age").str.head(1) + "0-" + pl.col("age").str.head(1) + "9")


def test_a_release_alone_is_judged_by_what_it_shows() -> None:
    verdict = verify(RELEASE, POLICY)
    assert verdict
    assert verdict.truth is None
    assert not verify(RELEASE[:5], make_policy(k=3))
    assert not verify(RELEASE.with_columns(age=pl.lit("no label")), POLICY)


def test_beside_its_original_truth_and_unchanged_cells_are_judged() -> None:
    assert verify(RELEASE, POLICY, ORIGINAL).truth == {"violations": 0}
    false = RELEASE.with_columns(age=pl.lit("30-39"))
    assert verify(false, POLICY)
    found = verify(false, POLICY, ORIGINAL)
    assert not found
    assert found.truth == {"violations": 4}
    changed = verify(RELEASE.with_columns(diagnosis=pl.lit("flu")), POLICY, ORIGINAL)
    assert changed.unchanged is not None
    assert changed.unchanged["violations"] == sum(ORIGINAL["diagnosis"] != "flu")


def test_rows_that_cannot_be_told_apart_need_the_owner() -> None:
    with pytest.raises(DataError, match="owner"):
        verify(RELEASE[:6], POLICY, ORIGINAL)


def test_the_hash_is_that_of_the_policy_for_this_release() -> None:
    release = table_of(RELEASE, POLICY)
    checked = verify_sources(release, POLICY, None, None)
    assert checked.policy_sha256 == policy_sha256(POLICY, release_rows(release, POLICY))


def test_an_archived_release_is_known_by_its_bytes_and_no_earlier_one_of_itself(tmp_path: Path) -> None:
    write_rows(tmp_path / "t.csv")
    policy = kveil.Policy.load(write_policy(tmp_path, data=KEYED))
    kept = archived(tmp_path)
    file = tmp_path / "r.csv"
    checked = verify_sources(read_table(file), policy, None, None, terms=VerifyTerms(file, [kept]))
    assert checked.verdict.holds
    assert checked.verdict.previous is not None
    assert checked.verdict.previous["releases"] == 1
    with pytest.raises(DataError, match="in none of the archives"):
        verify_sources(read_table(file), policy, None, None, terms=VerifyTerms(previous=[kept]))
