"""A walk that has not begun: all tuples, at no cost."""

from __future__ import annotations

import numpy as np

from kveil.kernels.bound.layout import BEST, CoverLattice, new_walk


def test_a_walk_begins_with_all_tuples_and_has_room_for_every_node() -> None:
    above = np.array([[0, 0, 0], [1, 2, -1], [0, 0, 0], [4, 4, 5]], dtype=np.int32)
    lattice = CoverLattice(
        np.array([0, 2, 4]), above, np.zeros((4, 3), dtype=np.int64), np.ones(3, dtype=np.int64), np.arange(3), 1
    )
    halt = np.zeros(1, dtype=np.bool_)
    walk = new_walk(lattice, halt, 1, 3)
    assert walk.members[0].tolist() == [0, 1, 2]
    assert walk.members.shape == (3, 3)
    assert len(walk.place) == 6
    assert (walk.place == -1).all()
    assert walk.start.shape == (2, 4)  # no more nodes at a time than tuples
    assert len(walk.best) == len(walk.best_rows) == BEST
    assert walk.turn.tolist() == [1, 3, -1]
    assert walk.halt is halt
    assert not walk.cost.any()
