"""What units of a pool merge best with, beside the twin's costs of all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from called_loops import from_python
from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss import unit_pairs_loops as loops
from kveil.kernels.least_loss.rebuild_loops import make_units as make_units_of
from kveil.kernels.least_loss.rebuild_loops import merge_pair as merge_pair_of
from laid_groups import BothSearches, both_searches

make_units = from_python(make_units_of)
merge_pair = from_python(merge_pair_of)
narrow_again = from_python(loops.narrow_again)
best_open = from_python(loops.best_open)
next_pairs = from_python(loops.next_pairs)
narrow_units = from_python(loops.narrow_units)
first_pairs = from_python(loops.first_pairs)


def value(both: BothSearches, noise: list[int], one: list[int], other: list[int]) -> float:
    """Return by how much the cost of two units grows per row when they are merged, attributes weighed by chance."""
    twin = both.twin
    both_show = twin.case.joined(twin.case.cover(one), twin.case.cover(other))
    spent = sum(len(own) * twin.noisy(noise, twin.case.cover(own)) for own in (one, other))
    together = len(one) + len(other)
    return (twin.noisy(noise, both_show) * together - spent) / together


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_units_merge_with_the_first_of_those_they_merge_best_with(seed: int, stored: bool) -> None:
    both = both_searches(seed)
    twin, pool = both.twin, both.drawn_pool()
    room = both.lay_pool(pool)
    noise = [both.chance.choice(twin.factors) for _ in twin.case.attributes]
    room.longs[field.NOISE, : len(noise)] = noise
    number = make_units(
        both.state, both.codes, both.models, room, twin.case.k, len(pool.rows), len(pool.cores), field.ALL_OUT
    )
    units = twin.units(pool, field.ALL_OUT)
    opened = [unit for unit in range(number) if room.ints[field.OPEN, unit]]
    if len(opened) < 2:
        return
    queue, near = room.ints[field.QUEUE], room.ints[field.NEAR]
    queue[: len(opened)] = opened
    narrowed = narrow_units(both.codes, room, len(opened))
    width = number if stored else 0
    first_pairs(both.codes, room, len(opened), width, narrowed)
    found = np.array([min((value(both, noise, units[i], units[j]), j) for j in opened if j != i) for i in opened])
    assert room.value[opened].tolist() == found[:, 0].tolist()
    assert near[opened].tolist() == found[:, 1].tolist()
    while len(opened) > 1:  # until one is left: a turn takes off one unit, or two
        i = int(best_open(both.codes, room, len(opened), width))
        least, *pair = min((value(both, noise, units[u], units[v]), u, v) for u in opened for v in opened if u != v)
        assert (room.value[i], i, near[i]) == (least, *pair)
        j = int(near[i])
        merge_pair(both.codes, room, i, j)
        narrow_again(room, i, narrowed)
        units[i], units[j] = units[j] + units[i], []
        stays = both.chance.random() < 0.7
        opened = [u for u in opened if u != j and (stays or u != i)]
        queue[: len(opened)] = opened
        next_pairs(both.codes, room, i, j, len(opened), width, narrowed, stays)
        for u in opened:
            alone = len(opened) == 1
            best = np.inf if alone else min(value(both, noise, units[u], units[v]) for v in opened if v != u)
            assert room.value[u] == best if near[u] >= 0 else room.value[u] <= best
