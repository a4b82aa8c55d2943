"""From guesses to a policy: what follows from what is seen, also in a wide table, and in no more than seconds."""

from __future__ import annotations

from time import process_time

import numpy as np
import polars as pl

from kveil.frames import from_frame
from kveil.suggestion.propose import suggest


def test_a_wide_table_is_looked_at_without_counting_every_pair_of_columns_in_all_rows() -> None:
    draw = np.random.default_rng(0)
    frame = pl.DataFrame({f"c{i}": draw.integers(0, 8 + i, 40_000).astype(str) for i in range(80)})
    begun = process_time()
    assert len(suggest(from_frame(frame)).guesses) == 80
    assert process_time() - begun < 20  # 6,400 counts of pairs take longer; this takes one or two


def test_a_column_that_follows_from_a_quasi_identifier_is_one_too_and_the_rule_is_told() -> None:
    draw = np.random.default_rng(1)
    ages, zips = draw.integers(20, 60, 400), draw.integers(0, 40, 400)
    frame = pl.DataFrame(
        {
            "age": ages.astype(str),
            "zip": [f"{10000 + code}" for code in zips],
            "region": [f"region {code // 8}" for code in zips],
            "note": [f"{i} {ages[i]}" for i in range(400)],
        }
    )
    found = suggest(from_frame(frame))
    assert ("zip", "region") in found.follows
    assert "region" in found.with_role("quasi-identifier")
    assert ("age", "region") not in found.follows
