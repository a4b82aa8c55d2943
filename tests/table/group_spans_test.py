"""The span of leaves that every group covers."""

from __future__ import annotations

import numpy as np
import pytest

from kveil.table.group_spans import group_spans


@pytest.mark.parametrize("seed", range(5))
def test_a_span_reaches_from_the_lowest_leaf_of_a_group_to_its_highest(seed: int) -> None:
    random = np.random.default_rng(seed)
    group = random.integers(0, 6, 20).astype(np.int32)
    low = random.integers(0, 50, 20).astype(np.int32)
    high = (low + random.integers(0, 9, 20)).astype(np.int32)
    lowest, highest = group_spans(group, 8, low, high)
    for g in range(8):
        members = np.flatnonzero(group == g)
        if len(members):
            assert (lowest[g], highest[g]) == (min(low[members]), max(high[members]))
        else:
            assert highest[g] == -1 < lowest[g]
