"""Guesses by what files of SPSS and Stata say of a column."""

from __future__ import annotations

from kveil.files.codebook import ColumnNotes
from kveil.suggestion.column_labels import column_comment, guess_with_notes
from kveil.suggestion.profile import Profile


def profile(name: str, texts: list[str], times: int = 10) -> Profile:
    return Profile(name, len(texts) * times, [(text, times) for text in texts], 0)


NUMBERS = [str(number) for number in range(20, 60)]


def test_a_description_tells_where_the_name_does_not() -> None:
    guess = guess_with_notes(profile("v1", NUMBERS), ColumnNotes(label="Age of respondent, calculated"))
    assert (guess.role, guess.name) == ("quasi-identifier", "v1")
    assert guess.reason.startswith("'age' in its description")
    assert guess.way is not None
    assert guess.way.reason.startswith("ages")
    money = guess_with_notes(profile("v2", NUMBERS), ColumnNotes(label="Household's total net income"))
    assert (money.role, money.doubtful) == ("sensitive", False)


def test_a_name_that_says_something_is_believed_first() -> None:
    guess = guess_with_notes(profile("income", NUMBERS), ColumnNotes(label="Age of respondent"))
    assert (guess.role, "in its name" in guess.reason) == ("sensitive", True)


def test_a_description_of_few_values_names_nobody() -> None:
    guess = guess_with_notes(profile("v3", ["1", "2", "3"]), ColumnNotes(label="Name of the party voted for"))
    assert guess.role != "identifier"
    unique = guess_with_notes(profile("v4", [f"x{i} y" for i in range(90)], 1), ColumnNotes(label="Name of respondent"))
    assert unique.role == "identifier"


def test_labels_of_codes_tell_also_where_some_codes_have_none() -> None:
    guess = guess_with_notes(profile("v5", ["1", "2", "9"]), ColumnNotes(values={1.0: "Male", 2.0: "Female"}))
    assert guess.role == "quasi-identifier"
    assert guess.reason.startswith("by the labels of its codes, its values are sexes")
    few = guess_with_notes(profile("v5", ["1", "2", "3", "4"]), ColumnNotes(values={1.0: "Male"}))
    assert few.role == "insensitive"


def test_a_comment_tells_what_the_file_says() -> None:
    assert column_comment(ColumnNotes()) == ""
    assert (
        column_comment(ColumnNotes(label="Side", values={1.0: "Left", 2.5: "Right"}))
        == '"Side". Codes: 1 Left, 2.5 Right.'
    )
    many = ColumnNotes(values={float(code): str(code) for code in range(9)})
    assert column_comment(many).endswith("5 5 and 3 more.")
