"""Words that sentences are made of."""

from __future__ import annotations

import pytest

from kveil.words import (
    PROMISES,
    count,
    did_you_mean,
    listing,
    model_in_words,
    plural_of,
    promise_in_words,
    row_noun,
    visible,
)


@pytest.mark.parametrize(
    ("found", "hint"),
    [
        ("K-Anonymity", "; did you mean 'k-anonymity'?"),
        ("mondrain", "; did you mean 'mondrian'?"),
        ("mon", "; did you mean 'mondrian'?"),
        ("xyz", ""),
    ],
)
def test_the_nearest_name_is_a_hint(found: str, hint: str) -> None:
    assert did_you_mean(found, ["k-anonymity", "mondrian"]) == hint


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (list("abc"), "a, b and c"),
        (list("abcde"), "a, b, c and 2 more"),
    ],
)
def test_lists_are_english_and_cut(items: list[str], text: str) -> None:
    assert listing(items, 3) == text
    assert listing(["a", "b"], last="or") == "a or b"


def test_numbers_have_their_noun() -> None:
    assert (count(1, "record"), count(2000, "record"), count(0, "record")) == ("1 record", "2,000 records", "0 records")
    assert count(2, "index", "indices") == "2 indices"


def test_rows_are_records_or_people_in_every_sentence() -> None:
    assert [count(number, row_noun(people=True)) for number in (1, 2)] == ["1 person", "2 people"]
    assert [count(number, row_noun(people=False)) for number in (1, 2)] == ["1 record", "2 records"]
    assert [plural_of(row_noun(people=people)) for people in (False, True)] == ["records", "people"]


def test_models_are_told_with_their_settings_and_without_figures() -> None:
    guarantee = {
        "model": "kl-diversity",
        "sensitive": ["s", "t"],
        "k": 2,
        "attributes": ["a"],
        "worst": 3,
        "holds": True,
    }
    assert model_in_words(guarantee) == "kl-diversity (sensitive s, t, k 2)"


@pytest.mark.parametrize("model", PROMISES)
def test_every_promise_is_a_sentence_without_holes(model: str) -> None:
    settings = {
        "k": 2,
        "l": 3,
        "p": 4,
        "alpha": 0.5,
        "t": 0.2,
        "m": 2,
        "sensitive": ["s", "t"],
        "attributes": ["a", "b"],
    }
    told = promise_in_words({"model": model, **settings}, "records")
    assert "{" not in told
    assert "[" not in told


def test_a_terminal_is_told_nothing_that_it_would_obey() -> None:
    assert visible("plain\n\ttext ü") == "plain\n\ttext ü"
    assert visible("a\x1b[31mb\u202ec") == "a\\x1b[31mb\\u202ec"
