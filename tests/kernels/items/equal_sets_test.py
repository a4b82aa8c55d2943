"""Equal runs of values are one group, beside a dictionary."""

from __future__ import annotations

import numpy as np
import pytest

from kveil.kernels.items.partition import group_sets


@pytest.mark.parametrize("seed", range(20))
def test_runs_are_in_one_group_if_their_values_are_equal(seed: int) -> None:
    random = np.random.default_rng(seed)
    runs = [tuple(random.integers(0, 3, random.integers(0, 4)).tolist()) for _ in range(int(random.integers(0, 40)))]
    start = np.cumsum([0, *map(len, runs)]).astype(np.int64)
    values = np.array([value for run in runs for value in run], dtype=np.int32)
    member, first = group_sets(start, values)
    assert [runs[first[group]] for group in member] == runs
    assert first.tolist() == [runs.index(run) for run in dict.fromkeys(runs)]
