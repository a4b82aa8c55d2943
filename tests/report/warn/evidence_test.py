"""A release beside its original: what rows show, in groups and as values, beside counting by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kveil
from kveil.report.warn.evidence import Evidence
from laid_evidence import evidence
from support import QUASI, make_policy

STARS = {"limit": 1, "show": "star"}
ILLNESS = {"role": "sensitive", "hierarchy": {"tree": {"any": ["flu", "gout"]}}}
POLICY = make_policy({"a": QUASI, "b": QUASI, "s": ILLNESS}, suppression=STARS, data={"missing": ["", "?"]})


def some() -> Evidence:
    original = {"a": list("xxyyz"), "b": list("ppqqr"), "s": ["flu", "gout", "?", "flu", "gout"]}
    release = {"a": list("yx*yx"), "b": list("*p**p"), "s": ["?", "flu", "*", "any", "gout"]}
    return evidence(POLICY, original, release, [2, 0, 4, 3, 1])


def test_a_row_of_stars_shows_nothing() -> None:
    here = some()
    assert here.shown.tolist() == [0, 1, 3, 4]
    assert here.records.tolist() == [2, 0, 3, 1]
    assert here.number == 4


def test_a_column_is_texts_in_order_and_places_among_them() -> None:
    column = some().column("a")
    assert [column.texts[code] for code in column.codes] == ["y", "x", "y", "x"]
    assert column.texts == sorted(column.texts)


def test_groups_are_rows_that_show_the_same() -> None:
    groups = some().groups(["a", "b"])
    assert groups.own.tolist() == [2, 2, 2, 2]
    assert groups.member[0] == groups.member[2] != groups.member[1]
    assert some().groups([]).sizes.tolist() == [4]  # nothing is known: all are one group


def test_values_that_tell_nothing_are_no_items() -> None:
    assert some().items("s").rows() == [(1, "flu"), (3, "gout")]


def test_where_all_is_starred_every_row_is_looked_at() -> None:
    stars = {"a": ["*", "*"], "b": ["*", "*"], "s": ["flu", "gout"]}
    assert evidence(POLICY, {**stars, "a": ["x", "y"], "b": ["p", "q"]}, stars).shown.tolist() == [0, 1]


def test_rows_that_stand_for_several_are_counted_as_many() -> None:
    here = some()
    heavy = replace(here, times=np.array([5, 1, 2, 1]))
    assert heavy.number == 9
    assert heavy.count(np.array([True, False, True, False])) == 7
    assert sorted(heavy.groups(["a"]).sizes.tolist()) == [2, 7]


def test_people_have_the_items_of_their_sets() -> None:
    policy = make_policy({"who": "individual", "a": QUASI, "s": "sensitive"}, algorithm="auto")
    original = {"who": list("ppqr"), "a": list("xxxy"), "s": list("1234")}
    release = {"a": ["x", "x"], "s": ["3", "1|2"]}
    here = evidence(policy, original, release, [1, 0])
    assert sorted(here.items("s").rows()) == [(0, "3"), (1, "1"), (1, "2")]
    assert here.records.tolist() == [2, 0]  # the first record of each person


STARRED = """
kveil: 1
attributes:
  who: {role: ROLE}
  a: {role: quasi-identifier, hierarchy: {tree: {'*': {X: [x1, x2, x3], Y: [y1, y2, y3]}}}, boundary: {level: 1}}
  b: {role: quasi-identifier, hierarchy: {tree: {'*': [p, q]}}, boundary: {level: 0}}
  c: {role: insensitive}
privacy:
  - {model: k-anonymity, k: 3}
suppression: {limit: 0.5, show: star}
algorithm: mondrian
"""


@pytest.mark.parametrize(("role", "noun"), [("identifier", "records"), ("individual", "people")])
def test_a_row_of_stars_is_nobody_whom_a_warning_counts(role: str, noun: str) -> None:
    a = ["x1", "x2", "x3", "y1", "y2", "y3", "x1"]
    frame = pl.DataFrame(
        {"who": [str(i) for i in range(7)], "a": a, "b": ["p"] * 6 + ["q"], "c": ["c" + value for value in a]}
    )
    result = kveil.anonymize(frame, kveil.Policy.parse(STARRED.replace("ROLE", role), "policy.yaml", Path()))
    assert ("*", "*") in result.data.select("a", "b").rows()
    (note,) = [warning for warning in result.account["warnings"] if "fall below" in warning]
    assert f"6 {noun} of 6 fall below k 3" in note
