"""What rows show and the classes of every constraint, beside lists that are kept by hand."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from called_loops import from_python
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.kernels.least_loss import shown_loops as loops
from laid_rows import BothTries, both_tries
from naive.shown_rows import class_hash

SEEDS = range(40)
hash_of = from_python(loops.hash_of)
class_of = from_python(loops.class_of)
note_empty = from_python(loops.note_empty)
purge = from_python(loops.purge)
leave_class = from_python(loops.leave_class)
enter_class = from_python(loops.enter_class)
shown_cost = from_python(loops.shown_cost)
is_all_stars = from_python(loops.is_all_stars)
covers = from_python(loops.covers)
may_show = from_python(loops.may_show)
may_rise = from_python(loops.may_rise)
class_holds = from_python(loops.class_holds)
place = from_python(loops.place)
put_out = from_python(loops.put_out)
forget_waiting = from_python(loops.forget_waiting)


def crowd(both: BothTries) -> BothTries:
    """Leave so few slots for classes that many of them stand where others belong."""
    state = both.state
    size = 1 << len(both.case.base).bit_length()
    slots = np.full((len(state.slots), size), -1, dtype=np.int32)
    for c, row in enumerate(slots):
        for g in sorted({int(g) for g in state.rows[c, field.OF] if g >= 0}):
            at = int(state.hashes[c, g]) % size
            while row[at] >= 0:
                at = (at + 1) % size
            row[at] = g
    both.state = state._replace(slots=slots)
    return both


def known(both: BothTries, c: int) -> set[int]:
    return {int(g) for g in both.state.slots[c] if g >= 0}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_class_is_found_by_what_its_rows_show(seed: int) -> None:
    both = crowd(both_tries(seed))
    for row in range(len(both.case.base)):
        for shown in (both.twin.nodes[row], both.wish(row)):
            for c, look in both.twin.keys(shown):
                vector = both.vector(shown)
                assert int(hash_of(both.constraints, c, vector)) % 2**64 == class_hash(c, look)
                found = class_of(both.state, both.constraints, c, vector, False)
                assert found == (both.number((c, look)) if both.twin.size((c, look)) else -1)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_are_put_into_their_classes_at_first(seed: int) -> None:
    both = both_tries(seed)
    room = both.state.classes.shape[2]
    empty = both.state._replace(
        **{name: np.zeros_like(getattr(both.state, name)) for name in ("cost", "least", "classes", "hashes", "counts")},
        **{name: np.full_like(getattr(both.state, name), -1) for name in ("rows", "slots", "projection")},
        free=np.full_like(both.state.free, room),
    )
    empty.classes[:, field.FREE] = np.arange(room - 1, -1, -1)
    loops.fill_classes(empty, both.trees, both.constraints)
    both.state = empty
    both.check()
    assert empty.least.tolist() == [both.case.cost(own) for own in both.case.base]


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_leave_and_enter_classes_and_empty_ones_are_forgotten(seed: int) -> None:
    both = crowd(both_tries(seed))
    state = both.state
    inside = [row for row, out in enumerate(both.twin.out) if not out]
    for turn in range(40 if inside else 0):
        row, c = both.chance.choice(inside), both.chance.randrange(len(both.case.constraints))
        shown = both.chance.choice([both.wish(row), both.twin.nodes[both.chance.choice(inside)]])
        old = both.look(c, int(state.rows[c, field.OF, row]))
        g = leave_class(state, c, row)
        assert both.look(c, g) == old
        assert state.rows[c, field.OF, row] == -1
        both.twin.classes[old].remove(row)
        new = both.twin.keys(shown)[c]
        if not both.twin.classes[old]:
            note_empty(state, both.work, c, g)
            note_empty(state, both.work, c, g)  # a second time changes nothing
        enter_class(state, c, row, class_of(state, both.constraints, c, both.vector(shown), True))
        both.twin.classes.setdefault(new, []).insert(0, row)
        if turn % 3 == 0:
            purge(state, both.work)
            used = {(c, g) for c in range(len(state.slots)) for g in known(both, c)}
            assert {both.look(*own) for own in used} == set(both.filled())
            assert len(used) == len(both.filled())
            assert state.counts[field.EMPTIED] == 0
        for key in both.filled():
            assert both.listed(key[0], both.number(key)) == both.twin.classes[key]
            assert state.classes[key[0], field.SIZE, both.number(key)] == both.twin.size(key)
        for own in range(len(state.slots)):
            free = state.classes[own, field.FREE, : state.free[own]].tolist()
            assert sorted(free + list(known(both, own))) == list(range(state.classes.shape[2]))


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_are_placed_and_put_out_as_by_hand(seed: int) -> None:
    both = both_tries(seed)
    both.check()
    for _ in range(12):
        row = both.chance.randrange(len(both.case.base))
        if both.chance.random() < 0.2 and not both.twin.out[row]:
            put_out(*both.laid, row)
            both.twin.put_out(row)
        else:
            shown = both.wish(row)
            place(*both.laid, row, both.vector(shown))
            both.twin.place(row, shown)
        both.check()
        if both.chance.random() < 0.2:
            forget_waiting(both.state, both.work)
            both.twin.queue = []
            assert not both.state.classes[:, field.WAITS].any()


@pytest.mark.parametrize("diverse", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_class_holds_where_its_size_and_its_values_do(seed: int, diverse: bool) -> None:
    both = both_tries(seed, diverse=diverse)
    for key in both.filled():
        found = class_holds(both.state, both.constraints, both.models, key[0], both.number(key))
        assert found == both.case.class_holds(key[0], both.twin.classes[key])
    assert loops.every_class_holds(both.state, both.constraints, both.models) == both.case.holds(both.case.shown)
    empty = int(both.state.classes[0, field.FREE, 0])
    assert class_holds(both.state, both.constraints, both.models, 0, empty)


@pytest.mark.parametrize("seed", range(10))
def test_what_a_row_may_show_lies_on_its_way_up_to_its_limit(seed: int) -> None:
    both = both_tries(seed)
    for a, tree in enumerate(both.case.trees):
        for node in range(tree.nodes):
            for other in range(tree.nodes):
                below = tree.first[node] <= tree.first[other] and tree.last[other] <= tree.last[node]
                assert covers(both.trees, a, node, other) == below
            for row in range(len(both.case.base)):
                assert may_show(both.state, both.trees, row, a, node) == (node in both.twin.allowed(row, a))
        for row, limit in enumerate(both.case.limit):
            for node in tree.way(both.case.base[row][a]):
                higher = node in tree.way(limit[a])  # at the limit, or above it
                assert may_rise(both.state, both.trees, row, a, node) == (not higher)


@pytest.mark.parametrize("seed", range(10))
def test_a_vector_costs_what_its_nodes_cost_and_shows_nothing_at_the_roots(seed: int) -> None:
    both, chance = both_tries(seed), Random(seed)
    for _ in range(10):
        shown = tuple(
            chance.choice([*filter(tree.is_star, range(tree.nodes)), chance.randrange(tree.nodes)])
            for tree in both.case.trees
        )
        assert shown_cost(both.trees, both.vector(shown)) == both.case.cost(shown)
        assert is_all_stars(both.trees, both.vector(shown)) == both.case.shows_nothing(shown)
