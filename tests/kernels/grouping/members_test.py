"""The members of groups, beside lists; few rows and many."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kveil.kernels.grouping import members
from kveil.kernels.grouping.members import ROWS_WORTH_A_LOOP, members_by_group
from kveil.kernels.grouping.members_loops import write_members
from naive.members import members_by_group as members_as_lists
from strategies import examples


@pytest.fixture(params=["sorted", "counted"], autouse=True)
def _both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "counted":
        monkeypatch.setattr(members, "ROWS_WORTH_A_LOOP", 0)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("counted", [False, True])
@given(st.integers(0, 10**6), st.integers(0, 40), st.integers(1, 8))
@examples(30)
def test_members_are_those_of_lists(kind: type, counted: bool, seed: int, rows: int, groups: int) -> None:
    group = np.random.default_rng(seed).integers(0, groups, rows).astype(kind)
    number = groups if counted else int(group.max(initial=-1)) + 1
    found = members_by_group(group, groups) if counted else members_by_group(group)
    expected = members_as_lists(group.tolist(), number)
    assert [own.tolist() for own in found.split()] == expected
    assert [found.of(own).tolist() for own in range(number)] == expected
    assert found.starts.tolist() == [0, *accumulate(len(own) for own in expected)]
    assert found.rows.dtype == found.starts.dtype == np.int64
    assert [own.tolist() for own in found.without_empty().split()] == [own for own in expected if own]


def test_nobody_is_in_no_group() -> None:
    nobody = members_by_group(np.zeros(0, dtype=np.int32))
    assert (nobody.rows.tolist(), nobody.starts.tolist(), nobody.split()) == ([], [0], [])
    assert nobody.without_empty().split() == []


@pytest.mark.parametrize("groups", [3, 70_000])
def test_many_rows_are_in_the_order_of_a_stable_sort(groups: int) -> None:
    group = np.random.default_rng(groups).integers(0, groups, ROWS_WORTH_A_LOOP + 5).astype(np.int32)
    found = members_by_group(group, groups)
    assert np.array_equal(found.rows, np.argsort(group, kind="stable"))
    assert np.array_equal(found.starts, np.searchsorted(np.sort(group), np.arange(groups + 1)))


@pytest.mark.parametrize("wrong", [-1, 2])
def test_a_group_that_is_none_is_refused(wrong: int) -> None:
    with pytest.raises(ValueError, match=r"negative|wrong size"):
        members_by_group(np.array([0, wrong, 1], dtype=np.int32), 2)


def test_rows_are_written_to_the_places_of_their_groups() -> None:
    place, rows = np.array([0, 2], dtype=np.int64), np.empty(3, dtype=np.int64)
    write_members(np.array([1, 0, 0], dtype=np.int32), place, rows)
    assert rows.tolist() == [1, 2, 0]
    assert place.tolist() == [2, 3]
