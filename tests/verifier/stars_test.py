"""Rows of stars: a group like any other where they satisfy every model, suppressed where they do not."""

from __future__ import annotations

import polars as pl
import pytest

from kveil.flow.steps.inputs import table_of
from kveil.verifier.rows import release_rows
from kveil.verifier.stars import (
    Stars,
    Suppressed,
    any_of,
    attributes_protected_in,
    attributes_without_model,
    read_stars,
    shows_star,
)
from small_people import policy_of

TWO = (
    "[{model: k-anonymity, attributes: [age], k: 2}, {model: p-sensitive, attributes: [city, sex], "
    "sensitive: illness, p: 2}]"
)
COLUMNS = ["age", "city", "sex", "illness"]


def read(*rows: str, more: str = "suppression: {limit: 1, show: star}") -> tuple[Stars, Suppressed]:
    policy = policy_of(TWO, more)
    release = table_of(pl.DataFrame([row.split() for row in rows], schema=COLUMNS, orient="row"), policy)
    found = release_rows(release, policy)
    stars = Stars.of(found, policy)
    nobody = tuple(pl.Series([False] * len(rows)) for _ in stars.parts)
    return stars, read_stars(policy, release, found, stars, nobody)


def test_stars_are_found_component_by_component() -> None:
    stars, _ = read("* Oslo f flu", "3 * * flu", "* * * *", "3 * f flu")
    assert [part.attributes for part in stars.parts] == [("age",), ("city", "sex")]
    assert [rows.to_list() for rows in stars.rows] == [[True, False, True, False], [False, True, True, False]]
    assert stars.everywhere.to_list() == [False, False, True, False]
    assert stars.anywhere.to_list() == [True, True, True, False]
    assert {name: rows.to_list() for name, rows in stars.by_attribute()}["sex"] == [False, True, True, False]


@pytest.mark.parametrize(
    ("rows", "gone"),
    [
        (["* Oslo f flu", "* Oslo f gout"], [False, False]),  # two rows of stars satisfy k = 2
        (["* Oslo f flu", "3 Oslo f gout"], [True, False]),  # one does not
        (["* Oslo f flu", "* * * *"], [True, True]),  # nothing but stars is suppressed, and no member
    ],
)
def test_rows_of_stars_are_a_group_where_they_satisfy_the_models(rows: list[str], gone: list[bool]) -> None:
    _, suppressed = read(*rows)
    assert suppressed.rows[0].to_list() == gone


def test_rows_that_hide_their_value_say_that_they_are_suppressed() -> None:
    _, suppressed = read("3 * * flu", "3 * * gout", "3 * * *")
    assert suppressed.rows[1].to_list() == [False, False, True]
    assert suppressed.anywhere.to_list() == [False, False, True]
    assert suppressed.taking_part()[1].to_list() == [True, True, False]
    _, equal = read("3 * * flu", "3 * * flu")
    assert equal.rows[1].to_list() == [True, True]  # one value is too few for p = 2


def test_sensitive_attributes_are_protected_where_a_model_names_them() -> None:
    policy = policy_of(TWO)
    stars, _ = read("3 Oslo f flu")
    assert [attributes_protected_in(policy, part) for part in stars.parts] == [set(), {"illness"}]
    assert attributes_without_model(policy) == set()
    assert attributes_without_model(policy_of("[{model: k-anonymity, k: 2}]")) == {"illness"}


def test_stars_of_a_column_and_any_of_several() -> None:
    policy = policy_of(TWO)
    frame = pl.DataFrame({"age": ["1", "2"], "city": "a", "sex": "f", "illness": pl.Series([None, "*"])})
    release = table_of(frame, policy)
    assert shows_star(release, release_rows(release, policy), "illness").to_list() == [False, True]
    assert any_of([pl.Series([True, False, False]), pl.Series([False, False, True])]).to_list() == [True, False, True]
