"""What stands out among attacks: the one that succeeds most, and why a guess can still be right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import kveil
from kveil.attacker.attacks import Attack, Attacks, Disclosure, Linking
from kveil.attacker.play import play
from kveil.attacker.rate import Rate
from kveil.frames import from_frame
from kveil.report.exposure import why_guesses_succeed, worst_attack
from support import QUASI, columns_of, make_policy


def test_the_headline_has_the_attack_that_succeeds_most() -> None:
    policy = make_policy()
    frame = pl.DataFrame(columns_of())
    result = kveil.anonymize(frame, policy, "mondrian")
    attacks = play(policy, from_frame(frame), from_frame(result.data), result.owner.rows)
    worst = worst_attack(attacks)
    assert worst is not None
    rates = [attack.after.rate for attack in attacks.attacks if getattr(attack, "after", None) and attack.after.targets]
    assert worst.after == max(rates) > min(rates)
    assert worst.others == len(rates) - 1


def test_a_guess_at_a_diverse_column_is_explained(tmp_path: Path) -> None:
    privacy = [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "sensitive": "diagnosis", "l": 2}]
    result = kveil.anonymize(pl.DataFrame(columns_of()), make_policy(privacy=privacy), "mondrian")
    result.report(tmp_path / "r.html")
    text = " ".join((tmp_path / "r.html").read_text(encoding="utf-8").split())
    assert "Why a guess can be right" in text
    assert "2 different values in every group may be nearly all the same one" in text


def rate(share: float, targets: int = 10) -> Rate:
    return Rate(share, (0.0, 1.0), share, 0, targets)


def linking(after: Rate) -> Linking:
    return Linking(attack="prosecutor", attributes=("a",), knowing="a", before=rate(1.0), after=after, promised=True)


def guessing(after: Rate, sensitive: str = "s") -> Disclosure:
    known = {"attributes": ("a",), "knowing": "a", "before": rate(0.9), "after": after}
    return Disclosure(attack="best guess", sensitive=sensitive, guess=0.4, **known)  # type: ignore[arg-type]


def played(*attacks: Attack) -> Attacks:
    return Attacks("", "records", 10, 10, attacks)


def test_of_equals_the_first_that_was_played_stands_out() -> None:
    worst = worst_attack(played(linking(rate(0.2)), guessing(rate(0.7)), guessing(rate(0.7), "t")))
    assert worst is not None
    assert (worst.told, worst.before, worst.after, worst.guess) == ("Guessing s by a", 0.9, 0.7, 0.4)
    assert worst.others == 2


def test_a_guess_that_is_right_without_any_row_does_not_stand_out() -> None:
    frequent = replace(guessing(rate(0.953)), guess=0.95)
    worst = worst_attack(played(linking(rate(0.2)), frequent))
    assert worst is not None
    assert (worst.after, worst.guessed) == (0.2, True)
    alone = worst_attack(played(frequent))
    assert alone is not None
    assert (alone.after, alone.guessed) == (0.953, False)


def test_an_attack_without_targets_is_none() -> None:
    assert worst_attack(played()) is None
    assert worst_attack(played(linking(rate(1.0, targets=0)))) is None
    worst = worst_attack(played(linking(rate(1.0, targets=0)), linking(rate(0.1))))
    assert worst is not None
    assert (worst.after, worst.others, worst.guess) == (0.1, 0, None)


@pytest.mark.parametrize(
    ("model", "word"),
    [
        ({"model": "l-diversity", "l": 3}, "3 different values in every group"),
        ({"model": "l-diversity", "l": 3, "variant": "entropy"}, "`variant: entropy` bounds"),
        ({"model": "t-closeness", "t": 0.3}, "up to 0.3"),
        ({"model": "p-sensitive", "p": 2}, "2 different values in every group"),
    ],
)
def test_why_a_guess_is_right_is_what_the_model_leaves_possible(model: dict[str, object], word: str) -> None:
    policy = make_policy({"a": QUASI, "s": "sensitive", "t": "sensitive"}, privacy=[{**model, "sensitive": "s"}])
    (told,) = why_guesses_succeed(policy, played(guessing(rate(0.5)), guessing(rate(0.75)), guessing(rate(0.9), "t")))
    assert told.startswith("A guess at s is right for 75 %, though it is protected: ")  # the best of both guesses
    assert word in told
    assert "right for 40 % already" in told
    assert why_guesses_succeed(policy, played(guessing(rate(0.5, targets=0)))) == []
