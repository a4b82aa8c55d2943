"""Sorting pairs, beside Python's own."""

from __future__ import annotations

import numba
import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from kveil.arrays import Longs
from kveil.kernels.sorting.sorting_loops import sort_pairs
from strategies import examples


@numba.njit
def call_sort_pairs(keys: Longs, others: Longs, number: int) -> None:
    sort_pairs(keys, others, number)


@given(st.integers(0, 10**6), st.integers(0, 50), st.integers(0, 20))
@example(1, 5_000, 100)  # gaps above the longest of the list
@examples(60)
def test_the_first_pairs_are_sorted_by_key_and_then_by_the_other(seed: int, number: int, more: int) -> None:
    draw = np.random.default_rng(seed)
    keys, others = draw.integers(-3, 4, number + more), draw.integers(-2, 3, number + more)
    pairs = list(zip(keys.tolist(), others.tolist(), strict=True))
    call_sort_pairs(keys, others, number)
    assert list(zip(keys.tolist(), others.tolist(), strict=True)) == sorted(pairs[:number]) + pairs[number:]
