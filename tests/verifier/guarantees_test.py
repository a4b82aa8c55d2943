"""Shares are compared exactly, however many digits they have; distances need memory for what occurs only."""

import tracemalloc
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kveil
from kveil.policy.model import Policy
from kveil.verifier.distances import _work
from kveil.verifier.exact import above

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


def test_counts_are_compared_with_shares_of_any_size() -> None:
    counts, sizes = np.array([1, 2, 3], dtype=np.int64), np.array([3, 6, 8], dtype=np.int64)
    assert above(counts, Fraction(1, 3), sizes).tolist() == [False, False, True]
    assert above(counts, Fraction(10**30 - 1, 3 * 10**30), sizes).tolist() == [True, True, True]


def test_work_over_ordered_values_is_what_a_table_of_all_of_them_gives() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        places, groups = int(rng.integers(1, 12)), int(rng.integers(1, 6))
        counts = rng.integers(0, 4, (groups, places))
        counts[:, 0] += counts.sum(axis=1) == 0
        reference = counts.sum(axis=0) / counts.sum()
        shares = counts / counts.sum(axis=1, keepdims=True)
        group, place = np.nonzero(counts)
        slow = np.abs(np.cumsum(shares - reference, axis=1)).sum(axis=1)
        assert _work(group, place, counts[group, place], reference) == pytest.approx(slow)


def test_ordered_distances_of_many_groups_and_values_fit_into_memory() -> None:
    rows = 20_000  # 10,000 groups × 20,000 values would be 1.6 GB
    frame = pl.DataFrame({"a": [str(i // 2) for i in range(rows)], "s": [str(i) for i in range(rows)]})
    asked = policy("{model: t-closeness, sensitive: s, t: 1, distance: ordered}")
    tracemalloc.start()
    assert kveil.verify(frame, asked).holds
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300_000_000
