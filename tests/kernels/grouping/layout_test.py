"""Room to group rows in: half of the slots stay empty."""

from __future__ import annotations

import numpy as np
import pytest

from kveil.kernels.grouping import equal_rows
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.kernels.grouping.layout import GroupingRoom, new_grouping_room


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 1000, 16_384])
@pytest.mark.parametrize("parts", [0, 3])
def test_a_table_has_twice_as_many_slots_as_rows_and_a_power_of_two(rows: int, parts: int) -> None:
    room = new_grouping_room(rows, parts)
    slots = len(room.slots)
    assert slots == len(room.words) >= max(2 * rows, 16)
    assert slots & (slots - 1) == 0
    assert len(room.order) == len(room.first) == rows
    assert len(room.starts) == (1 << parts) + 1
    assert not room.starts.any()
    assert len(room.near) == (rows if parts else 0)


def test_room_that_is_too_small_is_told_instead_of_searched_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    def small_room(rows: int, parts: int) -> GroupingRoom:
        room = new_grouping_room(rows, parts)
        return room._replace(slots=room.slots[:8], words=room.words[:8])

    monkeypatch.setattr(equal_rows, "new_grouping_room", small_room)
    with pytest.raises(RuntimeError, match="too small"):
        group_rows(np.arange(40, dtype=np.int32).reshape(2, 20))
