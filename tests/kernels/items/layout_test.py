"""Room for the loops over items is as large as what they may have to hold."""

from __future__ import annotations

import numpy as np
import pytest

from kveil.kernels.items.layout import make_room, new_board, new_dividing_room


@pytest.mark.parametrize(("records", "longest"), [(0, 1), (1, 9), (8, 2), (9, 2), (1000, 5)])
def test_half_of_the_slots_stay_empty_and_every_record_has_its_place(records: int, longest: int) -> None:
    room = make_room(records, longest, 11)
    slots = len(room.slots)
    assert slots >= max(16, 2 * records)
    assert slots & (slots - 1) == 0
    assert all(len(own) == records for own in (room.hashes, room.group, room.kept, room.gain, room.gains, room.who))
    assert len(room.one) == len(room.other) == longest
    assert len(room.size) >= max(records, longest)  # counts of groups, or of one record's children
    assert room.tally.shape == (11, 4)
    assert not room.tally.any()


def test_boards_and_rooms_to_divide_in_hold_all_nodes_and_parts() -> None:
    assert all(len(own) == 7 for own in new_board(7))
    halt = np.zeros(1, dtype=np.bool_)
    dividing = new_dividing_room(5, 3, halt)
    assert len(dividing.into) == 5
    assert dividing.stack.shape == dividing.later.shape == (3, 2)
    assert len(dividing.bounds) == 8  # a group per record, one left over, and the end
    assert dividing.halt is halt
