"""The parts of a try beside the twin: where it begins, what is lowered for nothing, and how all is taken back."""

from __future__ import annotations

import pytest

from called_loops import from_python
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.kernels.least_loss import repair_loops as loops
from kveil.kernels.least_loss.steps_loops import step
from laid_rows import both_tries
from naive.overlap_tries import GivenUp

SEEDS = range(40)
begin = from_python(loops.begin)
lower_row = from_python(loops.lower_row)
take_back = from_python(loops.take_back)
list_active = from_python(loops.list_active)
costlier = from_python(loops.draw_costly_row)
move = from_python(step)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_that_cost_something_are_listed_and_the_costliest_of_some_is_drawn(seed: int) -> None:
    both = both_tries(seed)
    number = list_active(both.state, both.constraints, both.work)
    both.twin.list_active()
    assert both.work.picked[field.DEAR, :number].tolist() == both.twin.active
    assert both.state.counts[[field.ACTIVE, field.UNIT]].tolist() == [number, both.twin.unit]
    for c in range(len(both.case.constraints)):
        cells = both.work.active[c, :number]
        assert cells[:, field.ROW].tolist() == both.twin.sorted_by_leaves(c, both.twin.active)
        for a, leaves in zip(both.case.constraints[c][0], cells[:, field.LEAVES :].T.tolist(), strict=False):
            firsts = both.case.trees[a].first
            assert leaves == [firsts[both.case.base[row][a]] for row in cells[:, field.ROW].tolist()]
    for _ in range(3 if number else 0):
        assert costlier(both.state, both.work.picked[field.DEAR], number) == both.twin.costlier()
    both.check()


@pytest.mark.parametrize("hides", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_try_begins_with_all_of_a_class_that_can_show_the_same(seed: int, hides: bool) -> None:
    both = both_tries(seed, hides=hides)
    for _ in range(4):
        row, c = both.chance.randrange(len(both.case.base)), both.chance.randrange(len(both.case.constraints))
        aim = both.chance.choice([both.wish(row), both.twin.nodes[row], both.case.base[row]])
        both.work.vectors[field.WISHED] = aim
        begun = begin(*both.laid, row, c, hides)
        try:
            both.twin.begin(row, c, aim)
        except GivenUp:
            assert not begun
        else:
            assert begun
        both.check()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_row_is_lowered_where_classes_that_are_there_allow_it(seed: int) -> None:
    both = both_tries(seed)
    for row, out in enumerate(both.twin.out):
        if not out:
            assert lower_row(*both.laid, row)
            both.twin.lower_where_free(row)
            both.check()


@pytest.mark.parametrize("seed", SEEDS)
def test_everything_that_moved_is_taken_back(seed: int) -> None:
    both = both_tries(seed)
    before = list(both.twin.nodes), list(both.twin.out), both.twin.total()
    for _ in range(10):
        row = both.chance.randrange(len(both.case.base))
        shown = both.wish(row)
        move(*both.laid, row, both.vector(shown))
        both.twin.move(row, shown)
    take_back(*both.laid)
    both.twin.take_back()
    both.check()
    assert (both.twin.nodes, both.twin.out, both.twin.total()) == before
