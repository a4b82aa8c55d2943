"""A release and the batches it was applied to, as one that has grown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from earlier_releases import archived
from kveil.archive.entry import AppliedBatch
from kveil.archive.growth import align_parts, grow_release, releases_with_batches
from kveil.files import Source
from support import QUASI, make_policy

POLICY = make_policy({"q": QUASI, "s": "sensitive"})
COUNTS: Any = {"records": {"input": 3, "released": 2, "suppressed": 1}, "individuals": None}


def batch(number: int, **rows: tuple[str, str]) -> AppliedBatch:
    """Return a batch that shows so of some people."""
    frame = pl.DataFrame([*rows.values()], schema={"q": pl.String, "s": pl.String}, orient="row")
    counts: Any = {"input": len(rows) + 1, "released": len(rows), "suppressed": 1}
    return AppliedBatch(number, 1, "", counts, Source("b", frame, "parquet"), pl.Series([*rows], dtype=pl.String))


RELEASE = replace(archived(POLICY, {"ann": ("a", "flu"), "bob": ("a", "gout")}), account=COUNTS, release_sha256="abc")


def test_a_release_grows_by_its_batches() -> None:
    both = grow_release(RELEASE, [batch(1, cid=("a", "flu")), batch(2, dan=("b", "flu"))])
    assert both.release.frame.rows() == [("a", "flu"), ("a", "gout"), ("a", "flu"), ("b", "flu")]
    assert both.people.to_list() == ["ann", "bob", "cid", "dan"]
    assert both.account["records"] == {"input": 7, "released": 4, "suppressed": 3}
    assert grow_release(RELEASE, []).release is RELEASE.release


def test_whoever_is_shown_again_is_so_in_a_release_of_its_own() -> None:
    one, two = batch(1, cid=("a", "flu")), batch(2, cid=("a", "flu"), eve=("a", "flu"))
    main, again = releases_with_batches(RELEASE, [one, two])
    assert main.people.to_list() == ["ann", "bob", "cid"]
    assert again.people.to_list() == ["cid", "eve"]
    assert (main.release_sha256, again.release_sha256) == ("abc", "")
    assert "batch 2" in again.name


@pytest.mark.parametrize("shape", ["long", "sets"])
def test_people_of_a_long_release_are_numbered_on(shape: str) -> None:
    roles = {"who": "individual", "q": QUASI, "s": "sensitive"}
    policy = make_policy(roles, release={"shape": shape}, algorithm="auto")
    old = pl.DataFrame({"individual": [1, 1, 2], "q": ["a", "a", "b"]})
    _, new = align_parts(old, old.head(2), policy)
    assert new["individual"].to_list() == ([3, 3] if shape == "long" else [1, 1])


def test_parts_of_different_types_meet_as_texts() -> None:
    old, new = pl.DataFrame({"q": ["1"], "s": ["x|y"]}), pl.DataFrame({"q": [1], "s": [["x", "y"]]})
    assert [part.rows() for part in align_parts(old, new, POLICY)] == [[("1", "x|y")], [("1", "x|y")]]
