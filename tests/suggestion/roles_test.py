"""What a column may be, by its name and its values."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from kveil.suggestion.roles import Guess, as_role, find_individual, guess_column, hierarchy_for
from profiles import column

NAMES = ["James", "Mary", "Robert", "Linda", "Michael", "Susan", "David", "Karen", "Thomas", "Nancy", "Lisa", "Mark"]


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("contact", [f"p{i}@x.org" for i in range(9)], "identifier"),
        ("patient_name", ["Ann B", "Cid D", "Eva F"], "identifier"),
        ("whoever", NAMES, "identifier"),
        ("nombre", ["1", "2", "3"], "insensitive"),  # a number in French
        ("row", range(100), "identifier"),
        ("case_id", range(1000, 9000, 80), "identifier"),
        ("number of visits", [1, 2, 3, 1, 2, 3], "insensitive"),
        ("sex", ["m", "f"], "quasi-identifier"),
        ("x", ["male", "female"], "quasi-identifier"),
        ("age", range(20, 80), "quasi-identifier"),
        ("zip", ["1010", "1020", "1010"], "quasi-identifier"),
        ("admitted", ["2020-01-01", "2020-02-01"], "quasi-identifier"),
        ("at", ["07:15", "08:20", "09:30"], "quasi-identifier"),
        ("diagnosis", ["E11.9", "J45", "E11.9"], "sensitive"),
        ("y", ["$1,000", "$2,000"], "sensitive"),
        ("class", ["a", "b"], "sensitive"),
        ("notes", ["The patient said that she had not slept for a week, again."] * 2 + ["x"], "identifier"),
        ("constant", ["x", "x"], "insensitive"),
        ("empty", ["", ""], "insensitive"),
        ("flag", ["yes", "no", "yes"], "insensitive"),
    ],
)
def test_a_column_is_guessed(name: str, values: Iterable[object], role: str) -> None:
    found = guess_column(column(values, name))
    assert found.role == role, found.reason
    assert found.reason
    assert (found.way is not None) >= (role == "quasi-identifier")


def test_a_quasi_identifier_that_nothing_groups_is_left_out() -> None:
    found = guess_column(column([f"{i * 7919 % 1000:03}-{chr(97 + i % 26)}{i}" for i in range(60)], "city"))
    assert found.role == "identifier"
    assert found.doubtful


def test_codes_with_leading_zeros_are_cut_from_the_end() -> None:
    way = hierarchy_for(column(["01010", "02020"], "area"))
    assert way.builder is not None
    assert "mask" in way.builder


@pytest.mark.parametrize(
    "values",
    [
        [f"20{i:02}-03-1{i % 10}" for i in range(30)] + [f"1{i % 10}.03.20{i:02}" for i in range(30)] + ["unknown"],
        ["1980-01-01", "10000-05-05"] * 9,
        [f"0.{i * 7919 + 10_000_019}" for i in range(60)] + ["inf", "1_000"],
    ],
)
def test_dates_of_two_notations_and_fractions_are_no_phone_numbers(values: list[str]) -> None:
    assert "phone" not in guess_column(column(values)).reason


def test_phone_numbers_stay_such() -> None:
    for form in ("+49 {} 5678", "030.1234{}", "({}) 555-0199", "{}-555-01-22"):
        assert "phone" in guess_column(column([form.format(i) for i in range(200, 300)] + ["none"])).reason


def guesses(**columns: Iterable[object]) -> list[Guess]:
    return [guess_column(column(values, name)) for name, values in columns.items()]


REPEATED = [i // 3 for i in range(120)]


def test_whose_record_it_is_repeats_and_numbers_persons() -> None:
    found = find_individual(guesses(patient_id=REPEATED, visit_id=range(120)), lambda name: False)
    assert found is not None
    assert (found.name, found.role) == ("patient_id", "individual")
    assert "40 of them with 3.0 records each" in found.reason
    assert found.way is None


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("patient_id", range(120)),  # one record each
        ("patient_id", [*REPEATED[:-1], ""]),  # missing
        ("household_id", REPEATED),
        ("subject_age", REPEATED),
        ("patient_id", [i // 60 for i in range(120)]),  # two values are no people
    ],
)
def test_what_does_not_say_whose_record_it_is(name: str, values: Iterable[object]) -> None:
    assert find_individual(guesses(**{name: values}), lambda name: True) is None


def test_a_mere_number_says_it_where_something_follows_from_it() -> None:
    assert find_individual(guesses(id=REPEATED), lambda name: False) is None
    found = find_individual(guesses(id=REPEATED), lambda name: True)
    assert found is not None
    assert found.doubtful


def test_a_steward_has_the_last_word() -> None:
    (guess,) = guesses(flag=["yes", "no"])
    quasi = as_role(guess, "quasi-identifier")
    assert (quasi.role, quasi.doubtful) == ("quasi-identifier", False)
    assert quasi.way is not None
    assert as_role(quasi, "sensitive").way is None
