"""Rules as a policy writes them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_core import PydanticCustomError

from kveil.policy.dependencies import Dependency, parse_dependency


@pytest.mark.parametrize(
    ("text", "left", "right", "multivalued"),
    [
        ("a -> b", ("a",), ("b",), False),
        ("a->>b", ("a",), ("b",), True),
        (" first name , age -> city, zip ", ("first name", "age"), ("city", "zip"), False),
    ],
)
def test_a_rule_is_read_and_written_again(text: str, left: tuple[str], right: tuple[str], multivalued: bool) -> None:
    rule = parse_dependency(text)
    assert rule == Dependency(left, right, multivalued)
    assert parse_dependency(rule.rule) == rule


@pytest.mark.parametrize(
    "text", ["a", "a ->", "-> b", "a -> b -> c", "a, -> b", "a ->> b -> c", "", 3, None, ["a -> b"]]
)
def test_what_is_no_rule_is_refused_with_an_example(text: Any) -> None:
    with pytest.raises(PydanticCustomError, match="department -> phone"):
        parse_dependency(text)
