"""Words of names of columns."""

from __future__ import annotations

import pytest

from kveil.suggestion.vocabulary import hit, without_accents, words_of


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("patientNbr", ["patient", "nbr"]),
        ("patient_nbr", ["patient", "nbr"]),
        ("Prénom", ["prenom"]),
        ("ICD9 code", ["icd9", "code"]),
        ("Date of birth (ISO)", ["date", "of", "birth", "iso"]),
        ("ZIP", ["zip"]),
        ("--", []),
    ],
)
def test_a_name_is_words(name: str, words: list[str]) -> None:
    assert words_of(name) == words


def test_accents_are_taken_off() -> None:
    assert without_accents("Élève, Größe, señor") == "Eleve, Große, senor"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["zip", "code"], "zipcode"),  # all words in one come first
        (["home", "zip"], "zip"),
        (["zip2"], "zip"),
        (["zipper"], None),
        ([], None),
    ],
)
def test_a_word_of_a_name_is_looked_up(words: list[str], found: str | None) -> None:
    assert hit(words, {"zipcode", "zip"}) == found
