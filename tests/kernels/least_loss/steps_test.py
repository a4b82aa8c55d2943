"""Rows that move in a try, written down, and what that would strain, beside the twin."""

from __future__ import annotations

import pytest

from called_loops import from_python
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.kernels.least_loss import steps_loops as loops
from laid_rows import both_tries

SEEDS = range(40)
step = from_python(loops.step)
strain = from_python(loops.strain)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_moves_a_row_and_writes_down_where_it_was(seed: int) -> None:
    both = both_tries(seed)
    for _ in range(10):
        row = both.chance.randrange(len(both.case.base))
        shown = both.wish(row)
        assert step(*both.laid, row, both.vector(shown))
        both.twin.move(row, shown)
        both.check()


def test_a_step_that_cannot_be_written_down_is_not_made() -> None:
    both = both_tries(1)
    both.state.counts[field.JOURNAL] = field.MOST_STEPS
    assert not step(*both.laid, 0, both.vector(both.case.base[0]))
    both.state.counts[field.JOURNAL] = 0
    both.check()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_strains_the_classes_that_lack_rows_after_it(seed: int) -> None:
    both = both_tries(seed)
    strained = 0
    for row in range(len(both.case.base)):
        shown = both.wish(row)
        for besides in range(-1, len(both.case.constraints)):
            found = strain(both.state, both.constraints, row, both.vector(shown), besides)
            assert found == both.twin.strain(row, shown, besides)
            strained += found
    assert strained or max(k for _, k, _ in both.case.constraints) == 1
    both.check()
