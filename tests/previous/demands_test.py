"""What is asked of a new release: its policy's models and those promised before, each once."""

from __future__ import annotations

from typing import Any

import pytest

import kveil
from earlier_releases import archived
from kveil.policy.privacy import KAnonymity
from kveil.previous.demands import (
    Demand,
    binding_demands,
    counts_apart,
    demand_in_words,
    demands_of,
    never_given,
    searched_model,
)
from support import QUASI, make_policy


def k(number: int, *attributes: str) -> dict[str, Any]:
    return {"model": "k-anonymity", "k": number, **({"attributes": list(attributes)} if attributes else {})}


L = {"model": "l-diversity", "sensitive": "s", "l": 3}


def asked(*privacy: dict[str, Any], **roles: Any) -> kveil.Policy:
    return make_policy({"q": QUASI, "s": "sensitive", **roles}, privacy=list(privacy), algorithm="mondrian")


def test_demands_are_the_policys_own_and_what_was_promised_beside() -> None:
    before = [archived(asked(k(5), k(2)), {}), archived(asked(k(5), k(3)), {})]
    demands = demands_of(asked(k(2)), before)
    assert [(getattr(one.model, "k", None), one.given) for one in demands] == [(2, None), (5, (0, 1)), (3, (1,))]
    assert len(demands_of(asked(k(2)), before, weaker=True)) == 1


def test_one_that_another_implies_over_all_releases_does_not_bind() -> None:
    policy, other = asked(k(2)), make_policy({"r": QUASI}, privacy=[k(4)])
    demands = demands_of(policy, [archived(asked(k(5)), {}), archived(other, {})])
    # k 5 over q implies k 2, and k 4 over r, whose attacker knows as much of each release.
    assert binding_demands(policy, [asked(k(5)), other], demands) == [1]
    narrow = asked(k(4), k(2, "q"), r=QUASI)
    assert binding_demands(narrow, [], demands_of(narrow, [])) == [0]
    assert binding_demands(policy, [], [Demand(KAnonymity(k=3), policy)] * 2) == [0]


@pytest.mark.parametrize(
    ("roles", "model", "apart"),
    [
        ({}, "l-diversity", True),  # sensitive, and no model of the new policy counts it
        ({"s": "insensitive"}, "l-diversity", True),
        ({"s": "identifier"}, "k-anonymity", False),  # not shown: groups must be large enough for three values
    ],
)
def test_values_of_earlier_promises_are_counted_where_they_are_shown(
    roles: dict[str, Any], model: str, apart: bool
) -> None:
    policy = asked(k(2), **roles)
    demand = Demand(asked(L).privacy[0], asked(L), (0,))
    searched = searched_model(demand, policy, 1)
    assert searched is not None
    assert (searched.model, counts_apart(demand, policy)) == (model, apart)
    assert apart or getattr(searched, "k", None) == 3


def test_whoever_was_starred_was_promised_nothing() -> None:
    roles = {"q": QUASI, "r": QUASI}
    policy = make_policy(roles, privacy=[k(2, "q"), k(2, "r")], suppression={"limit": 1, "show": "star"})
    assert never_given(Demand(policy.privacy[1], policy, (0,)), [policy]) == {0: ("r",)}
    assert never_given(Demand(policy.privacy[1], policy), [policy]) == {}


def test_a_demand_is_named_with_its_settings() -> None:
    assert (
        demand_in_words(Demand(asked(L).privacy[0], asked(L)))
        == "l-diversity (sensitive s, l 3, variant distinct) over q"
    )
