"""An original and a release small enough to reckon by hand, as an attacker sees them; no test."""

from __future__ import annotations

import numpy as np
import polars as pl

from kveil.attacker.world import World, world_of
from kveil.flow.steps.inputs import table_of
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
