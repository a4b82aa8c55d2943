"""Labels that name a rare value which is released nowhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kveil
from kveil.flow.steps.inputs import table_of
from kveil.policy.model import Policy
from kveil.verifier.labels import misleading_labels, telling_labels, untrue_ends
from kveil.verifier.release import checkable_rows, lay_beside

TOWNS = """
kveil: 1
attributes:
  town: {role: quasi-identifier, hierarchy: {tree: {"*": {"%s": [Alta, Bodo, Moss], South: [Rome]}}}}
privacy: [{model: k-anonymity, k: 2}]
"""


def told(label: str, was: list[str], shown: list[str]) -> list[str]:
    policy = Policy.parse(TOWNS % label, "policy.yaml", Path())
    release, original = (table_of(pl.DataFrame({"town": own}), policy) for own in (shown, was))
    return telling_labels(lay_beside(release, original, np.arange(len(shown)), policy), policy)


@pytest.mark.parametrize(
    ("label", "was", "shown", "tells"),
    [
        ("Alta … Moss", ["Alta", "Bodo", "Moss"], ["Alta … Moss"] * 3, True),
        ("Alta … Moss", ["Alta", "Alta", "Moss", "Moss", "Bodo"], ["Alta … Moss"] * 5, False),  # nobody is rare
        ("Alta … Moss", ["Alta", "Bodo", "Moss"], ["Alta", "Bodo", "Moss"], False),  # not shown
        ("Alta and more", ["Alta", "Bodo", "Moss"], ["Alta and more"] * 3, False),  # a word of it
        ("Alta, Bodo", ["Alta", "Bodo", "Moss"], ["Alta, Bodo"] * 3, True),
        ("{Alta; Bodo}", ["Alta", "Bodo", "Moss"], ["{Alta; Bodo}"] * 3, True),
        ("Alta to Moss", ["Alta", "Bodo", "Moss"], ["Alta to Moss"] * 3, True),
        ("Alta-Moss", ["Alta", "Bodo", "Moss"], ["Alta-Moss"] * 3, True),
        ("Alta Moss", ["Alta", "Bodo", "Moss"], ["Alta Moss"] * 3, False),
        ("Alta … Moss", ["Alta", "Bodo", "Moss"], ["Alta … Moss", "Bodo", "Moss"], True),
        ("North", ["Alta", "Bodo", "Moss"], ["North"] * 3, False),
        ("Altafjord", ["Alta", "Bodo", "Moss"], ["Altafjord"] * 3, False),
        ("Alta … Moss", ["Bodo", "Bodo", "Moss"], ["Alta … Moss"] * 3, False),  # the tree names what nobody has
    ],
)
def test_a_label_tells_where_it_names_a_rare_value_that_is_released_nowhere(
    label: str, was: list[str], shown: list[str], tells: bool
) -> None:
    assert bool(told(label, was, shown)) == tells


def test_a_number_counts_in_runs_of_values_alone() -> None:
    numbers = "{tree: {'*': {'%s': ['3', '5', '7'], Other: ['9']}}}"
    for label, tells in (("3 … 7", True), ("3-7", False), ("up to 7", False)):
        text = f"""
kveil: 1
attributes:
  n: {{role: quasi-identifier, hierarchy: {numbers % label}}}
privacy: [{{model: k-anonymity, k: 2}}]
"""
        policy = Policy.parse(text, "policy.yaml", Path())
        was, shown = ["3", "5", "7", "9", "9"], [label] * 3 + ["9", "9"]
        release, original = (table_of(pl.DataFrame({"n": own}), policy) for own in (shown, was))
        assert bool(telling_labels(lay_beside(release, original, np.arange(5), policy), policy)) == tells


@pytest.mark.parametrize(
    ("label", "found"),
    [("Alta … Bodo", True), ("Alta… to Bodo…", True), ("Alta-Bodo", False), ("North", False), ("Alta … Moss", False)],
)
def test_a_label_with_two_ends_that_a_value_lies_outside_of_is_found_without_the_original(
    label: str, found: bool
) -> None:
    policy = Policy.parse(TOWNS % label, "policy.yaml", Path())
    for shown in (label, "Alta"):  # one that is not shown misleads nobody
        rows = checkable_rows(table_of(pl.DataFrame({"town": [shown] * 3}), policy), policy)
        told = misleading_labels(rows, policy)
        assert bool(told) == (found and shown == label)
        assert all("town shows a label with two ends" in sentence for sentence in told)
    lines = policy.fixed_lines("town")
    assert lines is not None
    assert untrue_ends(lines, [""]) == ([label] if found else [])
    assert untrue_ends(lines, ["", "Moss"]) == []


def test_bands_that_are_closed_on_the_right_are_a_warning_and_no_finding() -> None:
    lines = {"15-19": [str(age) for age in range(16, 21)], "20-24": [str(age) for age in range(21, 26)]}
    tree = {"tree": {"*": lines}}
    policy = Policy(
        attributes={"age": {"role": "quasi-identifier", "hierarchy": tree}}, privacy=[{"model": "k-anonymity", "k": 2}]
    )
    verdict = kveil.verify(pl.DataFrame({"age": ["15-19", "15-19", "20-24", "20-24"]}), policy)
    assert verdict.findings == []
    said = "age shows 2 bands of numbers that begin and end one number later than said: '15-19' for 16 to 20."
    assert [said in warning for warning in verdict.warnings] == [True]
    done = kveil.anonymize(pl.DataFrame({"age": ["16", "20", "21", "25"]}), policy, algorithm="datafly")
    assert any(said in warning for warning in done.account["warnings"])
