"""Classes that are merged beside the twin: which one, at what cost, and which rows then show what covers both."""

from __future__ import annotations

import pytest

from called_loops import from_python
from kveil.kernels.least_loss import merge_loops as loops
from kveil.kernels.least_loss.repair_loops import list_active
from laid_rows import both_tries
from naive.overlap_tries import GivenUp

SEEDS = range(60)
list_dear_rows = from_python(list_active)
find_merge = from_python(loops.find_merge)
merge_classes = from_python(loops.merge_classes)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_class_to_merge_with_is_the_cheapest_of_those_looked_at(seed: int) -> None:
    both = both_tries(seed)
    if not both.twin.list_active():
        return
    list_dear_rows(both.state, both.constraints, both.work)
    for key in both.filled():
        for most in (0, both.chance.randrange(2_000), 1_000_000):
            cost, other = find_merge(*both.laid, key[0], both.number(key), most)
            found = (cost, None if other < 0 else both.look(key[0], other))
            assert found == both.twin.partner(key, most)
    both.check()


@pytest.mark.parametrize("hides", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_rows_of_two_classes_come_to_show_what_covers_both(seed: int, hides: bool) -> None:
    both = both_tries(seed, hides=hides)
    for _ in range(4):
        key = both.chance.choice(both.filled())
        others = [other for other in both.filled() if other[0] == key[0] and other != key]
        if not others:
            continue
        other = both.chance.choice(others)
        merged = merge_classes(*both.laid, key[0], both.number(key), both.number(other), hides)
        try:
            both.twin.merge(key, other)
        except GivenUp:
            assert not merged
        else:
            assert merged
        both.check()
