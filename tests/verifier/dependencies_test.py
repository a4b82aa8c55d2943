"""Declared rules on texts, beside looking at every pair of rows."""

from __future__ import annotations

from collections import defaultdict
from random import Random

import polars as pl
import pytest

from kveil.policy.dependencies import parse_dependency
from kveil.verifier.dependencies import broken_rule, check_dependency


def rows_of(seed: int) -> list[dict[str, str]]:
    random = Random(seed)
    return [{name: random.choice("12") for name in "abcd"} for _ in range(random.randint(1, 9))]


def slowly_broken(rule: str, rows: list[dict[str, str]]) -> int:
    parsed = parse_dependency(rule)
    rest = [name for name in "abcd" if name not in parsed.left + parsed.right]
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in parsed.left)].append(row)

    def keeps(group: list[dict[str, str]]) -> bool:
        seen = {(tuple(row[n] for n in parsed.right), tuple(row[n] for n in rest)) for row in group}
        if not parsed.multivalued:
            return len({right for right, _ in seen}) == 1
        return seen == {(right, others) for right, _ in seen for _, others in seen}

    return sum(not keeps(group) for group in groups.values())


@pytest.mark.parametrize("rule", ["a -> b", "a, c -> b, d", "a ->> b", "a, b ->> c", "a -> a, b", "a ->> b, c, d"])
def test_a_rule_breaks_at_as_many_left_sides_as_are_counted_one_by_one(rule: str) -> None:
    found = set()
    for seed in range(60):
        rows = rows_of(seed)
        checked = check_dependency(parse_dependency(rule), pl.DataFrame(rows), list("abcd"))
        assert checked["broken"] == slowly_broken(rule, rows)
        assert checked["holds"] == (checked["broken"] == 0)
        found.add(checked["holds"])
    assert found == ({True} if rule == "a ->> b, c, d" else {True, False})


def test_a_broken_rule_is_told_with_its_number() -> None:
    checked = check_dependency(parse_dependency("a -> b"), pl.DataFrame({"a": ["x", "x"], "b": ["1", "2"]}), ["a"])
    told = "the dependency a -> b does not hold: 1 left side shown with more than one right side."
    assert broken_rule(checked) == told
