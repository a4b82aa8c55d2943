"""What units of a pool merge best with, beside the twin's costs of all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from called_loops import from_python
from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss import unit_pairs_loops as loops
from kveil.kernels.least_loss.rebuild_loops import make_units as make_units_of
from laid_groups import both_searches

make_units = from_python(make_units_of)
narrow_units = from_python(loops.narrow_units)
first_pairs = from_python(loops.first_pairs)


@pytest.mark.parametrize("seed", range(40))
def test_every_unit_finds_the_first_of_those_it_merges_best_with(seed: int) -> None:
    both = both_searches(seed)
    twin, pool = both.twin, both.drawn_pool()
    room = both.lay_pool(pool)
    noise = [both.chance.choice(twin.noise) for _ in twin.case.attributes]
    room.longs[field.NOISE, : len(noise)] = noise
    number = make_units(
        both.state, both.codes, both.models, room, twin.case.k, len(pool.rows), len(pool.cores), field.ALL_OUT
    )
    units = twin.units(pool, field.ALL_OUT)
    opened = [unit for unit in range(number) if room.ints[field.OPEN, unit]]
    if len(opened) < 2:
        return
    room.ints[field.QUEUE, : len(opened)] = opened
    first_pairs(both.codes, room, len(opened), number, narrow_units(both.codes, room, len(opened)))

    def value(i: int, j: int) -> float:
        both_show = twin.case.joined(twin.case.cover(units[i]), twin.case.cover(units[j]))
        spent = sum(len(units[u]) * twin.noisy(noise, twin.case.cover(units[u])) for u in (i, j))
        together = len(units[i]) + len(units[j])
        return (twin.noisy(noise, both_show) * together - spent) / together

    found = np.array([min((value(i, j), j) for j in opened if j != i) for i in opened])
    assert room.value[opened].tolist() == found[:, 0].tolist()
    assert room.ints[field.NEAR, opened].tolist() == found[:, 1].tolist()
