"""Runs of numbers and of months, named by what lies between them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from kveil.policy.ordered_runs import (
    cut_evenly,
    month_cuts,
    number_cuts,
    number_of,
    ordered_lines,
    roundest_between,
)


@pytest.mark.parametrize(
    ("low", "high", "cut"),
    [
        ("7", "8", "7.5"),
        ("7", "9", "8"),
        ("20", "999", "500"),
        ("-9", "-8", "-8.5"),
        ("-3", "4", "0"),
        ("95", "105", "100"),
        ("0.25", "0.26", "0.255"),
        ("1e20", "3e20", "200000000000000000000"),
        ("5", "5", None),
        ("1", "1e99", None),
    ],
)
def test_runs_meet_at_the_roundest_number_between_them(low: str, high: str, cut: str | None) -> None:
    found = roundest_between(Decimal(low), Decimal(high))
    assert found == (None if cut is None else Decimal(cut))


def test_the_outermost_runs_of_numbers_are_open() -> None:
    values = {str(number): Decimal(number) for number in (1, 2, 3, 7, 8, 500)}
    lines = ordered_lines(values, dict.fromkeys(values, 1), number_cuts(), 2)
    assert lines is not None
    assert {label for line in lines for label in line[1:-1]} == {"below 5", "below 2.5", "above 5", "5 to 100"}


def test_runs_of_months_meet_at_the_beginning_of_a_year_where_they_can() -> None:
    months = month_cuts()
    assert months.between(number_of(2015, 6), number_of(2017, 2)) == number_of(2017, 1)
    assert months.between(number_of(2015, 6), number_of(2015, 9)) == number_of(2015, 7)
    start, year, end = number_of(2016, 4), number_of(2017, 1), number_of(2019, 1)
    assert months.name(None, start) == "before 2016-04"
    assert months.name(end, None) == "2019 or later"
    assert months.name(start, year) == "2016-04 to 2016-12"
    assert months.name(year, end) == "2017 to 2018"
    assert months.name(start, start + 1) == "2016-04"


def test_things_are_cut_into_parts_of_about_equal_weight() -> None:
    assert cut_evenly([("a", 5), ("b", 1), ("c", 1), ("d", 5)], 2) == [["a", "b"], ["c", "d"]]
    assert cut_evenly([("a", 0)], 3) == [["a"]]
    assert cut_evenly([("a", 1), ("b", 1), ("c", 90)], 2) == [["a", "b"], ["c"]]
