"""Bounds halfway to the next cell with a released number tell nobody's value."""

from __future__ import annotations

from decimal import Decimal
from itertools import combinations

import numpy as np
import pytest

from coded_tables import QUASI, coded, shown_as, texts_of
from kveil.policy.attributes import Ranges
from kveil.policy.numbers import parse_span
from kveil.table.midpoints import midpoints, move_bounds
from kveil.table.scale import round_outward


def attribute(bounds: str) -> dict[str, object]:
    return {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 10], "bounds": bounds}}}


SPEC = Ranges(within=(Decimal(0), Decimal(30)), round=Decimal(2), bounds="midpoints")


def moved(low: int, high: int, numbers: list[int]) -> tuple[Decimal, Decimal]:
    span = round_outward(Decimal(low), Decimal(high), SPEC)
    return midpoints(span, [Decimal(n) for n in numbers], SPEC)


def test_bounds_go_halfway_over_empty_cells_and_at_the_ends_to_those_of_the_domain() -> None:
    numbers = [3, 5, 15, 17, 26]
    assert moved(3, 5, numbers) == (0, 10)  # from 6 to 14 four cells are empty
    assert moved(15, 17, numbers) == (10, 22)
    assert moved(5, 17, numbers) == (4, 22)
    assert moved(17, 26, numbers) == (16, 30)
    assert moved(5, 15, [1, 5, 15, 21]) == (4, 18)  # of an odd number of cells the middle one is nobody's


@pytest.mark.parametrize("seed", range(40))
def test_bounds_say_no_more_than_cells_do_and_different_spans_stay_different(seed: int) -> None:
    draw = np.random.default_rng(seed)
    numbers = sorted({int(n) for n in draw.integers(0, 31, 8)})
    found: dict[tuple[Decimal, Decimal], set[tuple[Decimal, Decimal]]] = {}
    cells = [round_outward(Decimal(n), Decimal(n), SPEC) for n in numbers]
    # The same people with other numbers in the same cells, none of which is a cut point or not like the number was.
    others = [int(low) + 1 if low < high else n for n, (low, high) in zip(numbers, cells, strict=True)]
    for (low, other_low), (high, other_high) in combinations(zip(numbers, others, strict=True), 2):
        after = moved(low, high, numbers)
        assert after == moved(other_low, other_high, others)
        assert after[0] <= low
        assert high <= after[1]
        assert all(bound % 2 == 0 for bound in after)
        assert midpoints(after, [Decimal(n) for n in numbers], SPEC) == after  # a bound that was moved stays
        found.setdefault(after, set()).add(round_outward(Decimal(low), Decimal(high), SPEC))
    assert all(len(spans) == 1 for spans in found.values())


@pytest.mark.parametrize(("bounds", "shown"), [("midpoints", "4-6"), ("values", "4-5")])
def test_bounds_move_where_the_policy_asks_and_suppressed_rows_have_no_say(bounds: str, shown: str) -> None:
    table = coded({"n": ["1", "4", "5", "7", "9"]}, {"n": attribute(bounds)}, limit=1)
    solution = shown_as(table, {"n": ["1", "4-5", "4-5", "7", "9"]}, [[3]])
    once = move_bounds(table, solution)
    assert texts_of(once.shown[0])[:3] == ["1", shown, shown]
    span = parse_span(shown)
    assert span is not None
    code = once.shown[0].codes[1]
    assert once.shown[0].ncp[code] == pytest.approx(float(span[1] - span[0]) / 10)
    again = move_bounds(table, once)
    assert texts_of(again.shown[0])[1] == shown
