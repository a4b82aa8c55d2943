"""Declared rules at hand narrow what fits, forwards and backwards."""

from __future__ import annotations

import polars as pl
import pytest

import kveil
from kveil.attacker.dependencies import closure
from kveil.policy.dependencies import Dependency
from played_attacks import attacked


def test_dependencies_narrow_what_fits() -> None:
    # City is shown for everybody and zip for nobody; whoever knows the zip knows the city by the rule.
    rows = [("1", "a"), ("2", "a"), ("3", "b"), ("4", "b")]
    frame = pl.DataFrame(rows, schema=["zip", "city"], orient="row")
    release = pl.DataFrame([("*", city) for _, city in rows], schema=["zip", "city"], orient="row")
    policy = kveil.Policy(
        attributes={"zip": {"role": "quasi-identifier"}, "city": {"role": "insensitive"}},
        privacy=[{"model": "k-anonymity", "k": 4}],
        dependencies=["zip -> city"],
        release={"order": "keep"},
        suppression={"limit": 1},
    )
    content = attacked(release, policy, frame)
    (entry,) = [e for e in content["attacks"] if e["attack"] == "dependencies"]
    assert entry["without"]["rate"] == pytest.approx(1 / 4)
    assert entry["after"]["rate"] == pytest.approx(1 / 2)
    assert entry["before"]["rate"] == 1


def test_dependencies_narrow_backwards() -> None:
    # Whoever knows the city knows that rows with a zip of another city are not meant, though they show no city.
    rows = [("1", "a"), ("2", "a"), ("3", "b"), ("4", "b")]
    frame = pl.DataFrame(rows, schema=["zip", "city"], orient="row")
    release = pl.DataFrame([(zip_, "*") for zip_, _ in rows], schema=["zip", "city"], orient="row")
    policy = kveil.Policy(
        attributes={"zip": {"role": "insensitive"}, "city": {"role": "quasi-identifier"}},
        privacy=[{"model": "k-anonymity", "k": 4}],
        dependencies=["zip -> city"],
        release={"order": "keep"},
        suppression={"limit": 1},
    )
    content = attacked(release, policy, frame)
    (entry,) = [e for e in content["attacks"] if e["attack"] == "dependencies"]
    assert entry["without"]["rate"] == pytest.approx(1 / 4)
    assert entry["after"]["rate"] == pytest.approx(1 / 2)


def test_what_follows_from_what() -> None:
    rules = [Dependency(("b",), ("c",)), Dependency(("a",), ("b",)), Dependency(("c", "x"), ("d",))]
    assert closure(("a",), rules) == ("a", "b", "c")
    assert set(closure(("a", "x"), rules)) == {"a", "x", "b", "c", "d"}
