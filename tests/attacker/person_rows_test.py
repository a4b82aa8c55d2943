"""Rows of one person, put together."""

from __future__ import annotations

import polars as pl
import pytest

import kveil
from played_attacks import attacked


def people(shape: str) -> tuple[kveil.Policy, pl.DataFrame]:
    rows = [
        ("p1", "30", "flu"), ("p1", "30", "gout"), ("p2", "34", "flu"), ("p2", "34", "gout"),
        ("p3", "31", "cold"), ("p4", "38", "cold"), ("p4", "38", "flu"),
    ]  # fmt: skip
    policy = kveil.Policy(
        attributes={
            "pid": {"role": "individual"},
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [10]}}},
            "illness": {"role": "sensitive"},
        },
        privacy=[{"model": "k-anonymity", "k": 2}],
        release={"order": "keep", "shape": shape},
    )
    return policy, pl.DataFrame(rows, schema=["pid", "age", "illness"], orient="row")


@pytest.mark.parametrize("shape", ["sets", "long"])
def test_people_with_several_records(shape: str) -> None:
    policy, frame = people(shape)
    result = kveil.anonymize(frame, policy, algorithm="datafly")
    content = attacked(result.data, policy, frame, result.owner)
    assert content["counts"] == "people"
    assert content["original"] == 4
    fingerprint = {e["items"]: e for e in content["attacks"] if e["attack"] == "fingerprint"}
    # {flu, gout} is two people's, {cold} and {cold, flu} one person's each; items are released as they are.
    assert fingerprint[None]["before"]["rate"] == pytest.approx((1 / 2 + 1 / 2 + 1 + 1) / 4)
    assert fingerprint[None]["after"]["rate"] == fingerprint[None]["before"]["rate"]
    # The rarest value: gout (two people) for the first two, cold (two people) for the others.
    assert fingerprint[1]["after"]["rate"] == pytest.approx(1 / 2)
    # Two values: {flu, gout} fits two, {cold} two, {cold, flu} one.
    assert fingerprint[2]["after"]["rate"] == pytest.approx((1 / 2 + 1 / 2 + 1 / 2 + 1) / 4)
    (consistent,) = [e for e in content["attacks"] if e["attack"] == "inconsistency"]
    assert consistent["differing"] == 0
    assert consistent["after"]["rate"] == pytest.approx(1 / 4)


def test_rows_of_one_person_that_disagree_are_put_together() -> None:
    policy, frame = people("long")
    release = pl.DataFrame(
        [("1", "30", "flu"), ("1", "30-39", "gout"), ("2", "30-39", "flu"), ("2", "30-39", "gout"),
         ("3", "30-39", "cold"), ("4", "30-39", "cold"), ("4", "30-39", "flu")],
        schema=["individual", "age", "illness"], orient="row",
    )  # fmt: skip
    content = attacked(release, policy, frame)
    (entry,) = [e for e in content["attacks"] if e["attack"] == "inconsistency"]
    assert entry["differing"] == 1
    # The first is one of four who fit; for the other three the first, who must be 30, is out.
    assert entry["after"]["rate"] == pytest.approx((1 / 4 + 3 * 1 / 3) / 4)


def test_people_who_show_nothing_but_stars_are_taken_only_where_nobody_else_fits() -> None:
    policy, frame = people("long")
    release = pl.DataFrame(
        [("1", "30", "flu"), ("1", "30-39", "gout"), ("2", "30-39", "flu"), ("2", "30-39", "gout"),
         ("3", "*", "*"), ("4", "*", "*")],
        schema=["individual", "age", "illness"], orient="row",
    )  # fmt: skip
    content = attacked(release, policy, frame)
    (entry,) = [e for e in content["attacks"] if e["attack"] == "inconsistency"]
    # Of the first two each other fits the first; who is the second is certain; the stars are not looked at.
    assert entry["after"]["rate"] == pytest.approx((1 / 2 + 1 + 0 + 0) / 4)
