"""Rows that are left out, within the limit and beyond it."""

from __future__ import annotations

import numpy as np
import pytest

from coded_tables import QUASI, coded
from kveil.algorithms.suppression import LeftOut, beyond_limit
from kveil.errors import Unmeetable
from kveil.table.table import Table


def table(times: list[int] | None = None) -> Table:
    own = coded({"a": list("uvwx")}, {"a": QUASI}, limit=0.5)
    return own if times is None else own.changed(times=np.array(times))


def rows(*numbers: int) -> np.ndarray:
    return np.isin(np.arange(4), numbers)


def test_rows_are_left_out_for_a_reason_until_the_limit() -> None:
    out = LeftOut(table(), "mondrian")
    assert (out.allowed, out.remaining) == (2, 2)
    out.leave_out(rows(1), "rare")
    out.leave_out(rows(3), "rare")
    assert out.remaining == 0
    assert out.kept.tolist() == [True, False, True, False]
    assert out.reasons["rare"].tolist() == [1, 3]
    with pytest.raises(Unmeetable, match=r"mondrian cannot meet the policy: 3 records of 4 .* the limit allows 2"):
        out.leave_out(rows(0), "other")


def test_rows_count_as_often_as_they_stand_for_records() -> None:
    out = LeftOut(table([1, 5, 1, 1]), "mondrian")
    assert out.allowed == 4
    out.leave_out(rows(0, 2), "rare")
    assert out.remaining == 2
    with pytest.raises(Unmeetable) as caught:
        out.leave_out(rows(1), "rare")
    assert caught.value.lost == 7


def test_an_error_says_whom_it_counts() -> None:
    people = coded({"who": list("pq"), "a": list("uv")}, {"who": "individual", "a": QUASI})
    assert "1 person of 2 would" in str(beyond_limit(people, "x", 1, 0))
