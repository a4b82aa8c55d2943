"""The tree and the heap in which the nearest tuple is looked for, beside looking at all tuples."""

from __future__ import annotations

from random import Random
from typing import Any

import numba
import numpy as np
import pytest

from kveil.kernels.clustering import layout as field
from kveil.kernels.clustering import search_tree_loops as loops
from kveil.kernels.clustering.boxes_loops import cover
from kveil.kernels.clustering.layout import new_cluster_room, new_heap
from laid_clusters import laid_out
from naive.clusters import random_clusters


@numba.njit
def sort_by_heap(heap: Any, keys: Any, found: Any) -> None:
    size = 0
    for i in range(len(keys)):
        size = loops.push(heap, size, keys[i], i, i, 0)
    for i in range(len(keys)):
        found[i] = heap.ref[0]
        size = loops.drop_first(heap, size)


@pytest.mark.parametrize("seed", range(10))
def test_entries_leave_a_heap_by_key_then_by_number(seed: int) -> None:
    keys = np.random.default_rng(seed).integers(0, 5, seed * 3 + 1)
    found = np.empty(len(keys), dtype=np.int64)
    sort_by_heap(new_heap(len(keys)), keys, found)
    assert found.tolist() == np.argsort(keys, kind="stable").tolist()


@numba.njit
def nearest_first(costs: Any, distinct: Any, room: Any, label: Any, seed: int, found: Any) -> int:
    """Take every row of all tuples, the nearest to one tuple first."""
    nodes = loops.plant(costs, distinct, room, 0, len(room.left), 3)
    box = room.box
    cover(costs, box, distinct, seed, True)
    size = loops.push(room.heap, 0, 0, 0, -1, 0)
    for i in range(len(found)):
        size = loops.next_tuple(costs, distinct, room.forest, room.heap, box, size, 0)
        found[i] = room.heap.ref[0]
        loops.take(distinct, room.forest, room.left, label, found[i], room.left[found[i]], i)
        size = loops.drop_first(room.heap, size)
    return loops.next_tuple(costs, distinct, room.forest, room.heap, box, size, 0) + 1000 * nodes


@pytest.mark.parametrize("small", [0, field.SMALL])
@pytest.mark.parametrize("spans", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_tuples_come_nearest_first_and_each_once(
    seed: int, spans: bool, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field, "SMALL", small)  # leaves of trees for which costs are kept
    chance = Random(seed)
    case = random_clusters(chance, 2, spans=spans)
    costs, distinct = laid_out(case)
    number = len(case.rows)
    groups = np.array([0, number], dtype=np.int64)
    room = new_cluster_room(costs, distinct, groups, 4, np.zeros(1, dtype=np.bool_))
    label = np.full(int(distinct.start[-1]), -1, dtype=np.int32)
    centre, found = chance.randrange(number), np.empty(number, dtype=np.int64)
    nodes, left = divmod(nearest_first(costs, distinct, room, label, centre, found), 1000)
    assert found.tolist() == sorted(range(number), key=lambda t: (case.cost([centre, t]), t))
    assert left == 0
    assert (label >= 0).all()
    assert not room.left.any()
    assert nodes <= 2 * number
    assert room.forest.link.first_live[0] == field.DEAD
    assert sorted(room.forest.order.tolist()) == list(range(number))
    assert np.array_equal(room.forest.lowest, distinct.low[room.forest.order])
    assert np.array_equal(room.forest.highest, distinct.high[room.forest.order])
    link = room.forest.link
    for node in range(nodes):  # a bucket, or two halves of what the node has
        begin, end, child = (int(links[node]) for links in (link.begin, link.end, link.left))
        assert end > begin
        if child < 0:
            assert end - begin <= 3
        else:
            assert link.end[child] == link.begin[child + 1]
