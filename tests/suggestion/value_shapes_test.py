"""What values alone say of a column."""

from __future__ import annotations

import pytest

from kveil.suggestion.value_shapes import (
    are_codes,
    are_hashes,
    are_sexes,
    clock,
    is_money,
    names_of_people,
    tells_nothing_of_years,
)
from profiles import column


@pytest.mark.parametrize(
    "values", [["M", "F"], ["m", "w", "x"], ["Male", "FEMALE", "unknown"], ["männlich", "weiblich"]]
)
def test_sexes(values: list[str]) -> None:
    assert are_sexes(column(values))


@pytest.mark.parametrize("values", [["m"], ["male", "man"], ["m", "f", "q"], ["x", "u"], ["yes", "no"], []])
def test_no_sexes(values: list[str]) -> None:
    assert not are_sexes(column(values))


def test_names_of_people_are_many_common_ones() -> None:
    first = [
        "James",
        "Mary",
        "Robert",
        "Linda",
        "Michael",
        "Susan",
        "David",
        "Karen",
        "Thomas",
        "Nancy",
        "Lisa",
        "Mark",
    ]
    assert names_of_people(column(first)) == "first names"
    assert names_of_people(column(first[:6] * 5)) is None  # a few names are categories
    assert names_of_people(column([f"product {i}" for i in range(40)] + first[:9])) is None
    assert names_of_people(column(range(30))) is None


def test_hashes_are_many_hexadecimal_texts() -> None:
    digests = [f"{i:07x}a{i}" for i in range(10)]
    assert are_hashes(column(digests))
    assert not are_hashes(column(digests[:5]))
    assert not are_hashes(column([f"{i:08}" for i in range(10)]))  # numbers
    assert not are_hashes(column(["deadbeef"] * 3 + ["facade"] * 4 + list("abcdef")))


@pytest.mark.parametrize("values", [["$1,200.50", "$ 3"], ["10 €", "12.5 EUR"], ["(£5)", "-£7"]])
def test_money(values: list[str]) -> None:
    assert is_money(column(values))
    assert not is_money(column([*values, "12"]))


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([1, 2, 3, 9], True),
        ([1, 2, 99], True),
        ([-9, 0, 1], True),
        ([1, 2, 3, 4], False),
        ([7, 8, 9], False),  # 9 is no mark beside 8
        ([1, 9], False),
        ([1, 50, 99], False),  # far apart anyway
        ([1.5, 2, 99], False),
    ],
)
def test_codes_have_a_mark_far_off(values: list[float], codes: bool) -> None:
    assert are_codes(column(values)) == codes


def test_times_of_day_go_under_hours_that_name_no_minute() -> None:
    way = clock(column(["07:15", "7:45", "23:59:59", "00:00"]))
    assert way is not None
    assert way.lines is not None
    lines = {line[0]: line[1:] for line in way.lines}
    assert lines["07:15"] == lines["7:45"] == ("07h", "06h to before 12h", "*")
    assert lines["23:59:59"] == ("23h", "18h to before 24h", "*")
    assert clock(column(["24:00", "07:15"])) is None


@pytest.mark.parametrize(
    ("values", "nothing"), [(["0", "1"], True), (["y", "n"], True), (["1990", "1991"], False), (["1", "2", "3"], False)]
)
def test_what_cannot_be_years(values: list[str], nothing: bool) -> None:
    assert tells_nothing_of_years(column(values)) == nothing
