"""Which algorithms there are, and which of them a policy may be given to."""

from __future__ import annotations

from typing import Any

import pytest

from kveil.algorithms.algorithm import DEPENDENCIES, MANY, RANGES, asks
from kveil.algorithms.registry import (
    ALGORITHMS,
    able,
    algorithms_honouring,
    check_honours,
    demands_not_honoured,
    families,
    find,
    loops_of,
    starts_of,
)
from kveil.errors import Refused
from kveil.kernels.compiling import FAMILIES
from kveil.policy.model import Policy
from support import QUASI, make_policy

ROWS = 1_000_000  # of a table that is not small
PLAIN = {"x": {"role": QUASI}, "y": {"role": QUASI}}
NUMBERS = {**PLAIN, "n": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 9]}}}}
PEOPLE = {"pid": {"role": "individual"}, **PLAIN, "s": {"role": "sensitive", "hierarchy": {"tree": {"*": ["u", "v"]}}}}


def several(**more: Any) -> Policy:
    return make_policy(PLAIN, privacy=[{"model": "k-anonymity", "k": 2, "attributes": [name]} for name in "xy"], **more)


def names(algorithms: list[Any]) -> list[str]:
    return [algorithm.name for algorithm in algorithms]


def test_every_algorithm_is_found_by_a_name_of_its_own_and_can_be_loaded() -> None:
    assert len({algorithm.name for algorithm in ALGORITHMS}) == len(ALGORITHMS)
    for algorithm in ALGORITHMS:
        assert find(algorithm.name) is algorithm
        assert algorithm.options.model_fields is not None
        assert callable(algorithm.solve)
        assert algorithm.needs <= algorithm.honours
        assert algorithm.made_for <= algorithm.honours
        assert set(algorithm.loops) <= set(FAMILIES)
        assert set(algorithm.starts) <= set(names(list(ALGORITHMS)))


def test_a_name_that_is_none_is_refused_with_those_there_are() -> None:
    with pytest.raises(Refused, match="dataflie is not in this version of kveil; there are auto, datafly, classfly"):
        find("dataflie")


def test_what_an_algorithm_lacks_is_what_the_policy_asks_beyond_what_it_honours() -> None:
    plain, ranges = make_policy(PLAIN), make_policy(NUMBERS)
    for algorithm in ALGORITHMS:
        assert demands_not_honoured(algorithm, plain) == []
        missing = [part for part in (RANGES,) if part not in algorithm.honours]
        assert demands_not_honoured(algorithm, ranges) == missing
        assert demands_not_honoured(algorithm, several()) == [part for part in (MANY,) if part not in algorithm.honours]
        assert able(algorithm, plain) == (not algorithm.needs)


def test_what_goes_on_from_others_lacks_what_none_of_them_honours() -> None:
    least_loss = find("least-loss")
    policy = make_policy(NUMBERS, dependencies=["x -> y"])
    assert DEPENDENCIES in asks(policy)
    assert demands_not_honoured(least_loss, policy) == []
    assert names(starts_of(least_loss, policy, ROWS)) == ["mondrian"]  # the only one of its starts that honours ranges
    assert "1m-generalization" not in names(starts_of(least_loss, make_policy(PLAIN), ROWS))  # made for items of people
    shares = [{"model": "kl-diversity", "k": 2, "l": 1, "sensitive": "s"}]
    assert names(starts_of(least_loss, make_policy(PEOPLE, privacy=shares), ROWS)) == ["1m-generalization"]


def test_those_that_honour_a_policy_do_so_in_whole_and_are_made_for_it() -> None:
    for policy in (make_policy(PLAIN), make_policy(NUMBERS), several()):
        found = algorithms_honouring(policy)
        assert found == [a for a in ALGORITHMS if not demands_not_honoured(a, policy) and not a.needs]
    assert "rmerger" not in names(
        algorithms_honouring(make_policy(PEOPLE))
    )  # it honours it, but is made for combinations
    combined = [{"model": "k-km-anonymity", "k": 2, "m": 1, "sensitive": "s"}]
    assert "rmerger" in names(algorithms_honouring(make_policy(PEOPLE, privacy=combined)))


def test_algorithms_that_find_the_same_are_one_family_where_constraints_are_over_the_same() -> None:
    assert families(make_policy(PLAIN)) == [
        ("k-member", "greedy-cka"),
        ("classfly", "classfly+naive", "classfly+complete", "classfly+partial"),
    ]
    assert families(several()) == [("k-member", "greedy-cka")]


def test_loops_are_those_of_the_algorithms_and_of_refining_where_there_is_a_choice() -> None:
    assert loops_of(make_policy(PLAIN), [find("datafly")]) == ["groups"]
    assert loops_of(make_policy(PLAIN), [find("mondrian")]) == ["groups", "mondrian"]
    assert "least-loss" in loops_of(make_policy(PLAIN), [find("datafly"), find("mondrian")])
    overlapping = make_policy(
        PLAIN,
        privacy=[{"model": "k-anonymity", "k": 3, "attributes": ["x"]}, {"model": "k-anonymity", "k": 2}],
    )
    assert "overlaps" in loops_of(overlapping, [find("least-loss")])
    diverse = [{"model": "l-diversity", "l": 2, "sensitive": "s"}]
    one = make_policy(PEOPLE, privacy=diverse)
    assert "diverse" in loops_of(one, [find("pk-clustering")])
    assert "diverse" not in loops_of(one, [find("mondrian")])
    assert "diverse" not in loops_of(make_policy(PLAIN), [find("pk-clustering")])


def test_a_policy_that_asks_for_more_is_refused_with_those_that_honour_it() -> None:
    check_honours(find("mondrian"), make_policy(NUMBERS))
    with pytest.raises(Refused, match=r"datafly does not honour ranges, which the policy asks for; .*mondrian.* do\."):
        check_honours(find("datafly"), make_policy(NUMBERS))
    with pytest.raises(Refused, match="partition needs individuals, which the policy does not name"):
        check_honours(find("partition"), make_policy(PLAIN))
