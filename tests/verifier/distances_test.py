"""Distances of t-closeness, beside slow ways of reckoning them."""

from __future__ import annotations

import numpy as np
import pytest

from kveil.verifier.distances import _work


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
