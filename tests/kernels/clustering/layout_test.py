"""Room for clusters: no row is in any, and the largest group fits."""

from __future__ import annotations

import numpy as np

from kveil.kernels.clustering.layout import (
    SMALL,
    CostAttributes,
    CostLeaves,
    CostNodes,
    Costs,
    DistinctTuples,
    new_box,
    new_cluster_room,
    new_clusters,
    new_heap,
)


def tuples() -> DistinctTuples:
    cells = np.zeros((4, 2), dtype=np.int32)
    return DistinctTuples(cells, cells, np.array([0, 2, 3, 7, 8], dtype=np.int64))


def costs(*leaves: int) -> Costs:
    """Attributes with trees of so many leaves; those of 0 have none, and one place."""
    base = np.cumsum([0, *(max(number, 1) for number in leaves)])
    is_tree, none = np.array([int(number > 0) for number in leaves]), np.zeros(base[-1], dtype=np.int64)
    node, zeros = np.zeros(1, dtype=np.int64), np.zeros(len(leaves), dtype=np.int64)
    attributes = CostAttributes(is_tree, base[:-1], zeros, zeros - 1)
    return Costs(CostNodes(node, node, node, node), CostLeaves(none, none, none), attributes)


def test_a_box_keeps_costs_of_the_leaves_of_small_trees() -> None:
    box = new_box(costs(3, 0, SMALL + 1, SMALL, 5), 5)
    assert box.at.tolist() == [0, -1, -1, 3, 3 + SMALL]
    assert len(box.reach) == 3 + SMALL + 5
    assert len(box.node) == len(box.first) == len(box.last) == 5


def test_clusters_begin_without_rows() -> None:
    made = new_clusters(tuples(), 3)
    assert made.label.tolist() == [-1] * 8
    assert made.low.shape == made.high.shape == (3, 2)
    assert len(made.size) == len(made.group) == 3


def test_room_has_a_place_for_every_tuple_of_the_largest_group() -> None:
    halt = np.zeros(1, dtype=np.bool_)
    room = new_cluster_room(costs(3, 2), tuples(), np.array([0, 1, 4]), 2, halt)
    assert room.left.tolist() == [2, 1, 4, 1]
    assert len(room.forest.order) == 3
    assert {len(links) for links in room.forest.link} == {6}
    assert len(room.forest.bucket) == 4
    assert len(room.heap.key) >= 2 * 3
    assert {len(part) for box in (room.origin, room.box) for part in box[:3]} == {2}
    assert room.origin.reach is not room.box.reach
    assert room.forest.highest is room.forest.lowest
    assert room.halt is halt
    assert {len(part) for part in new_heap(5)} == {5}
