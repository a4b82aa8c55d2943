"""Rows that join clusters after they are made: every model goes on holding, and no cluster is counted anew for each."""

from __future__ import annotations

from time import process_time

import numpy as np
import polars as pl

import kveil
from kveil.flow.verify import verify
from support import QUASI


def test_many_rows_are_placed_in_seconds_and_every_model_holds() -> None:
    draw = np.random.default_rng(0)
    rows = 20_000
    frame = pl.DataFrame(
        {
            "x": draw.integers(0, 400, rows).astype(str),
            "y": draw.integers(0, 40, rows).astype(str),
            # One value is in a third of the rows, the most that the model allows: many clusters cannot take one more.
            "s": draw.choice(list("aaaabbccddefgh"), rows),
        }
    )
    ranges = {name: {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 400]}}} for name in "xy"}
    share = {"model": "l-diversity", "variant": "frequency", "sensitive": "s", "l": 3}
    policy = kveil.Policy(
        attributes={**ranges, "s": {"role": "sensitive"}},
        privacy=[{"model": "k-anonymity", "k": 5}, share],
        algorithm="pk-clustering",
        suppression={"limit": 0.5},
    )
    kveil.anonymize(frame.head(500), policy)  # what is compiled, or loaded, is not counted
    begun = process_time()
    result = kveil.anonymize(frame, policy)
    assert process_time() - begun < 30  # rows times clusters take minutes; this takes a second or two
    assert verify(result.data, policy, original=frame, owner=result.owner).findings == []
