"""Top-down splitting beside the slow way: parts, their spans, how wide they are, bins and cuts."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import numba
import numpy as np
import pytest

from kveil.arrays import Bools
from kveil.kernels.splitting.bins_loops import assign_bins, find_cut, lowest_ancestor, sort_bins
from kveil.kernels.splitting.layout import SplitTuples, Trees, new_order_room, new_split_room
from kveil.kernels.splitting.mondrian import measure_spans, split
from laid_models import needs_of, values_of
from naive.split_parts import EXTENT, SplitCase, random_split
from strategies import seeds

SEEDS = seeds(0, 150)


@numba.njit
def call_bins(rows: Any, trees: Any, room: Any, a: int, order: Any, low: int, high: int) -> int:
    bins = assign_bins(rows, trees, room, a, order, 0, len(order), low, high)
    if bins > 0:
        sort_bins(order, 0, len(order), bins, room)
    return bins  # type: ignore[no-any-return]


@numba.njit
def call_cut(rows: Any, trees: Any, room: Any, a: int, order: Any, low: int, high: int) -> int:
    return find_cut(rows, trees, room, a, order, 0, len(order), low, high)  # type: ignore[no-any-return]


@numba.njit
def call_ancestor(trees: Any, a: int, low: int, high: int) -> int:
    return lowest_ancestor(trees, a, low, high)  # type: ignore[no-any-return]


def trees_of(case: SplitCase) -> Trees:
    nodes = [0 if own.tree is None else own.tree.nodes for own in case.attributes]
    parent, first, last, leaf_node, child_start, child, cost = [], [], [], [], [0], [], []
    number: list[float] = []
    for own in case.attributes:
        number += own.numbers or [0.0] * own.leaves
        if own.tree is None:
            leaf_node += [0] * own.leaves
            continue
        parent += own.tree.parent
        first += own.tree.first
        last += own.tree.last
        leaf_node += own.tree.leaf_nodes
        cost += [own.node_cost(node) for node in range(own.tree.nodes)]
        for node in range(own.tree.nodes):
            child += own.tree.children(node)
            child_start.append(len(child))
    width = len(case.attributes)
    return Trees(
        np.array([own.numbers is not None for own in case.attributes], dtype=np.bool_),
        np.cumsum([0, *nodes]).astype(np.int64),
        np.cumsum([0, *(own.leaves for own in case.attributes)]).astype(np.int64),
        *(np.array(own, dtype=np.int32) for own in (parent, first, last, leaf_node)),
        np.array(child_start, dtype=np.int64),
        np.array(child, dtype=np.int32),
        np.array(cost, dtype=np.float64),
        np.array(number),
        np.full(width, EXTENT),
        np.array([own.importance for own in case.attributes]),
        np.array([own.missing for own in case.attributes], dtype=np.int32),
    )


def tuples_of(case: SplitCase) -> SplitTuples:
    rows = len(case.weight)
    low, high = (np.array(own, dtype=np.int32).reshape(rows, len(case.attributes)) for own in (case.low, case.high))
    return SplitTuples(low, high, np.array(case.weight, dtype=np.int64), np.arange(rows, dtype=np.int32))


def unhalted() -> Bools:
    return np.zeros(1, dtype=np.bool_)


@pytest.mark.parametrize("spans", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_parts_are_those_found_one_tuple_at_a_time(seed: int, spans: bool) -> None:
    chance = Random(seed)
    case = random_split(chance, spans=spans)
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
        needs_of(case.k, case.different, case.share),
        values_of(case.value, case.weight),
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
        if own.tree is not None:
            assert call_ancestor(trees, a, low, high) - trees.node_offset[a] == own.cover(low, high)


@pytest.mark.parametrize("far_apart", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_tuples_go_into_the_bins_of_a_split_in_their_order(seed: int, far_apart: bool) -> None:
    chance = Random(seed)
    case = random_split(chance, spans=True)
    if far_apart:  # so many leaves that values are sorted, not counted
        for own in case.attributes:
            if own.tree is None:
                assert own.numbers is not None
                own.numbers = [float(n) for n in range(600)]
                own.leaves, own.missing = 600, 599 if own.missing >= 0 else -1
        for row in range(len(case.weight)):
            for a, own in enumerate(case.attributes):
                case.low[row][a] = chance.randrange(own.leaves)
                case.high[row][a] = case.low[row][a]
    tuples, trees = tuples_of(case), trees_of(case)
    rows = list(range(len(case.weight)))
    chance.shuffle(rows)
    order = np.array(rows, dtype=np.int32)
    starts = np.array([0, len(rows)], dtype=np.int64)
    for a, own in enumerate(case.attributes):
        low, high = case.span(rows, a)
        room = new_split_room(len(case.attributes), starts, trees, new_order_room(len(rows)), unhalted())
        if own.numbers is not None:
            cut = call_cut(tuples, trees, room, a, order, low, high)
            assert (None if cut < 0 else cut) == case.cut(rows, a)
        if low == high:
            continue  # such an attribute is never split
        expected = case.bins(rows, a)
        bins = call_bins(tuples, trees, room, a, order, low, high)
        if expected is None:
            assert bins == 0
            continue
        assert bins == len(expected)
        made = [room.sorted_rows[room.place[b] : room.place[b + 1]].tolist() for b in range(bins)]
        assert made == expected
