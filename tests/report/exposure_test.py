"""What stands out among attacks: the one that succeeds most, and why a guess can still be right."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import kveil
from kveil.attacker.play import play
from kveil.frames import from_frame
from kveil.report.exposure import worst_attack
from support import columns_of, make_policy


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
