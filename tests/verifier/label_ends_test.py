"""Labels with two ends: which ones have them, and what lies outside in whatever order a reader may put values."""

from __future__ import annotations

import pytest

from kveil.verifier.label_ends import count_outside, ends_of, is_closed_right, labels_of_letters, runs_over

OUTSIDE = [
    ("18-25", ["18", "26"]),
    ("18–25", ["18", "17"]),
    ("18 to 25", ["40"]),
    ("[18,25]", ["26"]),
    ("[5,10)", ["5", "10"]),
    ("(5,10]", ["5", "10"]),
    ("[20, 40[", ["20", "40"]),
    ("]20, 40]", ["20", "40"]),
    ("[-5,-2]", ["-6"]),
    ("-5 to 3", ["4"]),
    ("3 … 7", ["8"]),
    ("3...7", ["8"]),
    ("1 to 6", ["7"]),
    ("2010-2015", ["2016-01-01"]),
    ("2016-04 to 2016-06", ["2016-07-01"]),
    ("2016 to 2018", ["31.12.2019"]),
    ("2016/01/01 02:28:48 … 2016/03/31 21:49:48", ["2016/04/02 11:12:20"]),
    ("2016/01/01 02:28:48 … 2016/03/31 21:49:48", ["2016/01/01 02:28:47"]),
    ("2016-01-01-2016-03-31", ["2016-04-01"]),
    ("01.02.2016 … 05.03.2016", ["03.12.2015"]),
    ("Ea… to Fo…", ["Field", "Fulton"]),
    ("A… to C…, M…", ["Dora"]),
    ("A…–C…", ["Dora"]),
    ("Korean Jindo … LaPerm", ["Korean Jindo", "Korat"]),
    ("ECCO … Folwell", ["East Phillips", "ECCO", "Folwell"]),
    ("Alta ... Moss", ["Alta", "Rome"]),
]


@pytest.mark.parametrize(("label", "values"), OUTSIDE)
def test_a_value_outside_of_two_ends_is_told(label: str, values: list[str]) -> None:
    assert count_outside(label, values, letters=False)


@pytest.mark.parametrize(
    ("label", "values", "over"),
    [
        ("15-19", ["16", "20"], True),  # ARX's ages of Adult
        ("15-19", ["15", "19", "19.5"], False),
        ("[15,19]", ["20"], False),
        ("15 to 19", ["20"], False),
        ("1.5-2", ["3"], False),
        ("A-C", ["D"], False),
    ],
)
def test_a_band_that_holds_the_number_behind_its_end_runs_over(label: str, values: list[str], over: bool) -> None:
    assert runs_over(label, values) == over


@pytest.mark.parametrize(
    ("below", "right"),
    [
        ({"15-19": ["16", "20"], "20-24": ["21", "25"]}, True),
        ({"15-19": ["15", "20"], "20-24": ["21", "25"]}, False),  # 15 stands below the label that it begins
        ({"15-19": ["16", "20"], "20-24": ["21", "24"]}, False),  # one alone may be a slip
        ({"15-19": ["15", "19"], "20-24": ["20", "24"]}, False),
    ],
)
def test_a_tree_is_is_closed_right_where_all_bands_are(below: dict[str, list[str]], right: bool) -> None:
    assert is_closed_right(below) == right
    out = {label: count_outside(label, values, letters=False, right=right) for label, values in below.items()}
    assert any(out.values()) == (not right and any(runs_over(label, values) for label, values in below.items()))


INSIDE = [
    ("18-25", ["18", "25", "25.5", "unknown"]),
    ("(18-25)", ["18", "25"]),
    ("2020-21", ["2020", "2021"]),
    ("20-21", ["2020", "2021"]),  # a season
    ("021-024", ["02139", "02460"]),  # codes by their first digits
    ("001-139", ["008", "38.5"]),
    ("140-239", ["239.9"]),  # the number that has begun
    ("1000-2000", ["1.500", "1999"]),  # thousands
    ("2010-2015", ["2012-05-01", "31.12.2015"]),
    ("01/02/2016 to 05/03/2016", ["02/15/2016", "3/3/2016"]),  # the day first, or the month
    ("Baden-Württemberg", ["Stuttgart", "Ulm"]),
    ("Anglo-American", ["British"]),
    ("2-propanol", ["isopropyl alcohol"]),
    ("Asian-Pac-Islander", ["Fiji"]),
    ("A-C", ["Dora"]),  # by itself, it may be anything
    ("A… to C…", ["apple", "Citrus", "Ähre"]),
    ("Ny-Alesund … Oslo", ["Ny-Alesund", "Odda", "Oslo"]),
    ("A … C", ["Anna", "Cleo"]),
    ("town2 … town10", ["town2", "town3", "town10"]),
    ("Saint … Zell", ["St. Paul", "saint", "Zell"]),
    ("Jan … Mar", ["Jan", "Feb", "Mar"]),  # as the tree lists them
    ("low … high", ["low", "medium", "high"]),
    ("see … below", ["x", "y"]),
    ("Others …", ["x"]),
    ("… and more", ["x"]),
    ("10-20 %", ["50"]),
    ("555-1234", ["x"]),
    ("12h-17h", ["18:00"]),
    ("V01-V91", ["E812"]),
    ("part 1 of 5", ["x"]),
    ("x" * 400 + " … y", ["z"]),
]  # fmt: skip


@pytest.mark.parametrize(("label", "values"), INSIDE)
def test_what_is_no_range_or_holds_in_some_order_is_not_told(label: str, values: list[str]) -> None:
    assert not count_outside(label, values, letters=False)


def test_letters_are_ends_where_several_labels_of_a_tree_are_such() -> None:
    assert labels_of_letters(["A-C", "D-F"])
    assert not labels_of_letters(["A-C", "Baden-Württemberg"])
    assert count_outside("A-C", ["Anna", "Dora"], letters=True) == 1
    assert not count_outside("D-F", ["dora", "Émile"], letters=True)
    assert ends_of("F-M") is None
