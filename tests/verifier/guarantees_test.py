"""Shares are compared exactly, however many digits they have; distances need memory for what occurs only."""

import tracemalloc
from pathlib import Path

import polars as pl
import pytest

import kveil
from kveil.policy.model import Policy

POLICY = """
kveil: 1
attributes:
  a: {role: quasi-identifier}
  s: {role: sensitive}
privacy: [%s]
"""


def policy(model: str) -> Policy:
    return Policy.parse(POLICY % model, "policy.yaml", Path())


def release(counts: dict[str, int]) -> pl.DataFrame:
    values = [value for value, times in counts.items() for _ in range(times)]
    return pl.DataFrame({"a": ["x"] * len(values), "s": values})


@pytest.mark.parametrize("rows", [1_000, 3_000, 30_000])
def test_a_share_of_sixteen_digits_is_compared_exactly(rows: int) -> None:
    asked = policy("{model: alpha-k, sensitive: s, alpha: 0.3333333333333333, k: 2}")
    three_tenths = release({"u": 3 * rows // 10, "v": 3 * rows // 10, "w": 3 * rows // 10, "z": rows // 10})
    assert kveil.verify(three_tenths, asked).holds
    assert not kveil.verify(release({"u": rows}), asked).holds
    thirds = release({"u": rows, "v": rows, "w": rows})  # a third is more than 0.3333333333333333
    assert not kveil.verify(thirds, asked).holds


def test_l_of_many_digits_is_compared_exactly() -> None:
    asked = policy("{model: l-diversity, sensitive: s, l: 2.9999999999999999999, variant: frequency}")
    assert kveil.verify(release({"u": 1000, "v": 1000, "w": 1000}), asked).holds
    more = policy("{model: l-diversity, sensitive: s, l: 3.0000000000000000001, variant: frequency}")
    assert not kveil.verify(release({"u": 1000, "v": 1000, "w": 1000}), more).holds


def test_ordered_distances_of_many_groups_and_values_fit_into_memory() -> None:
    rows = 20_000  # 10,000 groups × 20,000 values would be 1.6 GB
    frame = pl.DataFrame({"a": [str(i // 2) for i in range(rows)], "s": [str(i) for i in range(rows)]})
    asked = policy("{model: t-closeness, sensitive: s, t: 1, distance: ordered}")
    tracemalloc.start()
    assert kveil.verify(frame, asked).holds
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300_000_000
