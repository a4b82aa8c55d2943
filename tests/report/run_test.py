"""A run gives the owner the way back: from its own rows, or from where rows stand for several."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kveil.report.run import WayBack
from made_runs import FRAME, made_run


def test_the_way_back_leads_to_the_rows_that_were_read() -> None:
    run = made_run(k=2)
    owner = run.owner("abc")
    assert (owner.input_rows, owner.release_sha256) == (9, "abc")
    was, shown = FRAME["diagnosis"].gather(owner.rows), run.released.texts("diagnosis")
    assert was.to_list() == shown.to_list()
    gone = sorted(row for rows in owner.suppressed.values() for row in rows.tolist())
    assert sorted([*owner.rows.tolist(), *gone]) == list(range(9))


def test_rows_that_stand_for_several_are_told_by_who_knows_them() -> None:
    back = WayBack(np.array([3, 1]), {"limit": np.array([0], dtype=np.int32)})
    owner = replace(made_run(k=2), way_back=lambda: back).owner(None)
    assert owner.rows.tolist() == [3, 1]
    assert {reason: rows.tolist() for reason, rows in owner.suppressed.items()} == {"limit": [0]}
