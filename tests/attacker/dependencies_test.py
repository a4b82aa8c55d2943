"""Declared rules at hand narrow what fits, forwards and backwards."""

from __future__ import annotations

import polars as pl
import pytest

import kveil
from kveil.attacker.dependencies import closure
from kveil.policy.dependencies import Dependency
from played_attacks import attacked

ROWS = [("1", "a"), ("2", "a"), ("3", "b"), ("4", "b")]


@pytest.mark.parametrize(
    ("hidden", "before"),
    [
        ("zip", 1),  # city is shown for everybody and zip for nobody; whoever knows the zip knows the city by the rule
        ("city", 1 / 2),  # whoever knows the city knows that rows with a zip of another city are not meant
    ],
)
def test_dependencies_narrow_what_fits_forwards_and_backwards(hidden: str, before: float) -> None:
    frame = pl.DataFrame(ROWS, schema=["zip", "city"], orient="row")
    roles = {name: "quasi-identifier" if name == hidden else "insensitive" for name in frame.columns}
    policy = kveil.Policy(
        attributes={name: {"role": role} for name, role in roles.items()},
        privacy=[{"model": "k-anonymity", "k": 4}],
        dependencies=["zip -> city"],
        release={"order": "keep"},
        suppression={"limit": 1},
    )
    content = attacked(frame.with_columns(pl.lit("*").alias(hidden)), policy, frame)
    (entry,) = [e for e in content["attacks"] if e["attack"] == "dependencies"]
    assert entry["without"]["rate"] == pytest.approx(1 / 4)
    assert entry["after"]["rate"] == pytest.approx(1 / 2)
    assert entry["before"]["rate"] == before


def test_what_follows_from_what() -> None:
    rules = [Dependency(("b",), ("c",)), Dependency(("a",), ("b",)), Dependency(("c", "x"), ("d",))]
    assert closure(("a",), rules) == ("a", "b", "c")
    assert set(closure(("a", "x"), rules)) == {"a", "x", "b", "c", "d"}
