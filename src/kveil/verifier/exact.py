"""Comparisons of shares without rounding: whole numbers of any size."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from kveil.arrays import Bools, Longs


def above(counts: Longs, share: Fraction, sizes: Longs) -> Bools:
    """Tell for every group whether a count is more than a share of its size.

    A share such as 0.3333333333333333 has a denominator of sixteen digits, which no product of 64 bits holds beside a
    thousand members; so these are Python's own numbers.
    """
    left = counts.astype(object) * share.denominator
    right = sizes.astype(object) * share.numerator
    return np.asarray(left > right, dtype=bool)
