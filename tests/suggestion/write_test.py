"""A suggestion as a policy: it loads again, its trees are those that were guessed, and doubts are marked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from kveil.frames import from_frame
from kveil.policy.model import Policy
from kveil.policy.yaml_text import MOST_LEAVES_INSIDE
from kveil.suggestion.propose import Suggestion, suggest
from kveil.suggestion.write import path_from_folder, policy_text


def suggestion(cities: int = 12) -> Suggestion:
    draw = np.random.default_rng(0)
    names = draw.integers(0, cities, 300)
    columns = {
        "age": draw.integers(18, 90, 300).astype(str),
        "city: home": [f"town {chr(97 + city % 26)}{city}" for city in names],
        "diagnosis": draw.choice(["flu", "gout", "cough"], 300),
    }
    return suggest(from_frame(pl.DataFrame(columns)))


@pytest.mark.parametrize("by_role", [True, False])
def test_the_text_is_a_policy_with_the_roles_and_trees_that_were_guessed(by_role: bool) -> None:
    given = suggestion()
    text, files = policy_text(given, None, None, by_role=by_role)
    policy = Policy.parse(text, "policy.yaml", Path())
    assert files == {}
    assert {name: attribute.role for name, attribute in policy.attributes.items()} == {
        guess.name: guess.role for guess in given.guesses
    }
    for guess in given.guesses:
        if guess.way is not None and guess.way.lines is not None and guess.role == "quasi-identifier":
            up = policy.ways_up(guess.name, [line[0] for line in guess.way.lines])
            assert {line[0]: tuple(up.of(line[0])) for line in guess.way.lines} == {
                line[0]: tuple(line) for line in guess.way.lines
            }
    if not by_role:
        assert list(policy.attributes) == ["age", "city: home", "diagnosis"]


def test_a_large_tree_goes_into_a_file_where_there_may_be_one() -> None:
    given = suggestion(cities=MOST_LEAVES_INSIDE + 20)
    guess = next(guess for guess in given.guesses if guess.name == "city: home")
    assert guess.way is not None
    assert guess.way.lines is not None
    assert len(guess.way.lines) > MOST_LEAVES_INSIDE
    text, files = policy_text(given, "t.csv", "visits")
    ((name, content),) = files.items()
    assert name.startswith("visits.city-home")
    assert name in text
    assert content.count("\n") == len(guess.way.lines)
    assert policy_text(given, "t.csv", None)[1] == {}


@pytest.mark.parametrize("limit", ["0.05", "0.2", "1"])
def test_a_limit_that_lets_many_go_is_marked(limit: str) -> None:
    text, _ = policy_text(replace(suggestion(), limit=limit), None, None)
    assert f"suppression: {{limit: {limit}, show: drop}}" in text
    before = text[: text.index("suppression:")].rsplit("\n\n", 1)[1]
    assert ("CHECK" in before) == (limit != "0.05")


def test_a_path_is_told_from_the_policys_folder(tmp_path: Path) -> None:
    assert path_from_folder(tmp_path / "data" / "t.csv", tmp_path / "policies") == "../data/t.csv"
    assert path_from_folder(tmp_path / "t.csv", tmp_path) == "t.csv"
