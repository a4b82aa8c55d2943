"""Labels that name a rare value which is released nowhere, and bounds that are somebody's value."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from kveil.flow.steps.inputs import table_of
from kveil.policy.model import Policy
from kveil.verifier.labels import LONGEST, _names_one_of, _words, bounds_of_somebody, telling_labels
from kveil.verifier.release import lay_beside

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
        ("Alta and more", ["Alta", "Bodo", "Alta"], ["Alta and more", "Bodo", "Alta"], False),  # released itself
        ("North", ["Alta", "Bodo", "Moss"], ["North"] * 3, False),
        ("Altafjord", ["Alta", "Bodo", "Moss"], ["Altafjord"] * 3, False),  # no whole word
        ("Alta … Moss", ["Bodo", "Bodo", "Moss"], ["Alta … Moss"] * 3, False),  # the tree names what nobody has
    ],
)
def test_a_label_tells_where_it_names_a_rare_value_that_is_released_nowhere(
    label: str, was: list[str], shown: list[str], tells: bool
) -> None:
    assert bool(told(label, was, shown)) == tells


def test_words_of_a_label_are_all_runs_of_whole_words() -> None:
    assert {"Ny", "Alesund", "Ny-Alesund", "Ny-Alesund … x", "x"} <= set(_words("Ny-Alesund … x"))
    assert "Ales" not in set(_words("Ny-Alesund"))
    assert max(map(len, _words("a" * 2 * LONGEST))) == LONGEST


def test_a_number_counts_in_runs_of_values_alone() -> None:
    assert _names_one_of("3 … 7", {"7"})
    assert not _names_one_of("up to 7", {"7"})
    assert not _names_one_of("7", {"7"})  # the label itself


def test_bounds_are_nobodys_where_the_policy_asks_for_midpoints() -> None:
    text = """
kveil: 1
attributes:
  n: {role: quasi-identifier, hierarchy: {ranges: {within: [0, 99], bounds: %s}}}
privacy: [{model: k-anonymity, k: 1}]
"""
    cases = [("midpoints", "3-7", 1), ("midpoints", "2.5-7.5", 0), ("values", "3-7", 0), ("midpoints", "0-99", 0)]
    for bounds, shown, number in cases:
        policy = Policy.parse(text % bounds, "policy.yaml", Path())
        release, original = (table_of(pl.DataFrame({"n": own}), policy) for own in ([shown] * 4, ["3", "7", "0", "99"]))
        found = bounds_of_somebody(lay_beside(release, original, np.arange(4), policy), policy)
        assert len(found) == number, (bounds, shown)
