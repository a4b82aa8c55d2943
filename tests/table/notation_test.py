"""Intervals are written for whole numbers where nobody who is released has another."""

from __future__ import annotations

import numpy as np
import pytest

from coded_tables import QUASI, coded, shown_as, texts_of
from kveil.table.notation import not_released, write_intervals

AGES = {"role": QUASI, "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [1, 10]}}}
ATTRIBUTES = {"age": AGES, "sex": QUASI}
COLUMNS = {"age": ["31", "35.5", "62"], "sex": ["f", "f", "m"]}


@pytest.mark.parametrize(
    ("labels", "gone", "written"),
    [
        (["[30,40)", "[30,40)", "[60,70)"], [], ["[30,40)", "[30,40)", "[60,70)"]),
        (["[30,40)", "[30,40)", "[60,70)"], [1], ["30-39", "30-39", "60-69"]),
        (["[30,40)", "*", "62"], [], ["30-39", "*", "62"]),
        (["[31,32)", "35.5", "[60,70)"], [1], ["31", None, "60-69"]),
    ],
)
def test_one_number_of_somebody_who_shows_nothing_is_not_seen(
    labels: list[str], gone: list[int], written: list[str | None]
) -> None:
    table = coded(COLUMNS, ATTRIBUTES, limit=1)
    solution = write_intervals(table, shown_as(table, {"age": labels, "sex": ["*"] * 3}, [gone]))
    shown = texts_of(solution.shown[0])
    assert [text for text, own in zip(shown, written, strict=True) if own is not None] == [
        own for own in written if own is not None
    ]
    if written[0] == "30-39":
        assert solution.shown[0].ncp[solution.shown[0].codes[0]] == pytest.approx(10 / 100)


def test_rows_are_released_where_their_component_shows_them() -> None:
    two = [{"model": "k-anonymity", "attributes": [name], "k": 1} for name in ("age", "sex")]
    for show, expected in (("star", [True, False, False]), ("drop", [True, True, False])):
        table = coded(COLUMNS, ATTRIBUTES, privacy=two, suppression={"limit": 1, "show": show})
        solution = shown_as(table, {"age": ["*"] * 3, "sex": ["*"] * 3}, [[0], [1]])
        assert not_released(table, solution, 0).tolist() == expected
        assert np.array_equal(not_released(table, solution, 1), [show == "drop", True, False])
