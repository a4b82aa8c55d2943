"""A walk that has not begun: all tuples, at no cost."""

from __future__ import annotations

import numpy as np

from kveil.kernels.bound.layout import UNPAYABLE, CoverLattice, new_walk


def test_a_walk_begins_with_all_tuples_and_has_room_for_every_node() -> None:
    above = np.array([[0, 0, 0], [1, 2, -1], [0, 0, 0], [4, 4, 5]], dtype=np.int32)
    cost = np.array([[9, 9, 9], [3, 2, 0], [7, 8, 9], [0, 0, 0]], dtype=np.int64)
    lattice = CoverLattice(np.array([0, 2, 4]), above, cost, np.ones(3, dtype=np.int64), np.arange(3), 1)
    halt = np.zeros(1, dtype=np.bool_)
    walk = new_walk(lattice, halt, 1, 3)
    assert walk.members[0].tolist() == [0, 1, 2]
    assert walk.members.shape == (3, 3)
    assert len(walk.place) == 6
    assert (walk.place == -1).all()
    assert walk.start.shape == (2, 4)  # no more nodes at a time than tuples
    assert walk.cheap.tolist() == [9, 2, 7, 0]  # of what may be shown
    assert walk.turn.tolist() == [1, 3, -1]
    assert walk.halt is halt
    nothing = lattice._replace(above=np.full_like(above, -1))
    assert new_walk(nothing, halt).cheap.tolist() == [UNPAYABLE] * 4
    assert not walk.cost.any()
