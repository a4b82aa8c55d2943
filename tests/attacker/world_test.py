"""The original and the release, row beside row."""

from __future__ import annotations

import numpy as np

from small_world import NAMES, world


def test_a_world_knows_who_is_where() -> None:
    own = world()
    assert (own.people, own.noun) == (4, "record")
    assert own.row_of.tolist() == [0, 1, 2, -1]
    assert own.hidden(NAMES).tolist() == [False, False, True]
    assert own.equal("before", NAMES).sizes.tolist() == [1, 1, 1, 1]
    assert sorted(own.equal("after", NAMES).sizes.tolist()) == [1, 2]
    assert own.promises(NAMES)
    assert not own.promises(("age", "sex"))
    assert own.items_before["illness"].rows() == [(0, "x"), (1, "y"), (2, "x"), (3, "x")]
    assert own.sample(10).tolist() == [0, 1, 2, 3]
    assert len(own.sample(2)) == 2
    assert own.sample(2).tolist() == own.sample(2).tolist()  # by the policy's seed
    assert own.sample(1, among=np.array([3])).tolist() == [3]
