"""Offers of depths beside the slow way: what rows would show, who may enter new classes, and who takes an offer."""

from __future__ import annotations

from random import Random
from typing import Any

import numba
import numpy as np
import pytest

from called_loops import from_python
from kveil.kernels.least_loss import descent_loops as loops
from kveil.kernels.least_loss import overlaps
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.kernels.least_loss.descent_loops import any_may_enter, note_entrant
from laid_rows import BothTries, both_tries, laid_out, state_of
from naive.shown_rows import ShownCase, class_hash, random_case

SEEDS = range(60)
proposed = from_python(loops.write_proposal)
propose = from_python(loops.propose)


@numba.njit
def may_enter(state: Any, constraints: Any, work: Any, vectors: Any) -> bool:
    for i in range(len(vectors)):
        note_entrant(state, constraints, work, i, vectors[i])
    return any_may_enter(constraints, work, len(vectors))  # type: ignore[no-any-return]


def depths_of(case: ShownCase, chance: Random) -> list[int]:
    """Draw depths, none below what rows have, -1 for what stays as it is."""
    deepest = [max(tree.depth[row[a]] for row in case.base) for a, tree in enumerate(case.trees)]
    return [chance.randint(-1, most) for most in deepest]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_row_is_offered_what_it_shows_at_depths_and_what_it_gains(seed: int) -> None:
    both = both_tries(seed)
    climbs = overlaps.climbs_of(both.state.base, both.state.limit, both.trees)
    for row in range(len(both.case.base)):
        both.case.shown[row] = both.twin.nodes[row]  # also a row that is out is told what it would show
        depths, vector = depths_of(both.case, both.chance), both.vector(both.case.base[row])
        gain = proposed(both.state, both.trees, climbs, row, both.vector(tuple(depths)), vector)
        shown = both.case.at_depths(row, depths)
        assert tuple(vector.tolist()) == shown
        assert gain == both.twin.cost_of(row) - both.case.cost(shown)


def left_to_enter(both: BothTries, wishes: list[tuple[int, ...]]) -> bool:
    """Tell whether some movers have enough others in every new class; those that share a tally count together."""
    size = both.work.tally.shape[1]
    tallies = [
        [(c, (class_hash(c, look) >> 32) % size) for c, look in both.twin.keys(shown) if not both.twin.size((c, look))]
        for shown in wishes
    ]
    while True:
        counted = [tally for own in tallies for tally in own]
        enough = [own for own in tallies if all(counted.count(tally) >= both.twin.k(tally[0]) for tally in own)]
        if enough == tallies:
            return bool(tallies)
        tallies = enough


@pytest.mark.parametrize("seed", SEEDS)
def test_nobody_enters_where_every_mover_lacks_others_in_a_new_class(seed: int) -> None:
    both = both_tries(seed)
    for _ in range(5):
        number = both.chance.randint(1, len(both.case.base))
        wishes = [both.wish(both.chance.randrange(len(both.case.base))) for _ in range(number)]
        vectors = np.array(wishes, dtype=np.int32)
        assert may_enter(both.state, both.constraints, both.work, vectors) == left_to_enter(both, wishes)
        assert not both.work.tally.any()


@pytest.mark.parametrize("little_room", [False, True])
@pytest.mark.parametrize("hides", [False, True])
@pytest.mark.parametrize("diverse", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_an_offer_is_taken_by_those_whom_every_constraint_lets_move(
    seed: int, diverse: bool, hides: bool, little_room: bool
) -> None:
    chance = Random(seed)
    case = random_case(chance, diverse=diverse)
    if not case.holds(case.shown):
        return
    trees, constraints, models = laid_out(case)
    state, work = state_of(case, trees, constraints, seed), overlaps.new_work(len(case.trees), constraints)
    climbs = overlaps.climbs_of(state.base, state.limit, trees)
    among = np.arange(len(case.base), dtype=np.int32)
    for _ in range(5):
        depths, room = depths_of(case, chance), chance.randint(0, 3) if little_room else None
        free = state.free.copy()
        if room is not None:
            state.free[:] = 2 * field.MOST_STEPS + room
        offered = np.array(depths, dtype=np.int32)
        took = propose(state, trees, climbs, constraints, models, work, offered, among, hides)
        expected = case.offer(depths, hides=hides, room=room)
        assert took == sum(one != other for one, other in zip(case.shown, expected, strict=True))
        case.shown = expected
        nodes = zip(state.nodes.tolist(), state.out.tolist(), strict=True)
        assert [None if out else tuple(row) for row, out in nodes] == expected
        assert not work.tally.any()
        assert not work.change.any()
        if room is not None:
            return  # the numbers that were hidden are lost
        assert (state.free >= free - len(among)).all()
