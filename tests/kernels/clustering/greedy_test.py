"""Greedy clusters and blocks beside the slow way, in which every tuple is looked at every time."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from kveil.kernels.clustering.greedy import blocks, cluster
from laid_clusters import laid_out
from naive.clusters import random_clusters
from strategies import seeds


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
