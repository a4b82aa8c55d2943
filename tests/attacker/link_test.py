"""Linking people to rows, on a release small enough to reckon by hand."""

from __future__ import annotations

import numpy as np
import pytest

from kveil.attacker.link import chances, chances_before, knowledge, linking, most_targets
from small_world import NAMES, world


def test_chances_are_one_in_those_who_fit() -> None:
    own = world()
    known = knowledge(own, NAMES, np.arange(4))
    found, most = chances(own, known, own.hidden(NAMES))
    assert found.tolist() == [0.5, 0.5, 1.0, 0.0]  # of rows of stars there is one, where nothing else fits
    assert most.tolist() == [0.5, 0.5, 1.0, 0.0]
    assert chances_before(own, NAMES, np.arange(4)).tolist() == [1.0] * 4


def test_three_attackers_are_played() -> None:
    played = {attack.attack: attack for attack in linking(world(), NAMES)}
    assert set(played) == {"prosecutor", "journalist", "marketer"}
    assert played["prosecutor"].after.rate == pytest.approx(2 / 3)  # of those who are released
    assert played["marketer"].after.rate == pytest.approx(0.5)
    assert played["journalist"].after.rate == pytest.approx(0.5)
    assert all(attack.promised and attack.before.rate == 1.0 for attack in played.values())


def test_a_large_game_is_played_on_a_sample() -> None:
    assert most_targets(10, 2) > most_targets(10**6, 2) >= 1000
    assert most_targets(10**12, 5) == 1000
