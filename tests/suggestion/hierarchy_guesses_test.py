"""Hierarchies that are suggested: each is a tree over the column's values, with the steps that its form asks for."""

from __future__ import annotations

import pytest

from kveil.suggestion.hierarchy_guesses import (
    Way,
    balanced_runs,
    codes,
    countries,
    dates,
    first_of,
    icd,
    mask,
    numbers,
    prefixes,
    states,
    tree_of,
)
from profiles import column


def ways(way: Way | None) -> dict[str, tuple[str, ...]]:
    """Return the way up of every value."""
    assert way is not None
    assert way.lines is not None
    return {line[0]: line[1:] for line in way.lines}


def test_lines_that_are_no_tree_are_none() -> None:
    assert tree_of([("a", "x", "*"), ("b", "y", "*")]) is not None
    assert tree_of([("a", "x", "p", "*"), ("b", "x", "q", "*")]) is None


def test_countries_go_under_parts_and_continents_by_name_or_code() -> None:
    way = ways(countries(column(["Austria", "France", "Japan", "austria "])))
    assert way["Austria"] == way["austria "]
    assert way["Austria"][-2:] == ("Europe", "*")
    assert way["Japan"][-2:] == ("Asia", "*")
    assert countries(column(["Austria", "France", "Narnia", "Mordor", "Gondor"])) is None


def test_a_value_that_is_not_known_is_told_and_goes_under_the_root() -> None:
    way = countries(column(["Austria"] * 5 + ["France"] * 5 + ["Japan"] * 5 + ["Narnia"]))
    assert ways(way)["Narnia"] == ("*",)
    assert way is not None
    assert way.doubtful
    assert "1 value of 4 not known" in way.reason


def test_a_label_that_is_also_a_value_is_marked() -> None:
    way = ways(states(column([*["Texas", "Ohio", "Utah", "Maine", "Iowa"] * 3, "South"])))
    assert way["South"] == ("*",)
    assert way["Texas"][1] == "South (part)"


@pytest.mark.parametrize(
    ("values", "of", "way"),
    [
        (["250.01", "250.02", "401"], "250.01", ("250*",)),
        (["8.45", "8.46", "401"], "8.45", ("008*",)),  # a program cut the zeros off
        (["E11.9", "E11", "J45"], "E11.9", ("E11*",)),
        (["E11.9", "E11", "J45"], "J45", ()),
    ],
)
def test_icd_codes_go_under_category_and_chapter(values: list[str], of: str, way: tuple[str, ...]) -> None:
    found = ways(icd(column(values)))[of]
    assert found[:-2] == way
    assert found[-1] == "*"


def test_what_is_no_icd_code() -> None:
    assert icd(column(["flu", "gout", "250"])) is None


def test_dates_by_the_way_they_are_written() -> None:
    iso = dates(column(["2020-01-31", "1999-12-01"]))
    assert iso is not None
    assert iso.builder == {"dates": ["month", "year", "decade"]}
    assert ways(dates(column(["2020-01", "1999-12"])))["2020-01"] == ("2020", "202*", "*")
    assert ways(dates(column(["31.1.2020", "1.12.1999"])))["31.1.2020"] == ("2020-01", "2020", "202*", "*")
    assert ways(dates(column(["1/31/2020", "12/1/1999"])))["1/31/2020"] == ("2020-01", "2020", "202*", "*")
    unsure = dates(column(["1.2.2020", "3.4.1999"]))
    assert ways(unsure)["1.2.2020"] == ("2020", "202*", "*")
    assert unsure is not None
    assert "cannot be told apart" in unsure.reason
    assert dates(column(["2020-01-31", "x"])) is None


def test_masks_cut_from_the_end_four_steps_at_most() -> None:
    way = mask(column(["123456", "123457"]))
    assert way is not None
    assert way.builder == {"mask": {"keep": [5, 4, 3, 2]}}
    assert mask(column(["1", "2"])) is None


def test_numbers_get_round_widths_and_open_ends() -> None:
    way = numbers(column(range(100)))
    assert way is not None
    assert way.builder == {"intervals": {"from": "0", "to": "119", "widths": ["5", "10", "20", "40"], "open": "both"}}
    ages = numbers(column(range(20, 90)), age=True)
    assert ages is not None
    assert ages.builder is not None
    assert ages.builder["intervals"]["open"] == "above"
    assert numbers(column(["1", "1"])) is None
    assert numbers(column(["1", "x"])) is None


def test_a_few_far_numbers_lie_beyond_the_ends() -> None:
    way = numbers(column([*range(100), *range(100), 1_000_000]))
    assert way is not None
    assert way.builder is not None
    assert int(way.builder["intervals"]["to"]) < 1000
    assert "beyond the ends" in way.reason


def test_prefixes_need_words_that_several_values_share() -> None:
    values = [f"{word}-{part}" for word in ("Surgery", "Medicine") for part in ("A", "B", "C", "D")] + [
        "Surgery",
        "ENT",
    ]
    way = ways(prefixes(column(values * 3)))
    assert way["Surgery"] == way["Surgery-A"] == ("Surgery*", "*")
    assert way["ENT"] == ("*",)
    assert prefixes(column(values[:6])) is None
    assert prefixes(column([f"v{i}" for i in range(20)])) is None


def test_a_label_is_nobodys_own_word() -> None:
    # With 60 records a label needs three of them: a word that only two share would name them.
    rare = ["Tattoo-left", "Tattoo-right"]
    common = [f"{word}-{part}" for word in ("Surgery", "Medicine") for part in "ABCD"]
    way = ways(prefixes(column([*common * 8, *rare])))
    assert way["Tattoo-left"] == ("*",)


def test_a_rare_value_that_others_begin_with_names_no_label() -> None:
    common = [f"{word}-{part}" for word in ("Surgery", "Medicine", "Tattoo") for part in "ABCD"]
    way = ways(prefixes(column([*common * 8, "Tattoo"])))
    assert way["Surgery-A"] == ("Surgery*", "*")
    assert way["Tattoo-A"] == way["Tattoo"] == ("*",)


def test_dates_in_other_notations_may_have_a_few_others_beside_them() -> None:
    moments = [f"2016/{month:02}/{day:02} 11:12:20" for month in range(1, 13) for day in (1, 2, 31) if day < 3]
    way = dates(column([*moments, "unknown"]))
    assert way is not None
    assert not way.doubtful
    assert "1 value of 25 no dates" in way.reason
    assert ways(way)["2016/04/02 11:12:20"] == ("2016-04", "2016", "201*", "*")
    assert ways(way)["unknown"] == ("*",)
    assert dates(column([*moments, *"abcdefgh"])) is None
    assert dates(column([*moments, "2016"])) is None  # a year that is a value cannot be a label, too


def test_codes_are_runs_in_the_order_of_numbers() -> None:
    way = codes(column([*range(1, 21)] * 5))
    assert way is not None
    assert way.runs
    firsts = ways(way)
    assert set(firsts) == {str(i) for i in range(1, 21)}
    assert firsts["1"][0] == firsts["2"][0] != firsts["20"][0]
    assert codes(column(range(5))) is None


def test_the_first_form_that_fits_is_taken_and_runs_of_values_else() -> None:
    profile = column(["2020-01-31", "1999-12-01"])
    taken = first_of(profile, lambda p: None, dates)
    assert taken.builder == {"dates": ["month", "year", "decade"]}
    few = first_of(column("abc"))
    assert (few.builder, few.lines) == (None, None)  # few values become `*` at once
    many = column([f"v{i:02}" for i in range(30)] * 4)
    assert first_of(many) == balanced_runs(many)
