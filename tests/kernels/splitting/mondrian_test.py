"""Top-down splitting beside the slow way: which bins stand alone, what a split gains, parts, their spans and widths."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from called_loops import from_python
from kveil.kernels.models.layout import new_models, no_models
from kveil.kernels.splitting import mondrian_loops as loops
from kveil.kernels.splitting.layout import SplitTuples
from kveil.kernels.splitting.mondrian import measure_spans, split
from laid_models import at_least, needs_of, values_of
from laid_splits import split_room, trees_of, tuples_of
from naive.split_parts import random_split
from strategies import seeds

SEEDS = seeds(0, 150)
add_rows = from_python(loops.add_rows)
choose_bins = from_python(loops.choose_bins)
split_gain = from_python(loops.split_gain)


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("spans", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_parts_are_those_found_one_tuple_at_a_time(seed: int, spans: bool, alike: bool) -> None:
    chance = Random(seed)
    case = random_split(chance, spans=spans)
    if alike:  # every tuple is one row, and no model counts values
        case.weight, case.different, case.share = [1] * len(case.weight), 1, (1, 1)
    # Parts to begin with satisfy the models; those that do not are no start.
    rows = list(range(len(case.weight)))
    chance.shuffle(rows)
    cut = chance.randrange(1, len(rows)) if len(rows) > 1 and chance.random() < 0.5 else 0
    begun = [part for part in (rows[:cut], rows[cut:]) if part]
    if not all(case.holds(part) for part in begun):
        begun = [rows]
    if not case.holds(begun[0]):
        case.k = case.different = 1
        case.share = (1, 1)
    tuples = tuples_of(case)
    low = np.ascontiguousarray(tuples.low.T)
    found = split(
        low,
        np.ascontiguousarray(tuples.high.T) if spans else low,
        tuples.weight,
        trees_of(case),
        at_least(case.k) if alike else needs_of(case.k, case.different, case.share),
        no_models().values if alike else values_of(case.value, case.weight),
        np.array([row for part in begun for row in part], dtype=np.int32),
        np.cumsum([0, *map(len, begun)]).astype(np.int64),
        case.by_gain,
        case.few,
    )
    expected = [final for part in begun for final in case.split(part)]
    assert [found.order[a:b].tolist() for a, b in pairwise(found.ends)] == expected
    for p, part in enumerate(expected):
        spanned = [case.span(part, a) for a in range(len(case.attributes))]
        assert list(zip(found.low[:, p].tolist(), found.high[:, p].tolist(), strict=True)) == spanned


def test_most_cases_are_split_and_some_by_every_kind_of_attribute() -> None:
    split_at_all = sum(
        len(case.split(list(range(len(case.weight))))) > 1
        for case in (random_split(Random(s), spans=True) for s in range(100))
    )
    assert split_at_all >= 50


@pytest.mark.parametrize("seed", SEEDS)
def test_spans_are_as_wide_and_cost_as_much_as_by_hand(seed: int) -> None:
    chance = Random(seed)
    case = random_split(chance, spans=False)
    trees = trees_of(case)
    asked = []
    for _ in range(12):
        a = chance.randrange(len(case.attributes))
        own = case.attributes[a]
        low = chance.randrange(own.leaves)
        high = chance.randrange(low, own.leaves)
        top = high if high != own.missing else max(low, high - 1)
        asked.append((a, low, high, top))
    columns = (np.array(column, dtype=np.int32) for column in zip(*asked, strict=True))
    width, cost = measure_spans(trees, *columns)
    for i, (a, low, high, top) in enumerate(asked):
        own = case.attributes[a]
        assert width[i] == own.width(low, high, top) * own.importance
        assert cost[i] == own.cost(low, high)


@pytest.mark.parametrize("seed", SEEDS)
def test_bins_stand_alone_or_in_a_rest_that_holds_and_a_split_gains_what_cells_lose_less(seed: int) -> None:
    chance = Random(seed)
    case = random_split(chance, spans=True)
    tuples, trees = tuples_of(case), trees_of(case)
    models = new_models(needs_of(case.k, case.different, case.share), values_of(case.value, case.weight))
    part = list(range(len(case.weight)))
    chance.shuffle(part)
    for a in range(len(case.attributes)):
        room = split_room(case, trees, [0, len(part)])
        bins: list[list[int]] = [[] for _ in range(3)]
        for row in part:
            chance.choice(bins).append(row)
        room.sorted_rows[:] = [row for own in bins for row in own]
        room.place[: len(bins) + 1] = np.cumsum([0, *map(len, bins)])
        number = choose_bins(tuples, models, room, len(bins), 0, len(part))
        settled = case.settled(bins)
        expected = settled if len(settled) > 1 else []
        ends = [0, *room.ends[:number].tolist()]
        assert [room.sorted_rows[begin:end].tolist() for begin, end in pairwise(ends)] == expected
        assert not models.tally.any()
        if expected:
            span, total = case.span(part, a), case.total(part)
            found = split_gain(tuples, trees, a, room.sorted_rows, 0, room.ends, number, *span, total)
            assert found == case.gain(part, expected, a)


@pytest.mark.parametrize("seed", range(20))
def test_tuples_of_a_part_are_counted_with_the_rows_that_each_stands_for(seed: int) -> None:
    chance = Random(seed)
    number = chance.randint(1, 12)
    values, weights = [chance.randrange(3) for _ in range(number)], [chance.randint(1, 4) for _ in range(number)]
    models = new_models(needs_of(1, 1), values_of(values, weights))
    outside = chance.sample(range(number), number)  # the number that each tuple of the part has outside
    none = np.zeros((number, 0), dtype=np.int32)
    weight = np.array([weights[t] for t in outside], dtype=np.int64)
    order = chance.sample(range(number), number)
    begin = chance.randrange(number)
    end = chance.randint(begin, number)
    rows = SplitTuples(none, none, weight, np.array(outside, dtype=np.int32))
    total = add_rows(rows, models, np.array(order, dtype=np.int32), begin, end)
    part = [outside[at] for at in order[begin:end]]
    assert total == sum(weights[t] for t in part)
    counts = [sum(weights[t] for t in part if values[t] == value) for value in range(models.tally.shape[1])]
    assert models.tally[0].tolist() == counts
