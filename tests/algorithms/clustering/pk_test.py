"""pk-clustering: as many p-sensitive groups as the paper's bound, every model, and what boundaries leave out."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import polars as pl
import pytest

import kveil
from kveil.flow.steps.result import Result
from kveil.flow.verify import verify

QUASI = "quasi-identifier"
CITY = {"tree": {"*": {"N": ["Oslo", "Bergen"], "S": ["Rome", "Pisa"]}}}


def policy_of(*privacy: dict[str, Any], **others: Any) -> kveil.Policy:
    return kveil.Policy(
        attributes={
            "age": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 100]}}},
            "city": {"role": QUASI, "hierarchy": CITY, **others.pop("city", {})},
            "ill": {"role": "sensitive", "hierarchy": {"tree": {"*": {"x": ["a", "b"], "y": ["c", "d", "e"]}}}},
        },
        privacy=list(privacy),
        algorithm="pk-clustering",
        **others,
    )


def table(random: Random, rows: int, values: str) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [str(random.randint(18, 90)) for _ in range(rows)],
            "city": [random.choice(["Oslo", "Bergen", "Rome", "Pisa"]) for _ in range(rows)],
            "ill": [random.choice(values) for _ in range(rows)],
        }
    )


def groups(result: Result) -> Counter[tuple[str, str]]:
    return Counter(zip(result.data["age"], result.data["city"], strict=True))


def most_groups(values: list[str], p: int) -> int:
    """The paper's bound: min over i = 1..p-1 of ⌊(n − cf_{p−i}) / i⌋, cf cumulating counts that fall."""
    counts = sorted(Counter(values).values(), reverse=True)
    return min(((len(values) - sum(counts[: p - i])) // i for i in range(1, p)), default=len(values))


@pytest.mark.parametrize("seed", range(12))
def test_there_are_as_many_groups_as_the_papers_bound_allows(seed: int) -> None:
    random = Random(seed)
    p, k = random.choice([2, 3]), random.choice([2, 3, 4])
    frame = table(random, random.randint(12, 60), random.choice(["aaaaaaabcd", "aaaabbbcde", "abc", "aaaaaaaaabc"]))
    if len(set(frame["ill"])) < p:
        return
    models = {"model": "k-anonymity", "k": k}, {"model": "p-sensitive", "sensitive": "ill", "p": p}
    result = kveil.anonymize(frame, policy_of(*models))
    assert verify(result.data, policy_of(*models), original=frame, owner=result.owner)
    bound = min(most_groups(frame["ill"].to_list(), p), len(frame) // max(k, p))
    assert result.account["details"]["parts"] <= bound
    assert result.account["details"]["found_by"] == "clusters"
    assert result.account["details"]["parts"] >= 0.8 * bound


MODELS = [
    {"model": "p-sensitive", "sensitive": "ill", "p": 3},
    {"model": "l-diversity", "sensitive": "ill", "l": 2},
    {"model": "l-diversity", "sensitive": "ill", "l": "1.8", "variant": "entropy"},
    {"model": "l-diversity", "sensitive": "ill", "l": "1.7", "variant": "frequency"},
    {"model": "l-diversity", "sensitive": "ill", "l": 2, "c": 2, "variant": "recursive"},
    {"model": "alpha-k", "sensitive": "ill", "alpha": "0.6", "k": 4},
    {"model": "t-closeness", "sensitive": "ill", "t": "0.3"},
    {"model": "t-closeness", "sensitive": "ill", "t": "0.2", "distance": "hierarchical"},
]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: f"{m['model']} {m.get('variant', m.get('distance', ''))}")
def test_every_model_holds_in_many_groups(model: dict[str, Any]) -> None:
    frame = table(Random(3), 300, "aaaaabbbcccde")
    bounded = {"boundary": ["N", "S"]}
    for city in ({}, bounded):
        policy = policy_of({"model": "k-anonymity", "k": 5}, model, city=city)
        result = kveil.anonymize(frame, policy)
        assert verify(result.data, policy, original=frame, owner=result.owner).findings == []
        assert result.account["boundaries"] == {"violations": 0}
        assert result.account["records"]["suppressed"] == 0
        assert len(groups(result)) > 20  # of 60 at most


def test_a_group_that_cannot_satisfy_the_model_is_out_with_the_reason() -> None:
    frame = pl.DataFrame(
        {
            "age": ["20", "21", "22", "23", "40", "41"],
            "city": ["Oslo", "Oslo", "Bergen", "Oslo", "Rome", "Pisa"],
            "ill": ["a", "b", "a", "c", "a", "a"],
        }
    )
    models = {"model": "k-anonymity", "k": 2}, {"model": "p-sensitive", "sensitive": "ill", "p": 2}
    bounded = {"boundary": ["N", "S"]}
    with pytest.raises(kveil.Unmeetable, match="2 records of 6"):
        kveil.anonymize(frame, policy_of(*models, city=bounded))
    result = kveil.anonymize(frame, policy_of(*models, city=bounded, suppression={"limit": "0.4"}))
    assert result.account["records"]["suppressed"] == 2
    assert result.account["details"]["boundaries"] == {"out": 2}
    assert {reason: rows.tolist() for reason, rows in result.owner.suppressed.items()} == {
        "its group within the boundaries cannot satisfy k-anonymity and p-sensitive": [4, 5]
    }


def test_plain_k_is_greedy_cka() -> None:
    frame = table(Random(9), 150, "abc")
    policy = policy_of({"model": "k-anonymity", "k": 4}, city={"boundary": ["N", "S"]})
    mine, theirs = (kveil.anonymize(frame, policy, algorithm=name) for name in ("pk-clustering", "greedy-cka"))
    assert mine.data.equals(theirs.data)
