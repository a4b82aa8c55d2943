"""Right sides climb until every rule holds; whom a rule cannot keep is given up within the limit."""

from __future__ import annotations

import pytest

from coded_tables import QUASI, coded, shown_as, texts_of
from kveil.algorithms.declared_rules import rules_of
from kveil.algorithms.rules.climb import MODELS, RULES, let_sides_climb
from kveil.errors import Unmeetable
from kveil.table.solution import Solution

TREE = {"tree": {"*": {"N": ["a", "b"], "S": ["c"]}}}


def kept(
    left: list[str], right: list[str], limit: float = 0.0, k: int = 1, rule: str = "l -> r", **more: object
) -> Solution:
    attributes = {"l": QUASI, "r": {"role": QUASI, "hierarchy": TREE, **more}, "w": "insensitive", "s": "sensitive"}
    columns = {"l": left, "r": right, "w": list("1112")[: len(left)], "s": list("1212")[: len(left)]}
    table = coded(columns, attributes, dependencies=[rule], limit=limit, k=k)
    return let_sides_climb(table, shown_as(table, {"l": left, "r": right}), rules_of(table, multivalued=True))


def test_right_sides_of_one_left_side_show_what_covers_them() -> None:
    solution = kept(["x", "x", "y"], ["a", "b", "c"])
    assert texts_of(solution.shown[1]) == ["N", "N", "c"]
    assert not solution.suppressed.any()
    assert solution.details["association"] == {"records": 2}
    higher = kept(["x", "x", "y"], ["a", "c", "c"])
    assert texts_of(higher.shown[1]) == ["*", "*", "c"]


def test_a_solution_that_keeps_the_rules_stays_the_same() -> None:
    solution = kept(["x", "x", "y"], ["a", "a", "b"])
    assert "association" not in solution.details


def test_right_sides_that_a_boundary_keeps_apart_cost_records() -> None:
    left, right = ["x", "x", "x", "y"], ["a", "a", "c", "c"]
    solution = kept(left, right, 0.3, boundary=["N", "S"])
    assert solution.suppressed_anywhere.tolist() == [False, False, True, False]  # the fewer go
    assert solution.reasons[RULES].tolist() == [2]
    with pytest.raises(Unmeetable, match="1 record of 4 would have to be suppressed and the limit allows 0"):
        kept(left, right, boundary=["N", "S"])


def test_what_is_released_as_it_is_cannot_climb() -> None:
    solution = kept(["x"] * 4, ["a"] * 4, 0.3, rule="l -> w")
    assert solution.suppressed_anywhere.tolist() == [False, False, False, True]
    with pytest.raises(Unmeetable, match="the right side of l -> w is released as is"):
        kept(["x"] * 4, ["a"] * 4, rule="l -> w")


def test_a_sensitive_value_never_decides_who_goes() -> None:
    with pytest.raises(Unmeetable, match="4 records of 4"):  # all of the group, not the fewer
        kept(["x"] * 4, ["a"] * 4, 0.5, rule="l -> s")
    assert kept(["x"] * 4, ["a"] * 4, 1.0, rule="l -> s").suppressed_anywhere.all()


def test_a_multivalued_rule_costs_no_record() -> None:
    solution = kept(["x", "x", "y"], ["a", "c", "c"], rule="l ->> r", boundary=["N", "S"])
    assert not solution.suppressed.any()


def test_groups_climb_along_where_a_model_would_lose_them() -> None:
    # x and y both show a; once x climbs, the two of y are too few for k = 3 unless they climb, too.
    solution = kept(["x", "x", "y", "y"], ["a", "b", "a", "a"], 1.0, k=1)
    assert texts_of(solution.shown[1]) == ["N", "N", "a", "a"]
    assert MODELS not in solution.reasons
