"""A component as a search sees it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml

import kveil
from kveil.algorithms.component import SearchComponent, components_of
from kveil.frames import from_frame
from kveil.models.subset import maximal_anonymous_subset
from kveil.table.encode import encode
from kveil.table.solution import Shown, Solution
from kveil.table.table import Table

FRAME = pl.DataFrame(
    {"a": ["1", "1", "2", "2"], "b": ["x", "y", "x", "x"], "c": ["u", "u", "v", "v"], "s": ["p", "q", "p", "p"]}
)

K_OF_C = {"model": "k-anonymity", "k": 2, "attributes": ["c"]}


def leaves_of(table: Table, position: int) -> Shown:
    """Return an attribute as it is shown where nothing is generalized."""
    nothing = np.zeros(2)
    return Shown(table.leaves[position], ("0", "1"), nothing, nothing, nothing.astype(bool))


def seen(privacy: list[dict[str, Any]], *, with_implied: bool = False) -> list[SearchComponent]:
    document = {
        "kveil": 1,
        "attributes": {**{name: {"role": "quasi-identifier"} for name in "abc"}, "s": {"role": "sensitive"}},
        "privacy": privacy,
    }
    policy = kveil.Policy.parse(yaml.safe_dump(document, sort_keys=False), "policy.yaml", Path())
    return components_of(encode(from_frame(FRAME), policy), with_implied=with_implied)


def test_components_have_their_columns_and_their_models_without_what_is_implied() -> None:
    first, second = seen(
        [
            {"model": "k-anonymity", "k": 2, "attributes": ["c", "a"]},
            {"model": "k-anonymity", "k": 2, "attributes": ["a"]},
            {"model": "p-sensitive", "p": 3, "sensitive": "s", "attributes": ["a"]},
            {"model": "k-anonymity", "k": 4, "attributes": ["b"]},
        ]
    )
    assert (first.names, first.positions, second.names, second.positions) == (("a", "c"), [0, 2], ("b",), [1])
    assert [(own.over, own.positions, own.k) for own in first.constraints] == [([0, 1], [0, 2], 2), ([0], [0], 1)]
    assert (first.least_members, first.largest_k, first.sensitive) == (3, 2, ["s"])
    assert (first.over_everything, first.counts_only, first.more_is_safe) == (False, False, True)
    assert (second.least_members, second.over_everything, second.counts_only) == (4, True, True)


def test_implied_constraints_are_there_where_they_are_asked_for() -> None:
    larger = {"model": "k-anonymity", "k": 2, "attributes": ["a", "b"]}
    implied = {"model": "k-anonymity", "k": 2, "attributes": ["b"]}
    for asked, number in ((False, [1, 1]), (True, [2, 1])):
        assert [len(part.constraints) for part in seen([larger, implied, K_OF_C], with_implied=asked)] == number


def test_what_a_solution_shows_has_a_row_per_attribute_also_where_there_is_none() -> None:
    first, second = seen([{"model": "k-anonymity", "k": 2, "attributes": ["a", "b"]}, K_OF_C])
    shown = tuple(leaves_of(first.table, position) for position in range(3))
    solution = Solution(shown, np.zeros((2, 4), dtype=bool))
    assert [part.shown_by(solution).tolist() for part in (first, second)] == [
        [[0, 0, 1, 1], [0, 1, 0, 0]],
        [[0, 0, 1, 1]],
    ]
    assert replace(first, positions=[]).shown_by(solution).shape == (0, 4)


def test_requirements_group_what_is_shown_over_each_models_columns() -> None:
    (component,) = seen(
        [
            {"model": "k-anonymity", "k": 2, "attributes": ["a", "b"]},
            {"model": "k-anonymity", "k": 2, "attributes": ["b", "c"]},
        ]
    )
    shown = np.array([[0, 0, 1, 1], [0, 1, 0, 0], [0, 0, 1, 1]], dtype=np.int32)
    first, second = component.requirements(shown)
    assert first.group.tolist() == second.group.tolist() == [0, 1, 2, 2]
    everyone, ones = np.ones(4, dtype=bool), np.ones(4, dtype=np.int64)
    assert maximal_anonymous_subset([first, second], ones, {}, everyone).tolist() == [False, False, True, True]
    aside = component.requirements(shown, taking_part=np.array([True, False, True, True]))
    assert maximal_anonymous_subset(aside, ones, {}, everyone).tolist() == [False, True, True, True]
