"""New groups of a pool's rows beside the twin: units, merging, what is left over, and what models allow."""

from __future__ import annotations

import pytest

from called_loops import from_python
from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss import rebuild_loops as loops
from laid_groups import both_searches, coded

SEEDS = range(40)
rebuild = from_python(loops.rebuild)
make_units = from_python(loops.make_units)
group_allowed = from_python(loops.group_allowed)
pool_cost = from_python(loops.pool_cost)


@pytest.mark.parametrize("seed", SEEDS)
def test_units_are_equal_rows_and_those_that_stay_with_their_group(seed: int) -> None:
    both = both_searches(seed)
    twin, pool = both.twin, both.drawn_pool()
    room, out = both.lay_pool(pool), both.chance.choice([field.ALL_OUT, 300, 700])
    noise = [both.chance.choice(twin.factors) for _ in twin.case.attributes]
    room.longs[field.NOISE, : len(noise)] = noise
    number = make_units(
        both.state, both.codes, both.models, room, twin.case.k, len(pool.rows), len(pool.cores), out
    )  # fmt: skip
    units = twin.units(pool, out)
    assert room.longs[field.UNIT_HAS, :number].tolist() == [len(own) for own in units]
    assert room.unit[:number].tolist() == coded(twin.case, [twin.case.cover(own) for own in units]).tolist()
    assert room.ints[field.OPEN, :number].tolist() == [len(own) < twin.case.k for own in units]
    assert room.longs[field.UNIT_COSTS, :number].tolist() == [twin.noisy(noise, twin.case.cover(own)) for own in units]
    for unit, own in enumerate(units):
        at, linked = room.ints[field.FIRST, unit], []
        while at >= 0:
            linked.append(pool.rows[at])
            at = room.ints[field.LINK, at]
        assert linked == own


@pytest.mark.parametrize("diverse", [False, True])
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_pool_is_rebuilt_as_by_hand(seed: int, stored: bool, diverse: bool) -> None:
    both = both_searches(seed, diverse=diverse)
    twin, pool = both.twin, both.drawn_pool()
    room, out = both.lay_pool(pool, stored=stored), both.chance.choice([field.ALL_OUT, 300, 700])
    noise = [both.chance.choice(twin.factors) for _ in twin.case.attributes]
    room.longs[field.NOISE, : len(noise)] = noise
    number = rebuild(both.state, both.codes, both.models, room, twin.case.k, len(pool.rows), len(pool.cores), out)
    if not pool.rows or not twin.rebuild(pool, noise, out):
        assert number == 0
        return
    assert number == len(pool.groups)
    both.check_pool(pool, room)
    assert pool_cost(room, number) == twin.pool_cost(pool)


@pytest.mark.parametrize("diverse", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_group_is_allowed_by_its_size_and_its_models(seed: int, diverse: bool) -> None:
    both = both_searches(seed, diverse=diverse)
    twin, pool = both.twin, both.drawn_pool()
    if not pool.rows:
        return
    pool.groups = [[] for _ in range(3)]
    for row in pool.rows:
        both.chance.choice(pool.groups).append(row)
    pool.cores, pool.kept = [], []
    room = both.lay_pool(pool)
    for group, own in enumerate(pool.groups):
        for out in [-1, *own]:
            for into in [-1, *(row for row in pool.rows if row not in own)]:
                places = [pool.rows.index(row) if row >= 0 else -1 for row in (out, into)]
                found = group_allowed(
                    both.models, room, twin.case.k, field.OF, len(pool.rows), group, *places
                )  # fmt: skip
                assert found == twin.allowed([row for row in [*own, into] if row not in (out, -1)])
