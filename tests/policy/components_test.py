"""What several models come to together, beside slow ways of finding it."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import pytest

from kveil.policy.components import (
    components,
    components_suppressed_with,
    implications,
    largest_k,
    most_suppressed,
    sensitive_in,
    sensitive_starred_with,
)
from support import make_policy

NAMES = list("abcde")
ATTRIBUTES = {**dict.fromkeys(NAMES, "quasi-identifier"), "s": "sensitive", "t": "sensitive", "u": "sensitive"}


def random_models(seed: int) -> list[dict[str, Any]]:
    random = Random(seed)
    models: list[dict[str, Any]] = [{"model": "k-anonymity", "attributes": [name], "k": 1} for name in NAMES]
    for _ in range(random.randint(0, 4)):
        over = sorted(random.sample(NAMES, random.randint(1, 3)))
        models.append({"model": "k-anonymity", "attributes": over, "k": random.randint(1, 3)})
        if random.random() < 0.5:
            models[-1] = {"model": "p-sensitive", "attributes": over, "sensitive": random.choice("st"), "p": 2}
    random.shuffle(models)
    return models


def policy_of(seed: int, show: str = "star") -> Any:
    limit = {"limit": 0.1, "show": show}
    return make_policy(ATTRIBUTES, privacy=random_models(seed), suppression=limit, algorithm="auto")


@pytest.mark.parametrize("seed", range(40))
def test_attributes_of_one_model_are_in_one_component_and_nothing_else_is(seed: int) -> None:
    policy = policy_of(seed)
    linked = {name: {name} for name in NAMES}
    for _ in NAMES:  # reach grows until it stands
        for model in policy.privacy:
            together = set().union(*(linked[name] for name in model.attributes))
            for name in together:
                linked[name] |= together
    found = components(policy)
    assert [set(part.attributes) for part in found] == [linked[name] for name in NAMES if min(linked[name]) == name]
    for part in found:
        assert [i for i, m in enumerate(policy.privacy) if set(m.attributes) <= set(part.attributes)] == list(
            part.models
        )


@pytest.mark.parametrize("seed", range(40))
def test_an_implied_constraint_asks_for_no_more_than_one_that_stands(seed: int) -> None:
    policy = policy_of(seed)
    plain = {i: m for i, m in enumerate(policy.privacy) if m.model == "k-anonymity"}
    found = implications(policy)
    for i, j in found.items():
        assert set(plain[i].attributes) <= set(plain[j].attributes)
        assert plain[i].k <= plain[j].k
        assert i != j
    standing = [m for i, m in plain.items() if i not in found]
    for m in plain.values():
        assert any(set(m.attributes) <= set(other.attributes) and m.k <= other.k for other in standing)
    for one in standing:
        assert sum(set(one.attributes) <= set(other.attributes) and one.k <= other.k for other in standing) == 1


@pytest.mark.parametrize("seed", range(40))
def test_whoever_is_starred_is_so_wherever_a_value_would_tell_it(seed: int) -> None:
    policy = policy_of(seed)
    parts, together, beside = components(policy), components_suppressed_with(policy), sensitive_starred_with(policy)
    named = [sensitive_in(policy, part) for part in parts]
    for own, reached in enumerate(together):
        assert own in reached
        for c in range(len(parts)):
            shared = any(named[c] & named[d] for d in reached)
            assert (c in reached) == (c == own or shared)
        assert "u" in beside[own]  # no model names it
        assert beside[own] >= named[own]
    assert set(components_suppressed_with(policy_of(seed, "drop"))) == {frozenset(range(len(parts)))}


def test_the_limit_is_a_fraction_of_the_records_without_rounding() -> None:
    for limit in ("0", "0.07", "0.29", "0.3333333333333333", "1"):
        policy = make_policy(limit=limit)  # type: ignore[arg-type]
        for records in (0, 1, 100, 3 * 10**15):
            assert most_suppressed(policy, records) == Fraction(limit) * records // 1
    assert most_suppressed(make_policy(limit=0.29), 100) == 29  # as floats, 28.999…


def test_the_largest_k_is_that_of_any_model_and_one_where_none_has_a_k() -> None:
    models = [{"model": "k-anonymity", "k": 3}, {"model": "alpha-k", "sensitive": "diagnosis", "alpha": 1, "k": 7}]
    assert largest_k(make_policy(privacy=models)) == 7
    assert largest_k(make_policy(privacy=[{"model": "p-sensitive", "sensitive": "diagnosis", "p": 2}])) == 1
