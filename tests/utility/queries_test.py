"""Errors of counts and of predictions: nothing is lost where nothing is hidden, and more where more is."""

from __future__ import annotations

from random import Random
from typing import Any

import polars as pl
import pytest

import kveil
from kveil.algorithms.registry import find
from kveil.choose import OVER
from kveil.engines.local import solve
from kveil.errors import DataError, PolicyError, Refused
from kveil.flow.compare import Terms, compare_source
from kveil.frames import from_frame
from kveil.progress import silent
from kveil.table.encode import encode
from kveil.utility.leaf_runs import spans_of_solution
from kveil.utility.queries import Query, query_error, workload

ATTRIBUTES: dict[str, Any] = {
    "age": {"role": "quasi-identifier", "hierarchy": {"intervals": {"from": 20, "to": 59, "widths": [10, 20]}}},
    "pay": {"role": "quasi-identifier", "hierarchy": {"ranges": {"within": [0, 100]}}},
    "sick": {"role": "sensitive"},
    "ward": {"role": "insensitive"},
}


def policy(k: int, **others: Any) -> kveil.Policy:
    keys = {"suppression": {"limit": 0.3}, **others}
    return kveil.Policy(kveil=1, attributes=ATTRIBUTES, privacy=[{"model": "k-anonymity", "k": k}], **keys)


def people(rows: int = 300) -> pl.DataFrame:
    """People of whom the older are sicker, so that age predicts."""
    random = Random(3)
    ages = [random.randint(20, 59) for _ in range(rows)]
    return pl.DataFrame(
        {
            "age": [str(age) for age in ages],
            "pay": [str(random.randint(0, 100)) for _ in range(rows)],
            "sick": ["yes" if random.random() < (age - 15) / 50 else "no" for age in ages],
            "ward": [random.choice("abc") for _ in range(rows)],
        }
    )


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


def test_models_trained_on_releases_are_tested_on_records_held_out() -> None:
    pytest.importorskip("sklearn", reason="the extra sklearn is not installed: pip install 'kveil[sklearn]'")
    compared = kveil.compare(people(900), policy(3), ["mondrian", "k-member"], predict="sick")
    assert compared.prediction is not None
    assert compared.prediction["measure"] == "AUC"
    assert compared.prediction["held_out"] == 300
    assert compared.rows == 600
    assert compared.prediction["original"] > 0.65
    scores = [entry["prediction"] for entry in compared.algorithms]
    assert all(score is not None and 0.55 < score < 0.9 for score in scores)
    hidden = kveil.compare(people(900), policy(300), ["mondrian"], predict="sick").algorithms[0]["prediction"]
    assert hidden is not None
    assert hidden < compared.prediction["original"] - 0.05  # nearly everybody looks alike
    several = kveil.compare(people(), policy(3), ["mondrian"], predict="ward")
    assert several.prediction is not None
    assert several.prediction["measure"] == "accuracy"


def test_what_cannot_be_predicted_is_refused() -> None:
    with pytest.raises(PolicyError, match="which is no attribute of the policy; did you mean 'sick'"):
        kveil.compare(people(), policy(3), predict="sic")
    with pytest.raises(PolicyError, match="age, a column of role quasi-identifier"):
        kveil.compare(people(), policy(3), predict="age")
    with pytest.raises(DataError, match="needs at least 60 records"):
        kveil.compare(people(30), policy(3), predict="sick")


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
