"""People recognized by what they have, beside looking at everybody's set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from kveil.attacker.fingerprints import _indexed, play_fingerprints
from kveil.attacker.world import world_of
from kveil.flow.steps.inputs import table_of
from kveil.policy.model import Policy

TEXT = """
kveil: 1
attributes:
  who: {role: individual}
  a: {role: quasi-identifier}
  s: {role: sensitive, hierarchy: {tree: {"*": {X: [x1, x2], Y: [y1, y2]}}}}
privacy: [{model: k-anonymity, k: 1}, {model: kl-diversity, sensitive: s, k: 1, l: 1}]
"""
POLICY = Policy.parse(TEXT, "policy.yaml", Path())
ABOVE = {"x1": "X", "x2": "X", "y1": "Y", "y2": "Y"}


@pytest.mark.parametrize("seed", range(6))
def test_whoever_knows_everything_finds_those_who_show_what_covers_it(seed: int) -> None:
    random = np.random.default_rng(seed)
    sets = [sorted(random.choice(list(ABOVE), random.integers(1, 4), replace=False).tolist()) for _ in range(8)]
    general = [random.random() < 0.5 for _ in sets]
    shown = [sorted({ABOVE[i] for i in own}) if up else own for own, up in zip(sets, general, strict=True)]
    records = [(f"p{i}", "u", item) for i, own in enumerate(sets) for item in own]
    original = pl.DataFrame(records, schema=["who", "a", "s"], orient="row")
    release = pl.DataFrame({"a": ["u"] * 8, "s": ["|".join(own) for own in shown]})
    world = world_of(POLICY, table_of(original, POLICY), table_of(release, POLICY), np.arange(8))
    (found,) = play_fingerprints(world, "s", [None])

    def fits(labels: list[str], items: list[str]) -> bool:
        covered = all(item in labels or ABOVE[item] in labels for item in items)
        founded = all(label in items or label in {ABOVE[item] for item in items} for label in labels)
        return covered and founded

    before = [1 / sets.count(own) for own in sets]
    after = [1 / sum(fits(labels, own) for labels in shown) for own in sets]
    assert found.before.rate == pytest.approx(np.mean(before))
    assert found.after.rate == pytest.approx(np.mean(after))


def test_an_index_is_as_long_as_the_items_whatever_the_sets() -> None:
    sets = [np.array([i, i + 1], dtype=np.int64) for i in range(2_000)]
    index = _indexed(sets, 2_001)
    room = sum(own.nbytes for own in (index.of_row, index.weights, index.lengths, index.starts, index.holders))
    assert room < 40 * 4_000  # sets times members would be four million
    assert np.flatnonzero(index.holding([7]) > 0).tolist() == [6, 7]
    assert np.flatnonzero(index.holding([7, 8]) == 2).tolist() == [7]
