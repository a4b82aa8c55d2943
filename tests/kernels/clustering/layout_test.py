"""Room for clusters: no row is in any, and the largest group fits."""

from __future__ import annotations

import numpy as np

from kveil.kernels.clustering.layout import DistinctTuples, new_cluster_room, new_clusters, new_heap


def tuples() -> DistinctTuples:
    cells = np.zeros((4, 2), dtype=np.int32)
    return DistinctTuples(cells, cells, np.array([0, 2, 3, 7, 8], dtype=np.int64))


def test_clusters_begin_without_rows() -> None:
    made = new_clusters(tuples(), 3)
    assert made.label.tolist() == [-1] * 8
    assert made.low.shape == made.high.shape == (3, 2)
    assert len(made.size) == len(made.group) == 3


def test_room_has_a_place_for_every_tuple_of_the_largest_group() -> None:
    halt = np.zeros(1, dtype=np.bool_)
    room = new_cluster_room(tuples(), np.array([0, 1, 4]), 2, halt)
    assert room.left.tolist() == [2, 1, 4, 1]
    assert len(room.forest.order) == 3
    assert len(room.forest.link) == 6
    assert len(room.forest.bucket) == 4
    assert len(room.heap.key) >= 2 * 3
    assert room.boxes.shape == (2, 3, 2)
    assert room.halt is halt
    assert new_heap(5).entry.shape == (5, 3)
