"""Moves, swaps, dissolved and merged groups inside a pool, each beside the twin that tries them all."""

from __future__ import annotations

from itertools import count
from typing import Any

import numba
import pytest

from called_loops import from_python
from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss import moves_loops as loops
from kveil.kernels.least_loss.moves_loops import improve, refresh
from laid_groups import BothSearches, both_searches, coded
from naive.group_search import Pool

move_rows = from_python(loops.move_rows)
dissolve = from_python(loops.dissolve)
merge_equal = from_python(loops.merge_equal)
polish = from_python(loops.polish)


@numba.njit
def refresh_all(state: Any, codes: Any, room: Any, rows: int, groups: int) -> None:
    for group in range(groups):
        refresh(state, codes, room, rows, group)


@numba.njit
def best_move(state: Any, codes: Any, room: Any, k: int, rows: int, groups: int, at: int) -> tuple[int, int]:
    refresh_all(state, codes, room, rows, groups)
    return improve(state, codes, room, k, rows, groups, at)  # type: ignore[no-any-return]


def mixed(number: int, *, diverse: bool = False) -> list[tuple[BothSearches, Pool]]:
    """Return so many searches with a pool in groups that could be better."""
    found: list[tuple[BothSearches, Pool]] = []
    for seed in count():
        if len(found) == number:
            break
        both = both_searches(seed, diverse=diverse)
        if (pool := both.mixed_pool()) is not None:
            found.append((both, pool))
    return found


def sizes(both: BothSearches, pool: Pool) -> tuple[int, int, int]:
    return both.twin.case.k, len(pool.rows), len(pool.groups)


def test_what_a_group_shows_without_each_row_is_what_covers_the_others() -> None:
    for both, pool in mixed(40):
        room = both.lay_pool(pool)
        refresh_all(both.state, both.codes, room, *sizes(both, pool)[1:])
        both.check_pool(pool, room)
        for at, row in enumerate(pool.rows):
            g = both.twin.home(pool, row)
            assert room.ints[field.ALONE, at] == both.twin.alone(pool, g)
            if not both.twin.alone(pool, g):
                shown = both.twin.cover(pool, g, without=row)
                assert shown is not None
                assert room.without[at].tolist() == coded(both.twin.case, [shown]).tolist()[0]
                assert room.longs[field.LESS, at] == both.twin.case.cost(shown)


def test_the_best_move_or_swap_of_a_row_is_the_best_of_all() -> None:
    gaining = 0
    for both, pool in mixed(40):
        room = both.lay_pool(pool)
        for at, row in enumerate(pool.rows):
            i = both.twin.home(pool, row)
            if both.twin.alone(pool, i):
                continue
            to, partner = best_move(both.state, both.codes, room, *sizes(both, pool), at)
            other = pool.rows[partner] if partner >= 0 else -1
            assert (to, other) == both.twin.best_move(pool, row, i)
            gaining += to >= 0
    assert gaining > 40


@pytest.mark.parametrize("diverse", [False, True])
def test_rows_move_and_swap_as_by_hand(diverse: bool) -> None:
    moving = 0
    for both, pool in mixed(40, diverse=diverse):
        room = both.lay_pool(pool)
        moved = move_rows(both.state, both.codes, both.models, room, *sizes(both, pool))
        assert moved == both.twin.move_rows(pool)
        both.check_pool(pool, room)
        moving += moved
    assert moving > 15


@pytest.mark.parametrize("diverse", [False, True])
def test_a_group_is_dissolved_where_the_others_take_its_rows_for_less(diverse: bool) -> None:
    dissolved = 0
    for both, pool in mixed(40, diverse=diverse):
        room = both.lay_pool(pool)
        for g in range(len(pool.groups)):
            if both.twin.size(pool, g):
                found = dissolve(both.state, both.codes, both.models, room, *sizes(both, pool), g)
                assert found == both.twin.dissolve(pool, g)
                both.check_pool(pool, room)
                dissolved += found
    assert dissolved > 2


def test_groups_that_show_the_same_are_merged() -> None:
    merged = 0
    for both, pool in mixed(40):
        before = [own.copy() for own in pool.groups]
        room = both.lay_pool(pool)
        merge_equal(room, *sizes(both, pool)[1:])
        both.twin.merge_equal(pool)
        both.check_pool(pool, room)
        merged += before != pool.groups
    assert merged > 5


@pytest.mark.parametrize("diverse", [False, True])
def test_polishing_leaves_what_the_twin_leaves_and_costs_nothing(diverse: bool) -> None:
    cheaper = 0
    for both, pool in mixed(40, diverse=diverse):
        room, before = both.lay_pool(pool), both.twin.pool_cost(pool)
        polish(both.state, both.codes, both.models, room, *sizes(both, pool))
        both.twin.polish(pool)
        both.check_pool(pool, room)
        assert both.twin.pool_cost(pool) <= before
        cheaper += both.twin.pool_cost(pool) < before
    assert cheaper > 15
