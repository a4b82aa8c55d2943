"""Dates in the notations that tables have, as years and months."""

from __future__ import annotations

import pytest

from kveil.policy.months import read_months


@pytest.mark.parametrize(
    ("texts", "months", "known"),
    [
        (["2016/04/02 11:12:20", "2016-12-31"], [(2016, 4), (2016, 12)], True),
        (["2.4.2016", "31.12.2015"], [(2016, 4), (2015, 12)], True),
        (["2/4/2016", "12/31/2015 9:05 PM"], [(2016, 2), (2015, 12)], True),
        (["2/4/2016", "3/5/2016"], [(2016, 1), (2016, 1)], False),
        (["13/4/2016", "4/13/2016"], [(2016, 1), (2016, 1)], False),
    ],
)
def test_months_are_known_where_they_can_be_told_from_days(
    texts: list[str], months: list[tuple[int, int]], known: bool
) -> None:
    found = read_months(texts)
    assert [found.of[text] for text in texts] == months
    assert found.known == known


@pytest.mark.parametrize(
    "text", ["2016/13/02", "2016/02/30", "2016/02", "31.02.2016", "2016/04.02", "x", "2016/04/02 noon"]
)
def test_what_is_no_date_has_no_month(text: str) -> None:
    assert read_months([text]).of == {}
