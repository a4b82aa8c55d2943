"""Numbers as texts: exact, and the same after writing and reading them again."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kveil.policy.numbers import is_whole, multiple_below, parse_number, parse_span, show_number, show_span
from strategies import examples

NUMBERS = st.decimals(-(10**6), 10**6, allow_nan=False, places=3)


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", "7"), ("+7.50", "7.5"), (".5", "0.5"), ("-2.", "-2"), ("1e3", "1000"), ("12E-2", "0.12")],
)
def test_a_number_is_read_exactly(text: str, number: str) -> None:
    assert parse_number(text) == Decimal(number)


@pytest.mark.parametrize("text", ["", " 7", "7 ", "1,5", "NaN", "inf", "1e9999", "0x1f", "٣", "--1", ".", "1" * 401])
def test_what_is_no_number_is_none(text: str) -> None:
    assert parse_number(text) is None


@given(NUMBERS)
@examples(60)
def test_a_number_is_written_without_zeros_and_read_again(number: Decimal) -> None:
    shown = show_number(number)
    assert parse_number(shown) == number
    assert "." not in shown or not shown.endswith(("0", "."))
    assert is_whole(number) == ("." not in shown)
    assert shown != "-0"


@given(NUMBERS, NUMBERS)
@examples(60)
def test_a_span_is_written_and_read_again(one: Decimal, other: Decimal) -> None:
    low, high = min(one, other), max(one, other)
    assert parse_span(show_span(low, high)) == (low, high)
    assert (show_span(low, high) == show_number(low)) == (low == high)


@pytest.mark.parametrize("text", ["5-3", "a-b", "1-2-3", "[1,2)", "-5-3", "1-", "[1.2.3,4]", "*"])
def test_what_is_no_span_is_none(text: str) -> None:
    assert parse_span(text) is None


@given(NUMBERS, st.decimals(Decimal("0.001"), 50, places=3))
@examples(60)
def test_the_multiple_below_is_the_next_one_down(number: Decimal, step: Decimal) -> None:
    assume(step > 0)
    found = Fraction(multiple_below(number, step))
    assert found <= Fraction(number) < found + Fraction(step)
    assert (found / Fraction(step)).denominator == 1
