"""Which shown text may stand for which value, asked in three ways."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kveil.attacker.cover import covered_values
from kveil.policy.model import Policy

TEXT = """
kveil: 1
attributes:
  t: {role: quasi-identifier, hierarchy: {tree: {"*": {N: [a, b], S: [c]}}}}
  n: {role: quasi-identifier, hierarchy: {ranges: {within: [0, 99]}}}
  i: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 99, widths: [10]}}}
privacy: [{model: k-anonymity, k: 1}]
"""
POLICY = Policy.parse(TEXT, "policy.yaml", Path())


@pytest.mark.parametrize(
    ("name", "values", "shown", "expected"),
    [
        ("t", ["a", "c", "", "z"], ["a", "N", "S", "*", ""], ["a:a N *", "c:S *", ":* ", "z:*"]),
        ("n", ["3", "7.5", ""], ["3", "3-7", "7-8", "*", ""], ["3:3 3-7 *", "7.5:7-8 *", ":* "]),
        ("i", ["31", "9"], ["30-39", "31", "*"], ["31:30-39 31 *", "9:*"]),
        ("i", ["31", "9.5"], ["[30,40)", "*"], ["31:[30,40) *", "9.5:*"]),
    ],
)
def test_a_text_stands_for_the_values_below_it(
    name: str, values: list[str], shown: list[str], expected: list[str]
) -> None:
    fits = {value: set(texts.split(" ")) for value, _, texts in (line.partition(":") for line in expected)}
    found = covered_values(POLICY, name, values, shown)
    table = np.array([[text in fits[value] for text in shown] for value in values])
    every_value, every_text = np.arange(len(values)), np.arange(len(shown))
    assert found.of_values(every_value).tolist() == table.tolist()
    assert found.of_texts(every_text).tolist() == table.T.tolist()
    pairs = [(v, t) for v in every_value for t in every_text]
    asked = np.array(pairs).T
    assert found.of_pairs(asked[0], asked[1]).tolist() == [table[v, t] for v, t in pairs]
    assert found.lists() == [np.flatnonzero(row).tolist() for row in table]
