"""Shares compared without rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from kveil.verifier.exact import above


def test_counts_are_compared_with_shares_of_any_size() -> None:
    counts, sizes = np.array([1, 2, 3], dtype=np.int64), np.array([3, 6, 8], dtype=np.int64)
    assert above(counts, Fraction(1, 3), sizes).tolist() == [False, False, True]
    assert above(counts, Fraction(10**30 - 1, 3 * 10**30), sizes).tolist() == [True, True, True]
