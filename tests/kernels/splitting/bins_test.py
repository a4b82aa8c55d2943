"""A part in one attribute beside the slow way: what covers it, how wide it is, where it is cut, its bins."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from called_loops import from_python
from kveil.kernels.splitting import bins_loops as loops
from laid_splits import split_room, trees_of, tuples_of
from naive.split_parts import SplitCase, random_split
from strategies import seeds

SEEDS = seeds(0, 100)
lowest_ancestor = from_python(loops.lowest_ancestor)
width_of = from_python(loops.width_of)
cell_loss = from_python(loops.cell_loss)
find_cut = from_python(loops.find_cut)
assign_bins = from_python(loops.assign_bins)
sort_bins = from_python(loops.sort_bins)
sort_by_cut = from_python(loops.sort_by_cut)
fill_bins = from_python(loops.fill_bins)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_span_is_covered_is_as_wide_and_loses_as_much_as_by_hand(seed: int) -> None:
    case = random_split(Random(seed), spans=False)
    trees = trees_of(case)
    for a, own in enumerate(case.attributes):
        for low in range(own.leaves):
            for high in range(low, own.leaves):
                top = high if high != own.missing else max(low, high - 1)
                assert width_of(trees, a, low, high, top) == own.width(low, high, top)
                assert cell_loss(trees, a, low, high) == own.cost(low, high)
                if own.tree is not None:
                    assert lowest_ancestor(trees, a, low, high) - trees.node_offset[a] == own.cover(low, high)


def far_apart(case: SplitCase, chance: Random) -> None:
    """Give numbers so many leaves that values are sorted, not counted."""
    for own in case.attributes:
        if own.tree is None:
            own.numbers = [float(n) for n in range(600)]
            own.leaves, own.missing = 600, 599 if own.missing >= 0 else -1
    for row in range(len(case.weight)):
        for a, own in enumerate(case.attributes):
            case.low[row][a] = case.high[row][a] = chance.randrange(own.leaves)


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_part_is_cut_and_goes_into_the_bins_of_a_split_in_its_order(seed: int, many: bool) -> None:
    chance = Random(seed)
    case = random_split(chance, spans=True)
    if many:
        far_apart(case, chance)
    tuples, trees = tuples_of(case), trees_of(case)
    order = list(range(len(case.weight)))
    chance.shuffle(order)
    begin = chance.randrange(len(order))
    end = chance.randint(begin + 1, len(order))
    part, laid = order[begin:end], np.array(order, dtype=np.int32)
    for a, own in enumerate(case.attributes):
        low, high = case.span(part, a)
        room = split_room(case, trees, [begin, end])
        given = (tuples, trees, room, a, laid, begin, end, low, high)
        if own.numbers is not None:
            cut = find_cut(*given)
            assert (None if cut < 0 else cut) == case.cut(part, a)
        if low == high:
            continue  # such an attribute is never split
        expected = case.bins(part, a)
        bins = assign_bins(*given)
        assert bins == (0 if expected is None else len(expected))
        if expected is not None:
            sort_bins(laid, begin, end, bins, room)
            assert [room.sorted_rows[room.place[b] : room.place[b + 1]].tolist() for b in range(bins)] == expected
            assert laid.tolist() == order


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("spans", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_bins_are_the_same_where_a_cut_takes_a_shorter_way(seed: int, spans: bool, alike: bool) -> None:
    chance = Random(seed)
    case = random_split(chance, spans=spans)
    if alike:  # a row each, so that tuples are counted
        case.weight = [1] * len(case.weight)
    tuples, trees = tuples_of(case), trees_of(case)
    part = list(range(len(case.weight)))
    chance.shuffle(part)
    laid = np.array(part, dtype=np.int32)
    for a, own in enumerate(case.attributes):
        low, high = case.span(part, a)
        if low == high:
            continue
        room = split_room(case, trees, [0, len(part)])
        room.alike[0] = alike
        expected = case.bins(part, a)
        bins = fill_bins(tuples, trees, room, a, laid, 0, len(part), low, high, spans)
        assert bins == (0 if expected is None else len(expected))
        if expected is not None:
            assert [room.sorted_rows[room.place[b] : room.place[b + 1]].tolist() for b in range(bins)] == expected
        if own.numbers is not None and not spans:
            for cut in range(low, high):
                sort_by_cut(tuples, room, a, laid, 0, len(part), cut)
                sides = [[row for row in part if (case.low[row][a] > cut) == above] for above in (False, True)]
                own_bins = [room.sorted_rows[room.place[b] : room.place[b + 1]].tolist() for b in range(4)]
                assert own_bins == [[], *sides, []]
