"""Attacks in sentences: shares that are never rounded to nothing, and every kind with its own words."""

from __future__ import annotations

from typing import Any

import pytest

from kveil.attacker.attacks import (
    Disclosure,
    FileJoin,
    Inconsistency,
    Linking,
    LinkingByRules,
    MissingPeople,
    RatedAttack,
    Recognition,
    Rerun,
    SeveralReleases,
)
from kveil.attacker.rate import Rate
from kveil.attacker.sentences import knowledge_in_words, names_in_words, percent, picture_line, sentence, subject

ABOUT: dict[str, Any] = {"sensitive": "s"}


def rate(share: float, *, certain: int = 0, targets: int = 10, worst: float = 0.5) -> Rate:
    return Rate(share, (0.1, 0.9), worst, certain, targets)


def known(kind: str, after: Rate | None = None) -> dict[str, Any]:
    return {
        "attack": kind,
        "attributes": ("age",),
        "knowing": "age",
        "before": rate(0.8, certain=3, worst=1.0),
        "after": rate(0.25, worst=0.25) if after is None else after,
    }


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.0, "0 %"),
        (0.00001, "under 0.01 %"),
        (0.0012, "0.12 %"),
        (0.031, "3.1 %"),
        (0.5, "50 %"),
        (0.995, "99.5 %"),
        (0.99995, "over 99.99 %"),
        (1.0, "100 %"),
    ],
)
def test_a_share_is_never_none_nor_all_where_it_is_not(share: float, words: str) -> None:
    assert percent(share) == words


def test_what_somebody_knows() -> None:
    assert knowledge_in_words(None) == "everything"
    assert knowledge_in_words(1) == "only the rarest value"
    assert knowledge_in_words(3) == "only the 3 rarest values"
    assert names_in_words("abcde", "abcde") == "all 5 quasi-identifiers"
    assert names_in_words("abcd", "abcd") == "a, b, c and d"
    assert names_in_words("abcde", "abcdef") == "a, b, c, d and e"


def test_the_prosecutor_is_told_with_the_most_exposed_and_what_nobody_promised() -> None:
    told = sentence(Linking(**known("prosecutor"), promised=False), "record", 10)
    assert "picks one of the rows that fit is right in 25 % of cases" in told
    assert "Found for certain: 3 records in the original, nobody in the release; the best chance is 1 in 4." in told
    assert told.endswith("it promises nothing against this.")
    kept = sentence(Linking(**known("prosecutor"), promised=True), "record", 1000)
    assert "promises nothing" not in kept
    assert "of 10 drawn by lot" in kept  # a part of everybody


def test_where_nothing_is_shown_there_is_nothing_to_start_from() -> None:
    nothing = rate(0.0, targets=0)
    told = sentence(Linking(**known("marketer", nothing), promised=True), "record", 10)
    assert told == "No released row shows anything of age: there is nothing to start from."
    missing = MissingPeople(**known("who is missing", nothing), sensitive="s", left_out=2)
    assert sentence(missing, "record", 10).startswith("Everybody of the 2 records left out fits")


@pytest.mark.parametrize(
    ("attack", "word", "line", "about"),
    [
        (
            Disclosure(**known("best guess"), **ABOUT, guess=0.4),
            "right for 40 %",
            "Guessing s by age",
            "s by age",
        ),
        (
            Disclosure(**known("homogeneity"), **ABOUT, guess=0.4),
            "one and the same s",
            "Reading s by age",
            "s by age",
        ),
        (Disclosure(**known("background knowledge"), **ABOUT, guess=0.4), "rule out", None, "s by age"),
        (Inconsistency(**known("inconsistency"), differing=0), "one value per attribute", None, "age"),
        (Inconsistency(**known("inconsistency"), differing=2), "The rows of 2 released persons", None, "age"),
        (
            MissingPeople(**known("who is missing"), **ABOUT, left_out=4),
            "Of 4 records left out",
            None,
            "s by age",
        ),
        (
            Recognition(**known("fingerprint"), sensitive="s", items=2),
            "only the 2 rarest values",
            "Recognizing by the 2 rarest values of s",
            "s by the rarest 2 values",
        ),
        (
            Rerun(**known("minimality"), sensitive="s", worlds=20, left=3, without=rate(0.1)),
            "on the 20 ways to give the released s to people that the release allows keeps 3",
            None,
            "s by age",
        ),
        (
            SeveralReleases(**known("several releases"), sensitive="s", releases=3, one=rate(0.2)),
            "with the newest alone for 20 %",
            "Guessing s by 3 releases",
            "s by age",
        ),
        (
            LinkingByRules(**known("dependencies"), promised=True, rules=("a -> b",), without=rate(0.1)),
            "the rule `a -> b`",
            None,
            "age",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_attack_has_its_words(attack: RatedAttack, word: str, line: str | None, about: str) -> None:
    assert word in sentence(attack, "record", 10)
    assert picture_line(attack) == line
    assert subject(attack) == about


def test_a_file_without_an_identifier_is_not_judged() -> None:
    matched = {"before": {"none": 0, "one": 7}, "after": {"none": 1, "one": 2}}
    about: dict[str, Any] = {"attack": "attacker's file", "attributes": ("age",), "knowing": "age", "matched": matched}
    unjudged = FileJoin(**about, rows=9, judged_by=None, before=None, after=None)
    told = sentence(unjudged, "record", 10)
    assert "7 of them in the original and 2 in the release" in told
    assert told.endswith("nobody can say which links are right.")
    judged = FileJoin(**about, rows=9, judged_by=("name",), before=rate(0.9), after=rate(0.2), drawn=5)
    assert "of which 5 were drawn by lot" in sentence(judged, "record", 10)
    assert "links 20 % rightly" in sentence(judged, "record", 10)
