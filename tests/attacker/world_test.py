"""The original and the release, row beside row."""

from __future__ import annotations

import numpy as np
import polars as pl

from kveil.attacker.world import World, world_of
from kveil.flow.inputs import table_of
from small_people import policy_of

TWO = "[{model: k-anonymity, attributes: [age, city], k: 1}, {model: k-anonymity, attributes: [sex], k: 1}]"
POLICY = policy_of(TWO, "suppression: {limit: 1, show: star}")
NAMES = ("age", "city")


def world() -> World:
    """Four people; the first two look alike, the third shows stars, the fourth is left out."""
    places = {"age": ["1", "2", "30", "50"], "city": ["Oslo", "Oslo", "Rome", "Pisa"]}
    original = pl.DataFrame({**places, "sex": ["f"] * 4, "illness": list("xyxx")})
    release = pl.DataFrame(
        {"age": ["0-4", "0-4", "*"], "city": ["Oslo", "Oslo", "*"], "sex": ["f", "f", "*"], "illness": ["x", "y", "*"]}
    )
    return world_of(POLICY, table_of(original, POLICY), table_of(release, POLICY), np.arange(3))


def test_a_world_knows_who_is_where() -> None:
    own = world()
    assert (own.people, own.noun) == (4, "record")
    assert own.row_of.tolist() == [0, 1, 2, -1]
    assert own.hidden(NAMES).tolist() == [False, False, True]
    assert own.equal("before", NAMES).sizes.tolist() == [1, 1, 1, 1]
    assert sorted(own.equal("after", NAMES).sizes.tolist()) == [1, 2]
    assert own.promises(NAMES)
    assert not own.promises(("age", "sex"))
    assert own.items_before["illness"].rows() == [(0, "x"), (1, "y"), (2, "x"), (3, "x")]
    assert own.sample(10).tolist() == [0, 1, 2, 3]
    assert len(own.sample(2)) == 2
    assert own.sample(2).tolist() == own.sample(2).tolist()  # by the policy's seed
    assert own.sample(1, among=np.array([3])).tolist() == [3]
