"""Which children of a node become parts, and how many rows each keeps."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from kveil.kernels.least_loss import start_loops as loops


@numba.njit
def call_plan(counts: Any, kept: Any, rest: int, k: int) -> int:
    return loops.plan(counts, kept, len(counts), rest, k)


def slowly(counts: list[int], rest: int, k: int) -> tuple[list[int], int]:
    kept = [number if number >= k else 0 for number in counts]
    rest += sum(counts) - sum(kept)
    while 0 < rest < k and any(kept):
        if sum(number - k for number in kept if number) >= k - rest:
            while rest < k:
                largest = kept.index(max(kept))
                give = min(k - rest, kept[largest] - k)
                kept[largest] -= give
                rest += give
        else:
            smallest = min((number, b) for b, number in enumerate(kept) if number)[1]
            rest += kept[smallest]
            kept[smallest] = 0
    return kept, rest


@pytest.mark.parametrize("seed", range(200))
def test_rows_are_planned_as_by_hand_and_none_is_lost(seed: int) -> None:
    random = np.random.default_rng(seed)
    counts = random.integers(0, 9, int(random.integers(1, 6)))
    rest, k = int(random.integers(0, 5)), int(random.integers(1, 6))
    kept = np.empty(len(counts), dtype=np.int64)
    left = call_plan(counts, kept, rest, k)
    assert (kept.tolist(), left) == slowly(counts.tolist(), rest, k)
    assert int(kept.sum()) + left == int(counts.sum()) + rest
    assert all(number == 0 or number >= k for number in kept)
    assert left == 0 or left >= k or not kept.any()
