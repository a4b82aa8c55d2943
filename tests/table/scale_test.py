"""Numbers without a tree: what spans of them show and lose."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement

import pytest

from kveil.policy.attributes import Ranges
from kveil.policy.numbers import parse_span
from kveil.table.scale import Scale, round_outward

NUMBERS = tuple(map(Decimal, ("-3.5", "0", "2", "7.25", "19")))


def scale(step: str | None = None, missing: bool = True) -> Scale:
    spec = Ranges(within=(Decimal(-10), Decimal(30)), round=None if step is None else Decimal(step))
    return Scale(NUMBERS, spec, len(NUMBERS) if missing else None, "?")


@pytest.mark.parametrize("step", [None, "1", "2.5", "10"])
def test_a_span_covers_its_numbers_and_is_no_wider_than_rounding_asks(step: str | None) -> None:
    own = scale(step)
    for low, high in combinations_with_replacement(range(len(NUMBERS)), 2):
        text, loss = own.shown(low, high)
        span = parse_span(text)
        assert span is not None
        assert span[0] <= NUMBERS[low] <= NUMBERS[high] <= span[1]
        if low == high:
            assert (span, loss) == ((NUMBERS[low], NUMBERS[low]), 0.0)
            continue
        if step is None:
            assert span == (NUMBERS[low], NUMBERS[high])
        else:
            assert all((Fraction(bound) / Fraction(step)).denominator == 1 for bound in span)
            assert NUMBERS[low] - span[0] < Decimal(step) > span[1] - NUMBERS[high]
        assert loss == pytest.approx(min(float((span[1] - span[0]) / 40), 1.0)) == own.loss_of_text(text)


@pytest.mark.parametrize("step", [None, "1", "2.5", "10"])
def test_bounds_of_numbers_are_those_of_the_spans_that_they_begin_and_end(step: str | None) -> None:
    own = scale(step)
    bounds = own.bounds()
    for low, high in combinations_with_replacement(range(len(NUMBERS)), 2):
        if low < high:
            assert parse_span(own.shown(low, high)[0]) == (bounds[low][0], bounds[high][1])


def test_missing_shows_itself_and_beside_numbers_anything() -> None:
    own = scale()
    assert own.leaves == 6
    assert own.shown(5, 5) == ("?", 0.0)
    assert own.shown(2, 5) == ("*", 1.0)
    assert (own.loss_of_text("?"), own.loss_of_text("*"), own.loss_of_text("nonsense")) == (0.0, 1.0, 1.0)
    assert scale(missing=False).leaves == 5


def test_rounding_goes_outward_on_both_sides_of_zero() -> None:
    spec = Ranges(within=(Decimal(-10), Decimal(30)), round=Decimal(5))
    assert round_outward(Decimal(-3), Decimal(-1), spec) == (-5, 0)
    assert round_outward(Decimal(5), Decimal(10), spec) == (5, 10)
