"""Which groups are near a row, which of them are chosen, and which of their rows go into a pool, beside the twin."""

from __future__ import annotations

import numpy as np
import pytest

from called_loops import from_python
from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss import neighbourhood_loops as loops
from kveil.kernels.least_loss.neighbours import pool_room
from laid_groups import both_searches, coded

SEEDS = range(40)
costly_row = from_python(loops.costly_row)
nearest = from_python(loops.nearest)
choose = from_python(loops.choose)
gather = from_python(loops.gather)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_costliest_of_some_rows_is_drawn(seed: int) -> None:
    both = both_searches(seed)
    for _ in range(3):
        assert costly_row(both.state) == both.twin.costly_row()
        assert both.state.random[0] == both.twin.random[0]


def test_no_row_is_drawn_where_none_costs_anything() -> None:
    both = both_searches(0)
    both.state.cost[:] = 0
    both.twin.shown = dict.fromkeys(both.twin.alive, both.twin.case.rows[0])
    assert costly_row(both.state) == both.twin.costly_row() == -1
    assert both.state.random[0] == both.twin.random[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_nearest_groups_are_those_found_by_scoring_all_and_some_of_them_are_chosen(seed: int) -> None:
    both = both_searches(seed)
    twin, near = both.twin, np.zeros((2, field.NEAR_GROUPS), dtype=np.int32)
    twin.seed = both.chance.randrange(len(twin.case.rows))
    listed = nearest(both.state, both.codes, pool_room(both.state, 60), twin.seed, twin.case.k, near)
    twin.listed = twin.nearest()
    assert near[field.LISTED, :listed].tolist() == twin.listed
    for gone in twin.listed[1:2]:  # a group that a try in between has taken apart
        both.state.groups[field.SIZE, gone] = 0
        twin.alive.remove(gone)
    most = both.chance.randint(2, field.MOST_GROUPS)
    number = choose(both.state, twin.seed, listed, most, near)
    assert near[field.CHOSEN, :number].tolist() == twin.choose(most)
    assert both.state.random[0] == twin.random[0]


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_groups_give_their_rows_to_a_pool_or_keep_a_core(seed: int, whole: bool) -> None:
    both = both_searches(seed, diverse=whole)
    twin, room = both.twin, pool_room(both.state, both.twin.room)
    twin.seed = both.chance.randrange(len(twin.case.rows))
    own = twin.group_of(twin.seed)
    others = [g for g in twin.alive if g != own]
    chosen = [own, *both.chance.sample(others, min(len(others), 5))]
    found = np.array(chosen, dtype=np.int32)
    rows, cores = gather(both.state, room, twin.case.k, whole, twin.seed, found, len(found))
    pool = twin.gather(chosen)
    assert room.ints[field.POOL, :rows].tolist() == pool.rows
    assert both.state.random[0] == twin.random[0]
    if not pool.rows:
        assert cores == 0 or not whole
        return
    assert room.ints[field.CORE, :cores].tolist() == pool.cores
    assert room.longs[field.HAS, :cores].tolist() == pool.kept
    assert room.longs[field.COSTS, :cores].tolist() == [twin.cost(g) for g in pool.cores]
    assert room.code[:cores].tolist() == coded(twin.case, [twin.shown[g] for g in pool.cores]).tolist()
    assert sum(len(twin.members[g]) * twin.cost(g) for g in found.tolist() if g >= 0) == pool.old
