"""Declared rules, one right side at a time, by numbers of columns."""

from __future__ import annotations

from coded_tables import QUASI, coded
from kveil.algorithms.declared_rules import DeclaredRule, rules_of
from kveil.policy.dependencies import Dependency

ATTRIBUTES = {"a": QUASI, "b": QUASI, "c": QUASI, "w": "insensitive", "v": "insensitive"}
COLUMNS = {name: ["1", "2"] for name in ATTRIBUTES}


def rules(*texts: str, multivalued: bool = True) -> list[DeclaredRule]:
    return rules_of(coded(COLUMNS, ATTRIBUTES, dependencies=list(texts)), multivalued=multivalued)


def test_every_right_side_is_a_rule_of_its_own() -> None:
    assert rules("c, a -> b, w") == [
        DeclaredRule((0, 2), 1, "c, a -> b, w"),
        DeclaredRule((0, 2), 3, "c, a -> b, w"),
    ]


def test_what_stands_on_both_sides_says_nothing() -> None:
    table = coded(COLUMNS, ATTRIBUTES)
    both = table.policy.model_copy(update={"dependencies": (Dependency(("a", "b"), ("b", "c")),)})
    assert [rule.right for rule in rules_of(table.changed(policy=both), multivalued=True)] == [2]


def test_multivalued_rules_are_not_strict_and_are_about_quasi_identifiers() -> None:
    assert rules("a ->> b, w") == [DeclaredRule((0,), 1, "a ->> b, w", strict=False)]
    assert rules("a ->> b", "a -> c", multivalued=False) == [DeclaredRule((0,), 2, "a -> c")]
