"""Grouping equal rows, beside a dictionary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kveil.kernels.grouping.equal_rows import (
    add_up,
    drop_rare,
    group_each,
    group_rows,
    sample_of_groups,
)
from kveil.kernels.threads import MANY_ROWS
from strategies import examples

# Cells that a few bits hold, cells below zero, and cells too wide for one word per row: these rows are hashed.
CELLS = [(0, 2), (-3, 3), (-(2**31), 2**31 - 1)]


def columns_of(seed: int, width: int, rows: int, kind: int) -> np.ndarray:
    """Columns in which rows repeat: drawn from a few values between the ends that their kind has."""
    draw = np.random.default_rng(seed)
    lowest, highest = CELLS[kind]
    values = draw.integers(lowest, highest, 3, dtype=np.int32, endpoint=True)
    return values[draw.integers(0, 3, (width, rows))]


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(0, 60), st.sampled_from(range(len(CELLS))))
@examples(60)
def test_rows_are_in_one_group_if_they_are_equal(seed: int, width: int, rows: int, kind: int) -> None:
    columns = columns_of(seed, width, rows, kind)
    member, first = group_rows(columns)
    as_rows = [tuple(row) for row in columns.T.tolist()]
    shown = [as_rows[row] for row in first.tolist()]
    assert [shown[group] for group in member.tolist()] == as_rows
    assert len(set(shown)) == len(shown)
    assert first.tolist() == [as_rows.index(row) for row in shown]


@pytest.mark.parametrize("rows", [0, 20, MANY_ROWS])
@pytest.mark.parametrize("kind", range(len(CELLS)))
def test_rows_are_grouped_over_some_columns_as_if_there_were_no_others(rows: int, kind: int) -> None:
    columns, several = columns_of(kind, 4, rows, kind), [[2], [3, 0, 1], [1, 2], [0, 1, 2, 3]]
    for (member, first), over in zip(group_each(columns, several), several, strict=True):
        own = group_rows(columns[over])
        assert np.array_equal(member, own[0])
        assert np.array_equal(first, own[1])
    assert group_each(columns, []) == []


@pytest.mark.parametrize("kind", range(len(CELLS)))
def test_many_rows_are_grouped_part_by_part_as_few_are(kind: int) -> None:
    draw = np.random.default_rng(kind)
    lowest, highest = CELLS[kind]
    values = draw.integers(lowest, highest, 30, dtype=np.int32, endpoint=True)
    columns = values[draw.integers(0, 30, (3, 40_000))]  # above 2¹⁴ rows the hashes are dealt into parts
    member, first = group_rows(columns)
    numbers: dict[tuple[int, ...], int] = {}
    for row, group in zip(columns.T.tolist(), member.tolist(), strict=True):
        assert numbers.setdefault(tuple(row), group) == group
    assert sorted(numbers.values()) == list(range(len(first)))


@given(st.integers(0, 10**6), st.integers(0, 60), st.integers(1, 8))
@examples(30)
def test_weights_are_added_up_by_group(seed: int, rows: int, groups: int) -> None:
    draw = np.random.default_rng(seed)
    group, weights = draw.integers(0, groups, rows, dtype=np.int32), draw.integers(0, 2**40, rows)
    expected = [
        sum(w for g, w in zip(group.tolist(), weights.tolist(), strict=True) if g == own) for own in range(groups)
    ]
    assert add_up(group, weights, groups).tolist() == expected


@given(st.integers(0, 10**6), st.integers(0, 60), st.integers(1, 8), st.integers(1, 20))
@examples(60)
def test_rows_of_small_groups_are_dropped(seed: int, rows: int, groups: int, k: int) -> None:
    draw = np.random.default_rng(seed)
    group, weights = draw.integers(0, groups, rows, dtype=np.int32), draw.integers(0, 4, rows)
    alive = draw.random(rows) < 0.8
    told = list(zip(group.tolist(), weights.tolist(), alive.tolist(), strict=True))
    sizes = [sum(weight for own, weight, lives in told if lives and own == g) for g in range(groups)]
    expected = [lives and (sizes[g] == 0 or sizes[g] >= k) for g, _, lives in told]
    assert drop_rare(group, groups, weights, k, alive) == sum(lives for _, _, lives in told) - sum(expected)
    assert alive.tolist() == expected


@given(st.integers(0, 10**6), st.integers(1, 400), st.integers(0, 3))
@examples(30)
def test_a_sample_takes_equal_rows_all_together_or_not_at_all(seed: int, rows: int, bits: int) -> None:
    columns = columns_of(seed, 4, rows, 1)
    taken = set(sample_of_groups(columns, bits).tolist())
    as_rows = [tuple(row) for row in columns.T.tolist()]
    shown = {as_rows[row] for row in taken}
    assert taken == {row for row, cells in enumerate(as_rows) if cells in shown}
    if bits == 0:
        assert len(taken) == rows


def test_a_sample_is_about_as_large_as_asked_for() -> None:
    columns = np.random.default_rng(5).integers(0, 1_000, (3, 50_000), dtype=np.int32)  # nearly all different
    assert 0.9 < len(sample_of_groups(columns, 3)) / (50_000 / 8) < 1.1
