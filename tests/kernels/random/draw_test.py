"""Numbers drawn by chance, beside the slow way."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from kveil.kernels.random import draw_loops as loops
from naive.grouped_rows import draw


@numba.njit
def drawn(random: Any, below: Any, found: Any) -> None:
    for i in range(len(found)):
        found[i] = loops.draw(random, below[i])


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1])
def test_numbers_are_those_of_splitmix(seed: int) -> None:
    below = np.array([1, 2, 7, 1000, 2**30] * 20, dtype=np.int64)
    random, found = np.array([seed], dtype=np.uint64), np.empty(100, dtype=np.int64)
    drawn(random, below, found)
    twin = [seed]
    assert found.tolist() == [draw(twin, int(most)) for most in below]
    assert int(random[0]) == twin[0]
