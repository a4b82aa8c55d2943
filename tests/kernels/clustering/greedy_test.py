"""Greedy clusters and blocks beside the slow way, in which every tuple is looked at every time."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from called_loops import from_python
from kveil.kernels.clustering import greedy_loops as loops
from kveil.kernels.clustering.greedy import blocks, cluster
from kveil.kernels.clustering.layout import new_box, new_cluster_room, new_clusters
from laid_clusters import laid_out
from naive.clusters import random_clusters
from strategies import seeds

copy_box = from_python(loops.copy_box)
enter_cluster = from_python(loops.enter_cluster)
place_rest = from_python(loops.place_rest)


@pytest.mark.parametrize("spans", [False, True])
@pytest.mark.parametrize("seed", seeds(0, 100))
def test_clusters_are_those_of_looking_at_every_tuple_every_time(seed: int, spans: bool) -> None:
    chance = Random(seed)
    k = chance.randint(2, 5)
    case = random_clusters(chance, k, spans=spans)
    costs, distinct = laid_out(case)
    found = cluster(costs, distinct, np.array(case.groups, dtype=np.int64), k)
    expected = case.clusters(k)
    of_row = np.repeat(np.arange(len(case.rows)), case.rows)
    assert [of_row[found.label == c].tolist() for c in range(len(found.size))] == [sorted(own) for own in expected]
    assert found.size.tolist() == [len(own) for own in expected]
    for c, own in enumerate(expected):
        assert found.low[c].tolist() == distinct.low[own].min(axis=0).tolist()
        assert found.high[c].tolist() == distinct.high[own].max(axis=0).tolist()
        assert case.groups[found.group[c]] <= own[0] < case.groups[found.group[c] + 1]


@pytest.mark.parametrize("spans", [False, True])
@pytest.mark.parametrize("seed", seeds(0, 100))
def test_blocks_are_those_of_cutting_where_it_costs_most(seed: int, spans: bool) -> None:
    chance = Random(seed)
    case = random_clusters(chance, 1, spans=spans)
    costs, distinct = laid_out(case)
    largest = chance.randint(1, 9)
    order, starts = blocks(costs, distinct, np.array(case.groups, dtype=np.int64), largest)
    assert sorted(order.tolist()) == list(range(len(case.rows)))
    made = [set(order[a:b].tolist()) for a, b in pairwise(starts)]
    assert made == case.blocks(largest)
    assert max(map(len, made)) <= largest


@pytest.mark.parametrize("spans", [False, True])
@pytest.mark.parametrize("seed", seeds(0, 60))
def test_rows_that_are_left_over_join_where_the_total_grows_least(seed: int, spans: bool) -> None:
    chance = Random(seed)
    case = random_clusters(chance, 4, spans=spans)
    costs, distinct = laid_out(case)
    groups = np.array(case.groups, dtype=np.int64)
    clusters, room = (
        new_clusters(distinct, 9),
        new_cluster_room(costs, distinct, groups, 2, np.zeros(1, dtype=np.bool_)),
    )
    begin, end = case.groups[-2:]  # others, of other groups, are neither looked at nor changed
    rows = [t for t in range(begin, end) for _ in range(case.rows[t])]
    chance.shuffle(rows)
    first, number = 2, chance.randint(1, 3)
    made = [[t] for t in rows[:number]]
    for c, own in enumerate(made, first):
        other, box = new_box(costs, len(case.attributes)), new_box(costs, len(case.attributes))
        other.node[:], other.first[:], other.last[:] = 7, case.low[own[0]], case.high[own[0]]
        other.reach[:] = np.arange(len(other.reach))
        copy_box(box, other)
        assert all(np.array_equal(mine, its) for mine, its in zip(box[:3], other[:3], strict=True))
        assert np.array_equal(box.reach, other.reach)
        enter_cluster(clusters, c, box, 1, len(case.groups) - 2)
    left = {t: rows[number:].count(t) for t in range(begin, end)}
    room.left[begin:end] = list(left.values())
    place_rest(costs, distinct, room, begin, end, clusters, first, first + number)
    case.place_rest(made, left)
    for c, own in enumerate(made, first):
        assert (clusters.size[c], clusters.group[c]) == (len(own), len(case.groups) - 2)
        assert clusters.low[c].tolist() == distinct.low[own].min(axis=0).tolist()
        assert clusters.high[c].tolist() == distinct.high[own].max(axis=0).tolist()
    for t, rest in left.items():
        found = clusters.label[distinct.start[t + 1] - rest : distinct.start[t + 1]].tolist()
        assert sorted(found) == [c for c, own in enumerate(made, first) for other in own[1:] if other == t]
    assert not room.left[begin:end].any()
