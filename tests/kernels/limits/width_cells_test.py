"""Cells of numbers with a largest width, beside every division there is."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kveil.kernels.limits.width_cells import choose_cells
from naive.k_member import best_cells
from strategies import examples


@given(data=st.data())
@examples(200)
def test_cells_are_the_best_of_all_divisions(data: st.DataObject) -> None:
    numbers = sorted(data.draw(st.sets(st.integers(0, 30), min_size=1, max_size=9)))
    values = [Fraction(number, 2) for number in numbers]
    counts = [data.draw(st.integers(1, 4)) for _ in values]
    k, widest = data.draw(st.integers(1, 8)), Fraction(data.draw(st.integers(0, 14)), 2)
    step = data.draw(st.sampled_from([None, Fraction(1), Fraction(3, 2), Fraction(5)]))
    reach = []
    for low in range(len(values)):
        high = low
        while high + 1 < len(values) and best_width(values[low], values[high + 1], step) <= widest:
            high += 1
        reach.append(high)
    cell = choose_cells(
        np.array([0, len(values)]),
        np.arange(len(values), dtype=np.int32),
        np.array(counts, dtype=np.int64),
        np.array(reach, dtype=np.int32),
        k,
    )
    edges = [0, *(i for i in range(1, len(values)) if cell[i] != cell[i - 1]), len(values)]
    assert list(pairwise(edges)) == best_cells(values, counts, k, widest, step)


def best_width(low: Fraction, high: Fraction, step: Fraction | None) -> Fraction:
    if step is not None and low < high:
        low, high = low // step * step, -(-high // step) * step
    return high - low
