"""A verified release in memory: its groups, and what it does not keep."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import kveil
from kveil.flow.steps.inputs import table_of
from kveil.flow.steps.result import without_names
from small_people import people, policy_of
from support import make_policy

POLICY = policy_of("[{model: k-anonymity, k: 3}]", "suppression: {limit: 0.2}", "mondrian")


def test_groups_are_the_rows_that_show_the_same() -> None:
    result = kveil.anonymize(people(20), POLICY)
    rows = sorted(row for group in result.groups for row in group.rows.tolist())
    assert rows == list(range(result.data.height))
    assert min(group.size for group in result.groups) >= 3
    for group in result.groups:
        shown = result.data[group.rows.tolist()].select("age", "city", "sex").unique()
        assert shown.rows(named=True) == [group.shown]
    firsts = [int(group.rows[0]) for group in result.groups]
    assert firsts == sorted(firsts)
    assert "released by mondrian, verified" in repr(result)


def test_a_pickled_result_has_no_original() -> None:
    result = kveil.anonymize(people(20), POLICY)
    again = pickle.loads(pickle.dumps(result))
    assert again._original is None
    assert again.data.equals(result.data)


def test_identifiers_are_taken_off_and_individuals_become_numbers() -> None:
    attributes = {"who": "individual", "name": "identifier", "a": "quasi-identifier"}
    policy = make_policy(attributes, algorithm="auto")
    columns = {"who": ["p7", "q8", "p7"], "name": ["Ann", "Bea", "Ann"], "a": ["x", "y", "x"]}
    table = table_of(pl.DataFrame(columns), policy)
    own = without_names(table, policy)
    assert set(own.columns) == {"who", "a"}
    numbers = own.frame["who"].to_list()
    assert numbers[0] == numbers[2] != numbers[1]
    assert "Ann" not in str(own.frame.rows())
    assert "p7" not in str(own.frame.rows())


@pytest.mark.parametrize("blank", ["city", "s", "note"])
def test_the_report_is_drawn_from_every_column_that_a_result_keeps(blank: str, tmp_path: Path) -> None:
    tree = {"*": {"North": ["Oslo", "Bergen"], "South": ["Rome", "Pisa"]}}
    city = {"role": "quasi-identifier", "hierarchy": {"tree": tree}}
    policy = make_policy({"who": "identifier", "city": city, "s": "sensitive", "note": "insensitive"})
    columns = {
        "who": [f"p{i}" for i in range(24)],
        "city": ["Oslo", "Bergen", "Rome", "Pisa"] * 6,
        "s": list("abcabd") * 4,
        "note": [f"n{i}" for i in range(24)],
    }
    result = kveil.anonymize(pl.DataFrame(columns), policy)
    kept = result._original
    assert kept is not None
    assert kept.columns == ["city", "s", "note"]
    without = kept.frame.with_columns(pl.lit(None, dtype=pl.String).alias(blank))
    result.report(tmp_path / "whole.html")
    replace(result, _original=replace(kept, frame=without)).report(tmp_path / "blank.html")
    assert (tmp_path / "whole.html").read_text() != (tmp_path / "blank.html").read_text()
