"""Whoever fits no released row is seen to be missing, and may be guessed."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from kveil.attacker.attacks import MissingPeople
from kveil.attacker.missing import who_is_missing
from kveil.attacker.world import world_of
from kveil.flow.steps.inputs import table_of
from small_people import policy_of

POLICY = policy_of("[{model: k-anonymity, k: 1}]", "suppression: {limit: 1, show: star}")
ROWS = {"age": ["1", "2", "30", "50"], "city": ["Oslo", "Oslo", "Rome", "Pisa"], "sex": ["f"] * 4}


def played(illness: str, released: list[int], stars: int = 0) -> list[MissingPeople]:
    """Rows are shown as they are, but for the last ones, which are stars; the others are left out."""
    original = pl.DataFrame({**ROWS, "illness": list(illness)})
    release = original[released]
    starred = np.arange(len(released)) >= len(released) - stars
    release = release.with_columns(pl.when(pl.Series(starred)).then(pl.lit("*")).otherwise(pl.all()).name.keep())
    world = world_of(POLICY, table_of(original, POLICY), table_of(release, POLICY), np.array(released))
    return who_is_missing(world, "illness", ("age", "city"))


@pytest.mark.parametrize(("illness", "rate"), [("xxyx", 1.0), ("xxyy", 0.0)])
def test_the_guess_is_the_value_that_is_shown_most_often(illness: str, rate: float) -> None:
    (missing,) = played(illness, [0, 1, 2])
    assert (missing.left_out, missing.after.targets) == (1, 1)
    assert missing.after.rate == rate
    assert missing.after.at_most == 1.0  # the best single guess, which nobody can know
    assert missing.before.rate == illness.count("x") / 4


def test_a_star_is_no_value_that_anybody_has() -> None:
    (missing,) = played("xyyx", [0, 1, 2], stars=2)  # `*` is what the release shows most often
    assert missing.before.rate == 0.5
    assert missing.after.rate == 1.0
    assert played("xyyx", [1, 2], stars=2) == []


def test_nobody_is_missing_where_everybody_is_released() -> None:
    assert played("xxyx", [0, 1, 2, 3]) == []
