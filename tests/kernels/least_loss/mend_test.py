"""A class that lacks rows is mended as by the twin: others join it, its rows go up, or it is merged."""

from __future__ import annotations

import pytest

from called_loops import from_python
from kveil.kernels.least_loss import mend_loops as loops
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.kernels.least_loss.repair_loops import list_active
from laid_rows import BothTries, both_tries
from naive.overlap_tries import FAR, GivenUp

SEEDS = range(60)
list_dear_rows = from_python(list_active)
find_help = from_python(loops.find_help)
cheapest_way_up = from_python(loops.cheapest_way_up)
mend_class = from_python(loops.mend_class)


def listed(seed: int, *, hides: bool) -> BothTries:
    """Return rows of which those that cost something are listed."""
    both = both_tries(seed, hides=hides)
    both.twin.list_active()
    list_dear_rows(both.state, both.constraints, both.work)
    return both


@pytest.mark.parametrize("hides", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_those_who_join_a_class_are_the_cheapest_who_can(seed: int, hides: bool) -> None:
    both = listed(seed, hides=hides)
    for key in both.filled():
        lack, most = both.chance.randint(1, 3), both.chance.choice([0, 700, 100_000])
        cost = find_help(*both.laid, key[0], both.number(key), lack, most, hides)
        expected, helpers = both.twin.helpers(key, lack, most)
        assert cost == expected
        if cost < FAR:
            assert both.work.picked[field.MOVERS, :lack].tolist() == helpers
    both.check()


@pytest.mark.parametrize("hides", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_way_up_out_of_a_class_is_the_cheapest_of_all(seed: int, hides: bool) -> None:
    both = listed(seed, hides=hides)
    for key in both.filled():
        for row in both.twin.classes[key]:
            cost = cheapest_way_up(*both.laid, key[0], both.number(key), row, hides)
            expected, shown = both.twin.way_up(key, row)
            assert cost == expected
            if cost < FAR:
                assert tuple(both.work.vectors[field.UPWARD].tolist()) == shown
    both.check()


@pytest.mark.parametrize("hides", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_class_is_mended_as_by_hand(seed: int, hides: bool) -> None:
    both = listed(seed, hides=hides)
    for _ in range(4):
        small = [key for key in both.filled() if both.twin.size(key) < both.twin.k(key[0])]
        if not small or not both.twin.active:
            break
        key, most = both.chance.choice(small), both.chance.choice([0, 1_500, 100_000])
        lack = both.twin.k(key[0]) - both.twin.size(key)
        mended = mend_class(*both.laid, key[0], both.number(key), lack, most, hides)
        try:
            both.twin.mend(key, most)
        except GivenUp:
            assert not mended
        else:
            assert mended
        both.check()
