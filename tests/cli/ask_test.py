"""Going through guesses: Enter keeps one, a letter or a word changes it, anything else is asked again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kveil.cli import ask
from kveil.cli.ask import ask_roles
from kveil.suggestion.roles import guess_column
from profiles import column

GUESSES = [guess_column(column(values, name)) for name, values in {"flag": "yn", "id": "abc", "who": "pqr"}.items()]


def answered(monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    waiting: Iterator[str] = iter(answers)
    monkeypatch.setattr(ask.typer, "prompt", lambda *given, **more: next(waiting))
    roles = [guess.role for guess in ask_roles(GUESSES)]
    assert list(waiting) == []  # every answer was asked for
    return [str(role) for role in roles]


def test_enter_keeps_the_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answered(monkeypatch, "", " ", "") == [guess.role for guess in GUESSES]


def test_letters_and_words_change_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answered(monkeypatch, "Q", "sensitive", "p") == ["quasi-identifier", "sensitive", "individual"]


def test_what_is_no_role_and_a_second_individual_are_asked_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answered(monkeypatch, "x", "p", "p", "i", "n") == ["individual", "identifier", "insensitive"]
    out = capsys.readouterr().out
    assert out.count("i, p, q, s or n, or Enter") == 1
    assert out.count("only one can") == 1
