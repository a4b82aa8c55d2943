"""Bounds halfway to the next released number are nobody's value."""

from __future__ import annotations

from decimal import Decimal
from itertools import combinations

import pytest

from coded_tables import QUASI, coded, shown_as, texts_of
from kveil.policy.numbers import parse_span
from kveil.table.midpoints import midpoints, move_bounds

NUMBERS = [Decimal(n) for n in (1, 4, 5, 9)]
WITHIN = (Decimal(0), Decimal(10))


def attribute(bounds: str) -> dict[str, object]:
    return {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 10], "bounds": bounds}}}


def test_bounds_lie_between_a_span_and_what_is_next_to_it() -> None:
    found = {}
    for low, high in combinations(NUMBERS, 2):
        moved = midpoints((low, high), NUMBERS, WITHIN)
        assert not set(moved) & set(NUMBERS)
        inside = [n for n in NUMBERS if moved[0] <= n <= moved[1]]
        assert inside == [n for n in NUMBERS if low <= n <= high]
        found[low, high] = moved
    assert len(set(found.values())) == len(found)  # different spans stay different
    assert found[Decimal(4), Decimal(5)] == (Decimal("2.5"), Decimal(7))
    assert found[Decimal(1), Decimal(9)] == (Decimal("0.5"), Decimal("9.5"))


@pytest.mark.parametrize(("bounds", "shown"), [("midpoints", "2.5-7"), ("values", "4-5")])
def test_bounds_move_where_the_policy_asks_and_suppressed_rows_have_no_say(bounds: str, shown: str) -> None:
    table = coded({"n": ["1", "4", "5", "6", "9"]}, {"n": attribute(bounds)}, limit=1)
    solution = shown_as(table, {"n": ["1", "4-5", "4-5", "6", "9"]}, [[3]])
    moved = move_bounds(table, solution)
    assert texts_of(moved.shown[0])[:3] == ["1", shown, shown]
    span = parse_span(shown)
    assert span is not None
    code = moved.shown[0].codes[1]
    assert moved.shown[0].ncp[code] == pytest.approx(float(span[1] - span[0]) / 10)
    again = move_bounds(table, moved)
    assert texts_of(again.shown[0])[1] == shown  # a bound that was moved stays
