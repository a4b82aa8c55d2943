"""The rows of a table as the verifier compares them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from kveil.errors import DataError
from kveil.flow.steps.inputs import table_of
from kveil.policy.model import Policy
from kveil.verifier.rows import ITEM, ROW, SIZE, original_rows, plain_rows, release_rows, released_texts, rule_texts
from small_people import policy_of

PEOPLE = """
kveil: 1
data: {missing: ["", "?"]}
attributes:
  who: {role: individual}
  city: {role: quasi-identifier}
  items: {role: sensitive}
privacy: [{model: k-anonymity, k: 1}, {model: p-sensitive, sensitive: items, p: 1}]
"""


def parse(text: str) -> Policy:
    return Policy.parse(text, "policy.yaml", Path())


def items_of(rows: object, name: str) -> set[tuple[int, str | None]]:
    return set(rows.items[name].select(ROW, ITEM).rows())  # type: ignore[attr-defined]


def test_everything_that_means_missing_is_one_text_and_stars_of_a_release_are_none() -> None:
    policy = parse(PEOPLE.replace('"?"', '"?", "*"'))
    table = table_of(pl.DataFrame({"city": ["a", "?", None, "", "*"]}), policy)
    assert released_texts(table, policy, "city").to_list() == ["a", "", "", "", ""]
    assert released_texts(table, policy, "city", stars=True).to_list() == ["a", "", "", "", "*"]


def test_persons_have_one_row_with_all_their_items_in_the_order_they_come() -> None:
    frame = pl.DataFrame({"who": ["b", "a", "b", "c"], "city": ["x", "y", "x", "z"], "items": ["1", "?", "2", None]})
    rows = original_rows(table_of(frame, parse(PEOPLE)), parse(PEOPLE))
    assert rows.persons
    assert rows.texts["city"].to_list() == ["x", "y", "z"]
    assert items_of(rows, "items") == {(0, "1"), (0, "2"), (1, None), (2, None)}
    assert rows.row_of.tolist() == [0, 1, 0, 2]
    assert rows.source.tolist() == [0, 1, 3]


def test_sets_are_split_into_items_each_once() -> None:
    frame = pl.DataFrame({"city": ["x", "*", "*"], "items": ["2|1|2", "*", "|"]})
    rows = release_rows(table_of(frame, parse(PEOPLE)), parse(PEOPLE))
    assert items_of(rows, "items") == {(0, "1"), (0, "2"), (1, "*"), (2, None)}
    assert rows.starred.to_list() == [False, True, False]
    lists = frame.with_columns(items=pl.Series([["2", "1", "2"], ["*"], []]))
    again = release_rows(table_of(lists, parse(PEOPLE)), parse(PEOPLE))
    assert items_of(again, "items") == items_of(rows, "items")


def test_a_long_release_numbers_its_persons_and_shows_one_text_for_each() -> None:
    policy = parse(PEOPLE + "release: {shape: long}\n")
    frame = pl.DataFrame({"individual": ["1", "1", "2"], "city": ["x", "x", "y"], "items": ["1", "2", "1"]})
    rows = release_rows(table_of(frame, policy), policy)
    assert (rows.height, rows.findings) == (2, ())
    differing = frame.with_columns(city=pl.Series(["x", "z", "y"]))
    assert release_rows(table_of(differing, policy), policy).findings
    with pytest.raises(DataError, match="lacks the column 'individual'"):
        release_rows(table_of(frame.drop("individual"), policy), policy)


@pytest.mark.parametrize("times", [None, [3, 1, 2]])
def test_rows_that_stand_for_several_are_counted_so(times: list[int] | None) -> None:
    policy = policy_of("[{model: k-anonymity, k: 1}]")
    frame = pl.DataFrame(
        {"age": ["1", "1", "*"], "city": ["a", "b", "*"], "sex": ["f", "f", "*"], "illness": list("xyz")}
    )
    rows = plain_rows(table_of(frame, policy), policy, stars=True)
    weights = [1, 1, 1] if times is None else times
    rows = replace(rows, times=None if times is None else np.array(times))
    assert rows.number == sum(weights)
    assert rows.counts("age") == {"1": weights[0] + weights[1], "*": weights[2]}
    assert rows.labels("city") == {"a", "b", "*"}
    assert rows.count(pl.Series([True, False, True])) == weights[0] + weights[2]
    assert rows.stars(["age", "sex"]).to_list() == [False, False, True]
    sizes = dict(zip(*(rows.groups(["age", "sex"])[name].to_list() for name in ("age", SIZE)), strict=True))
    assert sizes == {"1": weights[0] + weights[1], "*": weights[2]}


def test_rules_are_tested_on_quasi_identifiers_and_what_they_name() -> None:
    policy = parse(PEOPLE + "dependencies: [city -> items]\n")
    frame = pl.DataFrame({"city": ["x", None], "items": pl.Series([["1", "2"], []])})
    texts = rule_texts(table_of(frame, policy), policy)
    assert texts.to_dict(as_series=False) == {"city": ["x", ""], "items": ["1|2", ""]}
