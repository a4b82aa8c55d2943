"""The best set of a node, beside all rows written out; sums over kept nodes are tested through `bound`."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kveil.kernels.bound.kept_loops import best_set
from kveil.kernels.bound.layout import new_fill_room
from strategies import examples


@numba.njit
def find_best(*given: Any) -> int:
    return best_set(*given)


TUPLES = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 4)), min_size=1, max_size=9)


@given(TUPLES, st.integers(0, 12), st.integers(0, 6), st.integers(1, 8))
@examples(120)
def test_the_best_set_is_the_highest_rows_down_to_the_cost_or_k(
    tuples: list[tuple[int, int]], cost: int, toll: int, k: int
) -> None:
    price, weight = (np.array(own, dtype=np.int64) for own in zip(*tuples, strict=True))
    members = np.arange(len(tuples), dtype=np.int32)
    rows = sorted(((int(p) - cost, -t) for t, p in enumerate(price) for _ in range(weight[t])), reverse=True)
    number = max(k, sum(gain > 0 for gain, _ in rows))
    pays = sum(gain for gain, _ in rows[:number]) - toll
    used = np.zeros(len(tuples), dtype=np.int64)
    found = int(find_best(members, 0, len(members), cost, toll, weight, price, k, used, new_fill_room(k)))
    if len(rows) < k:
        assert found <= 0
        assert not used.any()
    elif pays > 0:
        assert found == pays
        assert used.tolist() == [sum(-t == i for _, t in rows[:number]) for i in range(len(tuples))]
    else:
        assert pays <= found <= 0
        assert not used.any()
