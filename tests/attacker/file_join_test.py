"""An attacker's file with more rows than can be afforded is looked at in part."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from kveil.attacker import file_join
from kveil.attacker.file_join import attackers_file
from kveil.attacker.world import world_of
from kveil.errors import DataError
from kveil.flow.steps.inputs import table_of
from kveil.frames import from_frame
from small_people import people, policy_of

POLICY = policy_of("[{model: k-anonymity, k: 1}]")


def test_no_more_rows_are_matched_than_can_be_afforded(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = people(10)
    table = table_of(frame, POLICY)
    world = world_of(POLICY, table, table, np.arange(10))
    theirs = from_frame(pl.concat([frame.select("age", "city")] * 4))
    whole = attackers_file(world, table, theirs)
    assert (whole.rows, whole.drawn) == (40, None)
    assert whole.matched["before"]["none"] == 0
    matched: list[int] = []
    matches = file_join.matches

    def watched(clues: list, asked: int, weights: np.ndarray) -> np.ndarray:
        matched.append(asked)
        return matches(clues, asked, weights)

    monkeypatch.setattr(file_join, "most_targets", lambda groups, columns: 7)
    monkeypatch.setattr(file_join, "matches", watched)
    drawn = attackers_file(world, table, theirs)
    assert (drawn.rows, drawn.drawn) == (40, 7)
    assert matched[0] <= 7


def test_a_file_without_a_quasi_identifier_is_refused() -> None:
    table = table_of(people(4), POLICY)
    world = world_of(POLICY, table, table, np.arange(4))
    with pytest.raises(DataError, match="none of the quasi-identifiers age, city and sex"):
        attackers_file(world, table, from_frame(pl.DataFrame({"club": ["chess"]})))
