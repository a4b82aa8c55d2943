"""How a rejected policy is worded."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ValidationError

from kveil.policy.wording import Location, key_path, policy_error, show_path


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        (("privacy", 0, "k-anonymity", "k"), "privacy[0].k"),
        (("attributes", "age", "hierarchy", "intervals", "widths", 1), "attributes.age.hierarchy.intervals.widths[1]"),
        (("attributes", "age", "hierarchy", "file", "path"), "attributes.age.hierarchy.path"),
        (("attributes", "age", "boundary", "level", "level"), "attributes.age.boundary.level"),
        (("attributes", "age", "hierarchy", "tree", "tree"), "attributes.age.hierarchy.tree"),
        (("data",), "data"),
        ((), ""),
    ],
)
def test_a_path_is_what_a_reader_finds_in_the_file(location: Location, shown: str) -> None:
    assert show_path(key_path(location)) == shown


class Part(BaseModel):
    number: int
    names: list[str] = []
    more: dict[str, int] = {}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, "number is missing; add it."),
        ({"number": 1, "names": 3}, "names must be a list, not '3'."),
        ({"number": 1, "more": []}, "more must be a mapping (`key: value`), not an empty list."),
        ({"number": "x" * 100}, "number is not valid (number: int parsing)."),
    ],
)
def test_the_first_problem_is_one_sentence(values: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Part.model_validate(values)
    assert str(policy_error(caught.value)) == sentence
    assert str(policy_error(caught.value, where="p.yaml", line_of=lambda path: f"line {len(path)}")).startswith(
        "p.yaml: line 1: "
    )
