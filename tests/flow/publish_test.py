"""A policy for others has only what the release shows, and means the same for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kveil
from kveil.flow.publish import published_policy
from kveil.flow.steps.inputs import table_of
from kveil.flow.steps.shown_policy import policy_sha256
from kveil.policy.model import Policy
from kveil.verifier import verify_release
from kveil.verifier.rows import release_rows
from support import QUASI, policy_dict

TREE = {"*": {"North": ["Oslo", "Narvik"], "South": {"Italy": ["Rome", "Pisa"], "Spain": ["Madrid"]}}}
SHOWN = pl.DataFrame({"city": ["North", "North", "Rome", "Rome"], "s": list("abab")})


def given(**city: Any) -> tuple[Policy, dict[str, Any]]:
    attributes = {"who": "identifier", "city": {"role": QUASI, "hierarchy": {"tree": TREE}, **city}, "s": "sensitive"}
    content = policy_dict(attributes, data={"path": "secret.csv", "missing": ["", "?"]}, seed=7)
    return kveil.Policy(**content), content


def published(release: pl.DataFrame = SHOWN, **city: Any) -> tuple[str, Policy]:
    policy, content = given(**city)
    made = published_policy(policy, content, table_of(release, policy), "public")
    return made.text + "".join(made.files.values()), Policy.parse(made.text, "public.yaml", Path(), made.files)


def test_nothing_is_told_that_the_release_does_not_show() -> None:
    text, others = published()
    for word in ("Oslo", "Narvik", "Pisa", "Madrid", "Spain", "Italy", "who", "secret", "seed", "datafly"):
        assert word not in text
    lines = others.fixed_lines("city")
    assert lines is not None
    assert lines.lines == (("North", "*"), ("Rome", "*"))
    assert others.data.missing == ("",)


def test_others_come_to_the_same_verdict_and_the_same_hash() -> None:
    policy, _ = given()
    _, others = published()
    release = table_of(SHOWN, policy)
    rows = release_rows(release, policy)
    assert verify_release(release, others).guarantees == verify_release(release, policy).guarantees
    assert policy_sha256(policy, rows) == policy_sha256(others, rows)


@pytest.mark.parametrize(
    ("boundary", "kept"),
    [
        ({"level": 0}, True),
        (["North", "South"], True),
        (["Oslo", "Narvik", "South"], False),  # North is shown: marks below it limit nothing that others see
    ],
)
def test_boundaries_go_along_as_far_as_labels_show_them(boundary: Any, kept: bool) -> None:
    _, others = published(boundary=boundary)
    found = others.attributes["city"].boundary
    nodes = getattr(found, "nodes", ())
    assert (found is not None) or not kept
    assert not {"Oslo", "Narvik"} & set(nodes)


def test_a_release_of_stars_needs_no_hierarchy() -> None:
    stars = SHOWN.with_columns(city=pl.lit("*"))
    _, others = published(stars)
    assert others.attributes["city"].hierarchy is None
