"""Sentences of a report about hierarchies, boundaries, earlier releases and rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kveil.report.story_words import boundary_in_words, hierarchy_in_words, shape_in_words, together_in_words
from support import QUASI, make_policy


@pytest.mark.parametrize(
    ("hierarchy", "words"),
    [
        (None, "value → *"),
        ({"intervals": {"from": 0, "to": 99, "widths": [10, 50]}}, "intervals 10, 50"),
        (
            {"intervals": {"from": 0, "to": 99, "widths": [10], "open": "both"}},
            "intervals 10, open at both ends",
        ),
        ({"intervals": {"from": 0, "to": 99, "widths": [10], "open": "above"}}, "intervals 10, open above"),
        ({"mask": {"keep": [3, 1]}}, "first 3, 1 characters"),
        ({"dates": ["month", "year"]}, "month, year"),
        ({"ranges": {"within": [0, 9]}}, "ranges"),
        ({"ranges": {"within": [0, 9], "round": 2.5}}, "ranges rounded to 2.5"),
        ({"tree": {"*": ["a", "b"]}}, "tree in the policy"),
    ],
)
def test_steps_of_a_hierarchy(hierarchy: Any, words: str) -> None:
    attribute = {"role": QUASI} if hierarchy is None else {"role": QUASI, "hierarchy": hierarchy}
    assert hierarchy_in_words(make_policy({"a": attribute}, algorithm="mondrian"), "a") == words


def test_where_a_hierarchy_lies_is_not_told(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "places.csv").write_text("a;*\nb;*\n", encoding="utf-8")
    policy = make_policy({"a": {"role": QUASI, "hierarchy": str(tmp_path / "secret" / "places.csv")}})
    assert hierarchy_in_words(policy, "a") == "file places.csv"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "none"),
        ({"hierarchy": {"tree": {"*": {"x": ["a"], "y": ["b"]}}}, "boundary": ["x", "y"]}, "up to x, y"),
        ({"hierarchy": {"tree": {"*": {"x": ["a"], "y": ["b"]}}}, "boundary": {"level": 1}}, "up to level 1"),
        ({"hierarchy": {"ranges": {"within": [0, 9]}}, "boundary": {"max_width": 2.5}}, "at most 2.5 wide"),
    ],
)
def test_how_far_values_may_become_coarser(more: dict[str, Any], words: str) -> None:
    policy = make_policy({"a": {"role": QUASI, **more}}, algorithm="mondrian")
    assert boundary_in_words(policy, "a") == words


def test_earlier_releases_are_told_with_the_people_and_the_most_groups() -> None:
    previous = {
        "releases": 3,
        "people": 1,
        "newcomers": 0,
        "leavers": 2000,
        "guarantees": [{"groups": 2}, {"groups": 5}],
        "below": 0,
    }
    told = together_in_words({"previous": previous})  # type: ignore[typeddict-item]
    assert told.startswith("Together with 2 earlier releases it shows 1 person: 0 for the first time, and 2,000 of")
    assert "the 5 groups of people" in told
    assert "Every promise also holds" in told
    less = together_in_words({"previous": {**previous, "below": 3}})  # type: ignore[typeddict-item]
    assert "Every promise of this policy also holds" in less
    assert less.endswith("3 people of earlier releases, however, get less than was promised then.")
    assert together_in_words({}) == ""  # type: ignore[typeddict-item]


def shaped(*sensitive: str, **others: Any) -> str:
    roles = {"who": "individual", "q": QUASI, **dict.fromkeys(sensitive, "sensitive")}
    return shape_in_words(make_policy(roles, algorithm="auto", **others))


def test_what_a_row_about_people_is() -> None:
    assert "A row is one person." in shaped("s")
    assert "which values of different columns belong together" not in shaped("s")
    assert "which values of different columns belong together" in shaped("s", "t")
    assert shaped("s", release={"shape": "long"}).startswith("The rows of a person list")
    assert shaped() == ""
    assert shape_in_words(make_policy({"q": QUASI, "s": "sensitive"})) == ""
