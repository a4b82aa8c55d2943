"""`divide`: a table solved part by part gives a release that holds, whatever order its rows come in."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

import kveil
from battery import cases_for, honours
from both_engines import as_parquet, same_on_both
from kveil.algorithms.algorithm import DivideOptions
from kveil.algorithms.registry import ALGORITHMS, find
from kveil.algorithms.splitting.cutting import cut
from kveil.flow.anonymize import Targets, anonymize_file
from kveil.flow.steps.request import Request
from kveil.flow.verify import verify
from kveil.frames import from_frame
from kveil.policy.model import Policy
from kveil.table.encode import encode
from small_people import people, policy_of
from strategies import examples, placed, seeds
from support import make_policy

DIVIDED = {"k-member", "greedy-cka", "pk-clustering", "least-loss", "1m-generalization", "partition"}
OF_RECORDS = sorted(DIVIDED - {"1m-generalization", "partition"})


def divided(policy: Policy, name: str, most: int, **options: Any) -> Policy:
    chosen = policy.algorithm.model_copy(update={"name": name, "options": {"divide": most, **options}})
    return policy.model_copy(update={"algorithm": chosen})


def released(frame: pl.DataFrame, policy: Policy) -> pl.DataFrame | None:
    try:
        result = kveil.anonymize(frame, policy)
    except kveil.Unmeetable:
        return None
    assert verify(result.data, policy, original=frame, owner=result.owner).findings == []
    return result.data


def test_these_algorithms_can_be_divided() -> None:
    assert {a.name for a in ALGORITHMS if issubclass(a.options, DivideOptions)} == DIVIDED


@pytest.mark.parametrize("name", OF_RECORDS)
def test_a_divided_release_holds_and_does_not_depend_on_the_order_of_rows(name: str) -> None:
    algorithm = find(name)

    @given(data=st.data(), most=st.integers(1, 12), seed=st.integers(0, 99))
    @examples(40)
    def holds(data: st.DataObject, most: int, seed: int) -> None:
        with placed(data.draw(cases_for(algorithm, order="sorted"))) as here:
            assume(honours(algorithm, here.policy))
            assume(not any(model.model == "t-closeness" for model in here.policy.privacy))
            policy = divided(here.policy, name, most)
            order = Random(seed).sample(range(len(here.case.rows)), len(here.case.rows))
            first, again = released(here.case.frame(), policy), released(here.case.frame(order), policy)
            event("unmeetable" if first is None else "released")
            assert (first is None) == (again is None)
            assert first is None or again is None or first.equals(again)

    holds()


def visits(random: Random, persons: int) -> pl.DataFrame:
    rows: list[tuple[str, int, str, str]] = []
    for person in range(persons):
        own = random.randint(0, 59), random.choice("fm")
        items = random.sample(["cold", "flu", "attack", "murmur", "gout"], random.choice([1, 1, 2, 3]))
        rows += [(f"p{person}", *own, item) for item in items]
    random.shuffle(rows)
    return pl.DataFrame(rows, schema=["pid", "age", "sex", "illness"], orient="row")


VISITS = {
    "pid": {"role": "individual"},
    "age": {"role": "quasi-identifier", "hierarchy": {"intervals": {"from": 0, "to": 59, "widths": [5, 10, 20]}}},
    "sex": {"role": "quasi-identifier"},
    "illness": {
        "role": "sensitive",
        "hierarchy": {"tree": {"*": {"lungs": ["cold", "flu"], "heart": ["attack", "murmur"], "gout": []}}},
    },
}


@pytest.mark.parametrize("name", ["1m-generalization", "partition"])
def test_a_divided_release_of_people_holds(name: str) -> None:
    made = 0
    for seed in seeds(0, 12):
        random = Random(seed)
        frame = visits(random, 60)
        model = {"model": "kl-diversity", "sensitive": "illness", "k": 2, "l": 2 if name == "1m-generalization" else 1}
        show = {"limit": 0.3, "show": random.choice(["drop", "star"])}
        policy = divided(make_policy(VISITS, privacy=[model], suppression=show), name, 20)
        first = released(frame, policy)
        again = released(frame.sample(fraction=1, shuffle=True, seed=seed), policy)
        assert (first is None) == (again is None)
        if first is not None and again is not None:
            assert first.equals(again)
            made += 1
    assert made


def test_parts_are_as_small_as_asked_and_cuts_go_by_values_alone() -> None:
    frame = people(400)
    policy = policy_of("[{model: k-anonymity, k: 4}]")
    table = encode(from_frame(frame), policy)
    parts = cut(table, 50, "k-member")
    sizes = [len(rows) for rows in parts.rows]
    assert max(sizes) <= 50
    assert min(sizes) >= 4
    assert len(sizes) < 2 * 400 / 50 + 1
    assert sorted(np.concatenate(parts.rows).tolist()) == list(range(400))
    order = np.random.default_rng(1).permutation(400)
    other = cut(encode(from_frame(frame[order.tolist()]), policy), 50, "k-member")
    assert [sorted(order[rows].tolist()) for rows in other.rows] == [rows.tolist() for rows in parts.rows]


def test_a_table_that_fits_one_part_is_solved_as_a_whole() -> None:
    frame = people(80)
    policy = policy_of("[{model: k-anonymity, k: 4}]", algorithm="k-member")
    assert kveil.anonymize(frame, divided(policy, "k-member", 80)).data.equals(kveil.anonymize(frame, policy).data)


@pytest.mark.parametrize("name", OF_RECORDS)
def test_dependencies_are_kept_across_parts(name: str) -> None:
    cities = pl.Series(["Oslo", "Rome", "Pisa"])
    frame = people(200)
    frame = frame.with_columns(city=cities.gather(frame["age"].cast(pl.Int64) % 3))
    policy = divided(policy_of("[{model: k-anonymity, k: 4}]", "dependencies: ['age -> city']"), name, 60)
    first, again = released(frame, policy), released(frame.sample(fraction=1, shuffle=True, seed=1), policy)
    assert first is not None
    assert again is not None
    assert first.equals(again)
    assert first.select("age", "city").unique()["age"].is_unique().all()


def test_the_account_says_into_how_many_parts_a_table_was_divided(tmp_path: Path) -> None:
    people(200).write_csv(tmp_path / "people.csv")
    policy = divided(policy_of("[{model: k-anonymity, k: 4}]"), "greedy-cka", 60)
    account = anonymize_file(Request.of(policy), tmp_path / "people.csv", Targets(tmp_path / "out.csv"))
    assert account["options"] == {"divide": 60}
    assert account["details"]["divided"]["parts"] >= 4
    assert account["details"]["divided"]["largest"] <= 60


@pytest.mark.parametrize("name", sorted(DIVIDED))
def test_both_engines_divide_alike(name: str, tmp_path: Path) -> None:
    if name in OF_RECORDS:
        frame, policy = people(200), divided(policy_of("[{model: k-anonymity, k: 4}]"), name, 60)
    else:
        model = {"model": "kl-diversity", "sensitive": "illness", "k": 2, "l": 1}
        whole = make_policy(VISITS, privacy=[model], suppression={"limit": 0.3, "show": "star"})
        frame, policy = visits(Random(1), 60), divided(whole, name, 20)
    told = same_on_both(policy, as_parquet(frame, tmp_path), tmp_path)
    assert not isinstance(told, str), told
    assert told[2]["details"]["divided"]["parts"] > 2


def test_what_parts_cannot_promise_is_refused_before_the_table_is_read() -> None:
    frame = people(20)
    close = policy_of("[{model: k-anonymity, k: 2}, {model: t-closeness, sensitive: illness, t: 0.5}]")
    with pytest.raises(kveil.KveilError, match="t-closeness compares groups with the whole table"):
        kveil.anonymize(frame.head(0), divided(close, "least-loss", 10))
    with pytest.raises(kveil.PolicyError, match="has no option 'divide'"):
        kveil.anonymize(frame, divided(policy_of("[{model: k-anonymity, k: 2}]"), "mondrian", 10))
