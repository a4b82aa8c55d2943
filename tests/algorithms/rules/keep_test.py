"""Declared dependencies survive every algorithm: planted rules on random tables, and small tables worked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import polars as pl
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kveil
from adult_data import COLUMNS, needs_adult, raw_rows
from battery import algorithms_for, solve
from kveil.algorithms.algorithm import Algorithm
from kveil.datasets import hospital
from kveil.flow.verify import verify
from kveil.policy.model import Policy
from naive import release as naive
from planted_rules import planted
from strategies import examples, placed, rows_of

OUTSIDE = """
kveil: 1
attributes:
  zip: {role: quasi-identifier, hierarchy: {mask: {keep: [2, 1]}}}
  sex: {role: quasi-identifier}
  region: {role: insensitive}
privacy: [{model: k-anonymity, k: %s}]
dependencies: ["zip -> region"]
suppression: {limit: %s}
release: {order: keep}
"""


@algorithms_for(OUTSIDE % (2, 0))
@given(seed=st.integers(0, 10**9))
@examples(25)
def test_planted_rules_survive(algorithm: Algorithm, seed: int) -> None:
    case = planted(algorithm, Random(seed))
    with placed(case) as here:
        result = solve(algorithm, here)
        if result is None:
            return
        assert verify(result.data, here.policy, original=case.frame(), owner=result.owner).findings == []
        found = naive.recount(here.twin, rows_of(result.data), case.records, result.owner.rows.tolist())
        assert found.broken == []
        assert all(rule["holds"] for rule in result.account["dependencies"])
        event("climbed" if "association" in result.account["details"] else "held")
        gone = {int(i) for reason in result.owner.suppressed.values() for i in reason}
        records = result.account["records"]
        assert records == {"input": len(case.rows), "released": len(case.rows) - len(gone), "suppressed": len(gone)}
        assert len(gone) <= here.twin.limit * len(case.rows)


# ---------------------------------------------------------------------------------------------- by hand


def policy_of(text: str) -> kveil.Policy:
    return Policy.parse(text, "policy.yaml", Path())


def table(**columns: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame({name: list(values) for name, values in columns.items()})


SPLIT = """
kveil: 1
attributes:
  dept: {role: quasi-identifier, hierarchy: {tree: {"*": {Science: [Maths, Physics], Arts: [Music, Dance]}}}}
  phone: {role: quasi-identifier, hierarchy: {mask: {keep: [2, 1]}}}
  sex: {role: quasi-identifier}
privacy:
  - {model: k-anonymity, attributes: [dept], k: 3}
  - {model: k-anonymity, attributes: [phone, sex], k: 4}
dependencies: ["dept -> phone"]
release: {order: keep}
"""


@pytest.mark.parametrize("algorithm", ["datafly", "classfly+complete", "mondrian", "incognito"])
def test_a_climb_that_splits_the_group_of_another_constraint(algorithm: str) -> None:
    # Maths and Physics must become Science, which takes phone 111 and 112 to 11*. Music keeps its 111, and over
    # (phone, sex) it loses the two Maths records it stood with: those four have to climb together.
    frame = table(
        dept=["Maths", "Maths", "Physics", "Physics", "Music", "Music", "Music", "Dance", "Dance", "Dance"],
        phone=["111", "111", "112", "112", "111", "111", "111", "112", "112", "112"],
        sex=["f", "f", "f", "f", "f", "f", "f", "f", "f", "f"],
    )
    loaded = policy_of(SPLIT)
    before = kveil.anonymize(frame, loaded.model_copy(update={"dependencies": ()}), algorithm=algorithm).data
    assert not kveil.verify(before, loaded)
    result = kveil.anonymize(frame, loaded, algorithm=algorithm)
    assert kveil.verify(result.data, loaded, original=frame)
    assert result.account["records"]["suppressed"] == 0
    assert set(result.data["phone"]) == {"11*"}


@algorithms_for(OUTSIDE % (2, 0))
def test_a_right_side_that_is_released_as_is_bounds_the_left(algorithm: Algorithm) -> None:
    # 111 and 112 are north, 121 and 122 south: zips may meet inside a region, at 11* and 12*, never above.
    loaded = policy_of(OUTSIDE % (2, 0))
    frame = table(zip=["111", "112", "121", "122"], sex="mmmm", region=["n", "n", "s", "s"])
    result = kveil.anonymize(frame, loaded, algorithm=algorithm.name)
    assert result.data["zip"].to_list() == ["11*", "11*", "12*", "12*"]


def test_a_right_side_that_no_group_can_have_is_told_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kveil.algorithms.full_domain.datafly.PolicyJudge", None)
    frame = table(zip=["111", "112", "121"], sex="mmm", region=["n", "n", "s"])
    with pytest.raises(kveil.Unmeetable, match=r"zip -> region cannot be kept: region is insensitive.*1 record of 3"):
        kveil.anonymize(frame, policy_of(OUTSIDE % (2, 0)), algorithm="datafly")


def test_what_cannot_meet_inside_a_boundary_is_suppressed_within_the_limit() -> None:
    text = """
kveil: 1
attributes:
  a: {role: quasi-identifier, boundary: {level: 1}}
  b: {role: quasi-identifier, boundary: {level: 1}}
  y: {role: quasi-identifier, boundary: {level: 0}}
privacy:
  - {model: k-anonymity, attributes: [a, b], k: 2}
  - {model: k-anonymity, attributes: [y], k: 1}
dependencies: ["a, b -> y"]
suppression: {limit: %s, show: %s}
release: {order: keep}
"""
    frame = table(a="pqrrr", b="mmnnn", y="uvwww")
    with pytest.raises(kveil.Unmeetable, match="dependencies cannot be kept"):
        kveil.anonymize(frame, policy_of(text % (0, "drop")), algorithm="classfly+complete")
    for show in ("drop", "star"):
        result = kveil.anonymize(frame, policy_of(text % (0.4, show)), algorithm="classfly+complete")
        assert result.account["records"]["suppressed"] <= 2
        assert result.account["dependencies"] == [{"rule": "a, b -> y", "holds": True}]


def test_who_shows_a_star_for_the_left_side_beside_others_is_starred_as_a_whole() -> None:
    text = """
kveil: 1
attributes:
  a: {role: quasi-identifier, boundary: {level: 0}}
  b: {role: quasi-identifier, boundary: {level: 0}}
  drug: {role: sensitive}
  class: {role: insensitive}
privacy:
  - {model: k-anonymity, attributes: [a], k: 2}
  - {model: k-anonymity, attributes: [b], k: 2}
dependencies: ["drug -> class"]
suppression: {limit: 0.5, show: star}
release: {order: keep}
"""
    frame = pl.DataFrame({"a": [*"ppppqr"], "b": [*"mmmmmm"], "drug": [*"xyxyxy"], "class": [*"uvuvuv"]})
    # The last two stand alone by `a`: both show `*` for it and for their drug, and would tell two classes of that `*`.
    result = kveil.anonymize(frame, policy_of(text), algorithm="classfly+complete")
    assert result.account["dependencies"] == [{"rule": "drug -> class", "holds": True}]
    assert result.data["b"].to_list() == [*"mmmm", "*", "*"]
    # With one of them alone, the rule holds for its `*`, and `b` is shown.
    result = kveil.anonymize(frame[:5], policy_of(text), algorithm="classfly+complete")
    assert (result.data["a"][4], result.data["b"][4], result.data["drug"][4]) == ("*", "m", "*")


def test_a_rule_over_items_in_long_shape_is_refused() -> None:
    text = """
kveil: 1
attributes:
  id: {role: individual}
  zip: {role: quasi-identifier}
  drug: {role: sensitive}
privacy: [{model: k-anonymity, k: 1}]
dependencies: ["drug -> zip"]
release: {shape: %s}
"""
    frame = table(id="112", zip="aab", drug="xyz")
    with pytest.raises(kveil.Refused, match="long shape"):
        kveil.anonymize(frame, policy_of(text % "long"), algorithm="mondrian")
    result = kveil.anonymize(frame, policy_of(text % "sets"), algorithm="mondrian")
    assert result.account["dependencies"] == [{"rule": "drug -> zip", "holds": True}]


def test_a_multivalued_rule_is_reported_and_k_msd_ag_keeps_it() -> None:
    text = """
kveil: 1
attributes:
  course: {role: quasi-identifier, hierarchy: {tree: {"*": {Science: [Maths, Physics], Arts: [Music, Dance]}}}}
  teacher: {role: quasi-identifier}
  room: {role: quasi-identifier}
privacy: [{model: k-anonymity, k: 2}]
dependencies: ["course ->> teacher"]
release: {order: keep}
"""
    frame = table(
        course=["Maths", "Maths", "Maths", "Maths", "Physics", "Music", "Music"],
        teacher=["a", "a", "b", "b", "c", "d", "d"],
        room=["1", "2", "1", "2", "1", "3", "3"],
    )
    broken = kveil.anonymize(frame, policy_of(text), algorithm="k-msd")
    kept = kveil.anonymize(frame, policy_of(text), algorithm="k-msd-ag")
    assert [rule["rule"] for rule in broken.account["dependencies"]] == ["course ->> teacher"]
    assert kept.account["dependencies"] == [{"rule": "course ->> teacher", "holds": True}]


def test_whoever_knows_a_rule_may_tell_groups_apart() -> None:
    # Over x alone A has four records. Beside z1, p is the y of x1 alone, and r that of x2: two records each.
    text = """
kveil: 1
attributes:
  x: {role: quasi-identifier, hierarchy: {tree: {"*": {A: [x1, x2], B: [x3]}}}}
  z: {role: quasi-identifier}
  y: {role: quasi-identifier}
privacy:
  - {model: k-anonymity, attributes: [x], k: 4}
  - {model: k-anonymity, attributes: [z, y], k: 2}
dependencies: ["x, z -> y"]
release: {order: keep}
"""
    frame = table(x=["x1", "x1", "x2", "x2"], z=["z1", "z1", "z2", "z2"], y=["p", "p", "r", "r"])
    release = frame.with_columns(pl.lit("A").alias("x"))
    verdict = kveil.verify(release, policy_of(text), original=frame)
    assert verdict
    (warning,) = verdict.warnings
    assert "over x apart down to 2 records, fewer than k = 4" in warning
    assert kveil.verify(release, policy_of(text)).warnings == []


HOSPITAL = """
kveil: 1
attributes:
  patient_id: {role: identifier}
  name: {role: identifier}
  birth: {role: quasi-identifier, hierarchy: {dates: [month, year, decade]}}
  sex: {role: quasi-identifier}
  zip: {role: quasi-identifier, hierarchy: zip.csv}
  city: {role: quasi-identifier, hierarchy: city.csv}
  state: {role: quasi-identifier, hierarchy: state.csv}
  weight: {role: identifier}
  department: {role: quasi-identifier, hierarchy: department.csv}
  phone: {role: quasi-identifier, hierarchy: {mask: {keep: [11, 10, 8, 4]}}}
  diagnosis: {role: sensitive}
  insurance: {role: insensitive}
privacy: [{model: k-anonymity, k: 5}]
dependencies: ["department -> phone", "zip -> city", "city -> state"]
"""


@pytest.mark.parametrize("algorithm", ["datafly", "mondrian", "k-msd", "k-msd-ag"])
def test_the_rules_of_the_demo_hospital_survive(algorithm: str) -> None:
    frame = pl.read_csv(hospital() / "patients.csv", infer_schema=False)
    loaded = Policy.parse(HOSPITAL, "policy.yaml", hospital())
    result = kveil.anonymize(frame, loaded, algorithm=algorithm)
    assert [rule["holds"] for rule in result.account["dependencies"]] == [True, True, True]
    for left, right in (("department", "phone"), ("zip", "city"), ("city", "state")):
        assert result.data.select(left, right).n_unique() == result.data[left].n_unique()


@needs_adult
@pytest.mark.parametrize("algorithm", ["mondrian", "k-msd-ag", "incognito"])
def test_a_pair_of_attributes_that_determine_each_other_on_adult(algorithm: str) -> None:
    # education <-> education-num, a real pair of rules, each the other's right side.
    frame = raw_rows().select(COLUMNS[:7])
    text = """
kveil: 1
data: {missing: ["?"]}
attributes:
  age: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 99, widths: [5, 10, 20]}}}
  workclass: {role: quasi-identifier}
  fnlwgt: {role: identifier}
  education: {role: quasi-identifier}
  education-num: {role: quasi-identifier, hierarchy: {intervals: {from: 1, to: 16, widths: [2, 4, 8]}}}
  marital-status: {role: quasi-identifier}
  occupation: {role: sensitive}
privacy: [{model: k-anonymity, k: 10}]
dependencies: ["education -> education-num", "education-num -> education"]
"""
    result = kveil.anonymize(frame, policy_of(text), algorithm=algorithm)
    assert [rule["holds"] for rule in result.account["dependencies"]] == [True, True]
    pairs = result.data.select("education", "education-num").n_unique()
    assert pairs == result.data["education"].n_unique() == result.data["education-num"].n_unique()
