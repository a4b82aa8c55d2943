"""What an algorithm is, and which parts of a policy one has to honour."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coded_tables import QUASI, coded, shown_as
from kveil.algorithms import algorithm as parts
from kveil.algorithms.algorithm import Algorithm, DivideOptions, Search, asks, check_divide
from kveil.errors import PolicyError, Refused
from support import make_policy

TREE = {"tree": {"*": ["x", "y"]}}
RANGES = {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 9]}}}
ITEMS = {"role": "sensitive", "hierarchy": TREE}
K = {"model": "k-anonymity", "k": 2}


@pytest.mark.parametrize(
    ("attributes", "others", "asked"),
    [
        ({"a": QUASI}, {}, []),
        ({"a": QUASI, "b": QUASI}, {"privacy": [K, {**K, "attributes": ["a"], "k": 1}]}, []),  # the second is implied
        ({"a": QUASI, "b": QUASI}, {"privacy": [K, {**K, "attributes": ["a"], "k": 3}]}, [parts.MANY]),
        ({"a": {"role": QUASI, "boundary": {"level": 0}}}, {}, [parts.BOUNDARIES]),
        ({"a": RANGES}, {}, [parts.RANGES]),
        ({"a": {**RANGES, "boundary": {"max_width": 1}}}, {}, [parts.MAX_WIDTH, parts.RANGES]),
        ({"a": QUASI, "b": QUASI}, {"dependencies": ["a -> b"]}, [parts.DEPENDENCIES]),
        ({"a": QUASI, "who": "individual"}, {}, [parts.INDIVIDUALS]),
        (
            {"a": QUASI, "s": "sensitive"},
            {"privacy": [{"model": "t-closeness", "sensitive": "s", "t": 0.2}]},
            ["t-closeness"],
        ),
        (
            {"a": QUASI, "who": "individual", "s": ITEMS},
            {"privacy": [{"model": "kl-diversity", "sensitive": "s", "k": 2, "l": 2}]},
            [parts.INDIVIDUALS, parts.FINGERPRINTS, parts.DIVERSE],
        ),
    ],
)
def test_a_policy_asks_for_what_goes_beyond_one_constraint(
    attributes: dict[str, Any], others: dict[str, Any], asked: list[str]
) -> None:
    assert asks(make_policy(attributes, **{"algorithm": "auto", **others})) == asked


def test_parts_by_themselves_cannot_be_close_to_the_whole() -> None:
    attributes = {"a": QUASI, "s": "sensitive"}
    check_divide(make_policy(attributes))
    close = {"model": "t-closeness", "sensitive": "s", "t": 0.2}
    with pytest.raises(Refused, match="t-closeness compares groups with the whole table"):
        check_divide(make_policy(attributes, privacy=[close]))
    assert DivideOptions().divide is None
    with pytest.raises(PolicyError, match="divide must be at least 1"):
        DivideOptions(divide=0)


def test_an_algorithm_is_imported_when_it_runs_and_what_it_finds_is_settled() -> None:
    two = [{"model": "k-anonymity", "attributes": [name], "k": 2} for name in ("a", "b")]
    starred = {"privacy": two, "suppression": {"limit": 1, "show": "star"}}
    table = coded({"a": ["x", "x", "z"], "b": ["y"] * 3}, {"a": QUASI, "b": QUASI}, **starred)
    imported = []

    def search() -> Search:
        imported.append(True)
        found = shown_as(table, {"a": ["x", "x", "*"], "b": ["y"] * 3})
        return Search(lambda table, options, rng: found, DivideOptions, lambda table: 7.0)

    own = Algorithm("own", search, frozenset(), "", "")
    assert not imported
    solution = own.solve(table, DivideOptions(), np.random.default_rng(0))
    assert imported
    assert solution.suppressed.tolist() == [[False, False, True], [False] * 3]  # one row of stars is no group of two
    assert own.options is DivideOptions
    assert own.effort is not None
    assert own.effort(table) == 7.0
