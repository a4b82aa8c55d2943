"""What warnings are reckoned on leaves out rows that show nothing, whatever a row stands for."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import kveil

POLICY = """
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
    result = kveil.anonymize(frame, kveil.Policy.parse(POLICY.replace("ROLE", role), "policy.yaml", Path()))
    assert ("*", "*") in result.data.select("a", "b").rows()
    (note,) = [warning for warning in result.account["warnings"] if "fall below" in warning]
    assert f"6 {noun} of 6 fall below k 3" in note
