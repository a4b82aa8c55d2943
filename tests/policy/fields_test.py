"""The fields of a policy take what people write, exactly, and refuse the rest in words."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from kveil.errors import PolicyError
from kveil.policy.fields import LARGEST, Count, Flag, Names, Number, PolicyPart, Seed, Share, Text, inside


class Part(PolicyPart):
    text: Text = ""
    number: Number = Decimal(0)
    share: Share = Decimal(0)
    count: Count = 1
    seed: Seed = 0
    flag: Flag = False
    names: Names | None = None


@pytest.mark.parametrize(
    ("key", "given", "taken"),
    [
        ("text", 7, "7"),
        ("text", "007", "007"),
        ("number", "0.1", Decimal("0.1")),
        ("number", 0.1, Decimal("0.1")),
        ("number", " 1e3 ", Decimal(1000)),
        ("count", "2.0", 2),
        ("count", LARGEST, LARGEST),
        ("seed", 10**40, 10**40),
        ("flag", "Yes", True),
        ("flag", "off", False),
        ("names", ["a", 1], ("a", "1")),
    ],
)
def test_what_people_write_is_taken_exactly(key: str, given: Any, taken: Any) -> None:
    assert getattr(Part(**{key: given}), key) == taken


@pytest.mark.parametrize(
    ("key", "given", "sentence"),
    [
        ("text", True, "text must be a text, not 'True'"),
        ("text", None, "text must be a text, not nothing"),
        ("number", "1,5", "number must be a number, not '1,5'"),
        ("number", float("nan"), "number must be a number"),
        ("number", Decimal("inf"), "number must be a number"),
        ("share", 1.1, "share must be at most 1"),
        ("share", "5 %", "shares are written as 0.05 for 5 %"),
        ("count", 0, "count must be at least 1"),
        ("count", 1.5, "count must be a whole number"),
        ("count", LARGEST + 1, "a whole number of at most 2,147,483,647"),
        ("seed", -1, "seed must be at least 0"),
        ("flag", 1, "flag must be true or false"),
        ("names", "a", "names must be a list of texts, as in [a, b]"),
        ("names", [], "names must not be empty"),
        (
            "numbr",
            1,
            "has no key 'numbr'; allowed here: text, number, share, count, seed, flag and names; did you mean",
        ),
    ],
)
def test_what_a_field_does_not_take_is_refused_by_name(key: str, given: Any, sentence: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Part(**{key: given})
    assert sentence in str(caught.value)


def test_a_part_is_frozen() -> None:
    with pytest.raises(Exception, match="frozen"):
        Part().text = "other"  # type: ignore[misc]


def test_a_part_that_is_read_names_where_it_was_read_from() -> None:
    with pytest.raises(PolicyError, match=r"^here: count must be at least 1"):
        Part.read({"count": 0}, "here")
    with pytest.raises(PolicyError, match=r"^here: line 3: count must be at least 1"):
        Part.read({"count": 0}, "here", line_of=lambda path: "line 3")


def test_parts_inside_of_others_leave_the_wording_to_them() -> None:
    with inside() as before:
        assert not before
        with inside() as again:
            assert again
        with pytest.raises(ValueError, match="validation error") as caught:
            Part(count=0)
        assert not isinstance(caught.value, PolicyError)
    with pytest.raises(PolicyError):
        Part(count=0)
