"""Disclosure by homogeneity and by best guess, beside reckoning it person by person."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

from kveil.attacker import disclose
from kveil.attacker.disclose import disclosure
from kveil.attacker.world import world_of
from kveil.flow.steps.inputs import table_of
from small_people import policy_of

POLICY = policy_of("[{model: k-anonymity, k: 1}]")


@pytest.mark.parametrize("cells", [8_000_000, 3])
@pytest.mark.parametrize("seed", range(6))
def test_a_value_is_told_where_all_who_fit_have_it(seed: int, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disclose, "CELLS", cells)
    random = np.random.default_rng(seed)
    ages = random.integers(0, 20, 12)
    illness = random.choice(list("xyz"), 12)
    original = pl.DataFrame({"age": ages.astype(str), "city": "Oslo", "sex": "f", "illness": illness})
    labels = [f"{age - age % 10}-{age - age % 10 + 9}" for age in ages.tolist()]
    release = original.with_columns(age=pl.Series(labels))
    world = world_of(POLICY, table_of(original, POLICY), table_of(release, POLICY), np.arange(12))
    played = {attack.attack: attack for attack in disclosure(world, "illness", ("age",))}
    sure = guessed = 0
    for row in range(12):
        group = Counter(illness[other] for other in range(12) if labels[other] == labels[row])
        sure += len(group) == 1
        best = min(group, key=lambda value: (-group[value], value))
        guessed += best == illness[row]
    assert played["homogeneity"].after.rate == pytest.approx(sure / 12)
    assert played["best guess"].after.rate == pytest.approx(guessed / 12)
    assert played["best guess"].guess == pytest.approx(max(Counter(illness).values()) / 12)
    assert ("background knowledge" in played) == (len(set(illness)) > 2)
    alone = sum(len({illness[o] for o in range(12) if ages[o] == ages[row]}) == 1 for row in range(12))
    assert played["homogeneity"].before.rate == pytest.approx(alone / 12)
