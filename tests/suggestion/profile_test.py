"""What a column looks like: counts, forms and numbers."""

from __future__ import annotations

from decimal import Decimal

import polars as pl
import pytest

from kveil.suggestion.profile import count_texts, missing_in, usual_k
from profiles import column


def test_missing_is_counted_apart_and_the_most_frequent_comes_first() -> None:
    here = column(["b", "a", "?", "b", "", "c"], missing=["", "?"])
    assert here.counts == [("b", 2), ("a", 1), ("c", 1)]
    assert (here.rows, here.missing, here.known, here.distinct) == (6, 2, 4, 3)
    assert here.uniqueness == 0.75
    assert column(["", ""]).uniqueness == 0.0


@pytest.mark.parametrize(
    ("form", "yes", "no"),
    [
        ("email", "a@b.org", "a@b"),
        ("url", "https://x", "x.org"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567"),
        ("ip", "10.0.0.1", "10.0.0"),
        ("phone", "+43 1 234-567", "12345"),
        ("date", "2020-01-31", "31.1.2020"),
        ("day_first", "31.1.2020", "2020-01-31"),
        ("month", "2020-12", "2020-13"),
        ("year", "1999", "2199"),
        ("digits", "007", "\u0661"),
        ("icd10", "E11.9", "U11"),
        ("icd9", "250.01", "A11"),
    ],
)
def test_forms(form: str, yes: str, no: str) -> None:
    assert column([yes, yes, no]).share(form) == 0.5  # of the different texts
    assert column([]).share(form) == 0.0


def test_a_column_is_of_numbers_only_where_all_texts_are() -> None:
    assert column(["10", "9", "9.0", "-1"]).numbers == [Decimal(-1), Decimal(9), Decimal(10)]
    assert column(["1", "x"]).numbers is None
    assert column([]).numbers is None
    assert column(["1" * 31]).numbers is None  # an id, whatever it looks like
    assert column(["1", "2.0"]).whole
    assert not column(["1", "2.5"]).whole


def test_lengths_and_words_are_means_of_the_different_texts() -> None:
    here = column(["a b c", "a b c", "d"])
    assert (here.length, here.words) == (3.0, 2.0)
    assert len(column(range(5000)).some) <= 2500


@pytest.mark.parametrize(
    ("people", "k"), [(1, 1), (2, 2), (49, 2), (50, 3), (499, 3), (500, 5), (19_999, 5), (20_000, 10)]
)
def test_the_usual_k_grows_with_the_people(people: int, k: int) -> None:
    assert usual_k(people) == k


def test_marks_of_missing_that_occur_most_frequent_first() -> None:
    columns = [pl.Series(["?", " ?", "NA", "?"]), pl.Series([None, "NA", "NA", "unknown"])]
    assert missing_in(map(count_texts, columns)) == ["NA", "?", "", " ?"]
    assert missing_in([count_texts(pl.Series(["a"]))]) == [""]
