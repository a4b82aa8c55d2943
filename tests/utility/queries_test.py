"""Errors of counts and of predictions: nothing is lost where nothing is hidden, and more where more is."""

from __future__ import annotations

import polars as pl
import pytest

import kveil
from kveil.algorithms.registry import find
from kveil.choose import OVER
from kveil.engines.solver import solve
from kveil.errors import Refused
from kveil.flow.compare import Terms, compare_source
from kveil.frames import from_frame
from kveil.progress import silent
from kveil.table.encode import encode
from kveil.utility.leaf_runs import spans_of_solution
from kveil.utility.queries import Query, query_error, workload
from sick_people import people, policy


def errors(k: int, algorithm: str) -> tuple[float, float]:
    table = encode(from_frame(people()), policy(k))
    error = query_error(table, solve(find(algorithm), table, {}, progress=silent).solution, workload(table, 0))
    assert error is not None
    return error["median"], error["ninth"]


def test_a_release_that_shows_everything_answers_every_count() -> None:
    assert errors(1, "mondrian") == (0.0, 0.0)


def test_counts_are_worse_where_more_is_hidden() -> None:
    few, many = errors(3, "mondrian"), errors(100, "mondrian")
    assert 0 < few[0] < many[0]
    assert few[0] <= few[1]


def test_an_error_reckoned_by_hand() -> None:
    frame = pl.DataFrame({"age": ["20", "20", "29", "29"], "pay": ["1"] * 4, "sick": ["no"] * 4, "ward": ["a"] * 4})
    table = encode(from_frame(frame), policy(4))
    solution = solve(find("mondrian"), table, {}, progress=silent).solution
    runs = spans_of_solution(table, solution)
    assert (runs.last[0] - runs.first[0] + 1).tolist() == [2] * 4  # 20 and 29 are the leaves: shown is 20-29
    error = query_error(table, solution, [Query((0,), ((0, 0),))])  # who is 20: two are, half of four could be
    assert error == {"median": 0.0, "ninth": 0.0}
    three = pl.DataFrame({"age": ["20", "29", "29", "29"], "pay": ["1"] * 4, "sick": ["no"] * 4, "ward": ["a"] * 4})
    table = encode(from_frame(three), policy(4))
    solution = solve(find("mondrian"), table, {}, progress=silent).solution
    assert query_error(table, solution, [Query((0,), ((0, 0),))]) == {"median": 1.0, "ninth": 1.0}  # one is, two could


def test_the_workload_is_the_same_for_the_same_seed() -> None:
    table = encode(from_frame(people()), policy(3))
    assert workload(table, 5) == workload(table, 5) != workload(table, 6)


def test_a_policy_with_earlier_releases_is_refused_by_name() -> None:
    with pytest.raises(Refused, match="names earlier releases under `previous`, which compare does not honour"):
        kveil.compare(people(), policy(3, previous=["kept"]))


def test_each_algorithm_has_its_own_time_and_what_was_cut_is_said() -> None:
    terms = Terms(seconds_each=0.000001)
    compared = compare_source(
        from_frame(people()), policy(3), algorithms=["mondrian", "k-member", "least-loss"], terms=terms
    )
    for entry in compared.algorithms:
        if entry["solved"]:
            assert entry["cut"]
            assert str(entry["reason"]).startswith(OVER)
        else:
            assert "was stopped after" in str(entry["reason"])
    unhurried = kveil.compare(people(), policy(3), ["mondrian", "k-member"], seconds_each=300)
    assert not any(entry.get("cut") for entry in unhurried.algorithms)


def test_effort_is_given_in_tries_for_all_alike() -> None:
    source = from_frame(people())
    plain = compare_source(source, policy(5), algorithms=["k-member", "mondrian"], terms=Terms(refine="off"))
    refined = compare_source(source, policy(5), algorithms=["k-member", "mondrian"], terms=Terms(refine="5"))
    before = {entry["algorithm"]: entry["loss"]["ncp"] for entry in plain.algorithms if entry["solved"]}
    after = {entry["algorithm"]: entry["loss"]["ncp"] for entry in refined.algorithms if entry["solved"]}
    assert set(before) == set(after)
    assert all(after[name] <= before[name] for name in before)
    assert any(after[name] < before[name] for name in before)
