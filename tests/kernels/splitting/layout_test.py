"""Room to split in: shared per tuple, each loop's own otherwise."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from kveil.kernels.splitting.layout import new_order_room, new_split_room


def test_room_in_the_order_of_parts_has_a_place_per_tuple() -> None:
    room = new_order_room(7)
    assert [len(own) for own in room] == [7, 7, 7]
    assert len({own.ctypes.data for own in room}) == 3


def test_room_to_split_in_has_a_bin_per_child_and_a_place_for_every_part() -> None:
    trees = SimpleNamespace(child_start=np.array([0, 9, 9, 9]), leaf_offset=np.array([0, 3, 20]))
    shared, halt = new_order_room(12), np.zeros(1, dtype=np.bool_)
    room = new_split_room(2, np.array([0, 4, 12]), trees, shared, halt)  # type: ignore[arg-type]
    assert len(room.place) == len(room.ends) >= 9 + 1 + 1  # children, those across several, and the end
    assert len(room.moved) == 8  # the largest part
    assert room.stack.shape == (12 + 3, 3)
    assert room.most_waiting.shape == (12 + 3, 2)
    assert len(room.final) == 12 + 1
    assert len(room.counts) == 17  # no more than an attribute has leaves
    assert room.bin_of is shared.bin_of
    assert room.halt is halt
    few = SimpleNamespace(child_start=np.array([0]), leaf_offset=np.array([0, 3]))
    assert len(new_split_room(1, np.array([0, 4]), few, shared, halt).place) >= 4 + 1  # numbers are cut into four bins
