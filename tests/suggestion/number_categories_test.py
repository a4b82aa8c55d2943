"""Categories that are ranges of numbers."""

from __future__ import annotations

from decimal import Decimal

import pytest

from kveil.suggestion.number_categories import bounds_of, spans
from profiles import column


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("60-70", 60, 70),
        ("[75-100)", 75, 100),
        ("1.5 to 2", 1.5, 2),
        ("<18", None, 18),
        ("up to 5", None, 5),
        ("17 or younger", None, 17),
        ("65+", 65, None),
        ("≥ 90", 90, None),
        ("80 and over", 80, None),
    ],
)
def test_bounds_of_a_range(text: str, low: float | None, high: float | None) -> None:
    expected = tuple(None if end is None else Decimal(str(end)) for end in (low, high))
    assert bounds_of(text) == expected


@pytest.mark.parametrize("text", ["70-60", "60", "a-b", "", "60-70 kg", "-"])
def test_what_is_no_range(text: str) -> None:
    assert bounds_of(text) is None


def test_ranges_are_joined_two_by_two_in_their_order() -> None:
    way = spans(column(["30-40", "<10", "20-30", "40+", "10-20"]))
    assert way is not None
    assert way.lines is not None
    lines = {line[0]: line[1:] for line in way.lines}
    assert lines["<10"] == lines["10-20"] == ("up to 20", "up to 40", "*")
    assert lines["20-30"] == lines["30-40"] == ("20-40", "up to 40", "*")
    assert lines["40+"] == ("*",)


def test_brackets_are_kept() -> None:
    way = spans(column(["[0-10)", "[10-20)", "[20-30)", "[30-40)"]))
    assert way is not None
    assert way.lines is not None
    assert {line[1] for line in way.lines} == {"[0-20)", "[20-40)"}


@pytest.mark.parametrize("values", [["1-5", "3-9", "10-12"], ["1-5", "6-9"], ["1-5", "6-9", "x"], ["<5", "<9", "9+"]])
def test_ranges_that_overlap_or_are_few_or_none_are_left_alone(values: list[str]) -> None:
    assert spans(column(values)) is None
