"""Models over one sensitive value per row, laid out as the loops read them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kveil.kernels.models.layout import AT_LEAST_K, DISTINCT, FREQUENCY, Needs, SensitiveCodes


def needs_of(k: int, different: int, most_share: tuple[int, int] = (1, 1)) -> Needs:
    """Ask for k rows, so many different values, and no value in more than a share (numerator, denominator) of them."""
    above, below = most_share
    return Needs(
        np.array([AT_LEAST_K, DISTINCT, FREQUENCY], dtype=np.int32),
        np.zeros(3, dtype=np.int32),
        np.array([k, 1, 1], dtype=np.int64),
        np.array([1, different, below], dtype=np.int64),
        np.array([1, 1, above], dtype=np.int64),
        np.zeros(3),
    )


def at_least(k: int) -> Needs:
    """Ask for k rows and nothing else."""
    return Needs(*(column[:1] for column in needs_of(k, 1)))


def values_of(values: Sequence[int], weights: Sequence[int]) -> SensitiveCodes:
    """Lay one value per row, which stands for so many rows, end to end."""
    rows, known = len(values), max(values, default=0) + 1
    return SensitiveCodes(
        np.arange(rows + 1, dtype=np.int64)[None, :],
        np.array(values, dtype=np.int32),
        np.array(weights, dtype=np.int64),
        np.array([known], dtype=np.int32),
        np.zeros((1, known + 1)),
        np.full((1, known + 1, 1), -1, dtype=np.int32),
        np.zeros((1, 1)),
        np.zeros((1, 1)),
    )
