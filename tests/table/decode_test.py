"""From a solution to released texts: who is dropped or starred, and in which order rows come."""

from __future__ import annotations

from random import Random

import polars as pl
import pytest

from coded_tables import QUASI, coded, shown_as
from kveil.frames import from_frame
from kveil.table.decode import decode

ATTRIBUTES = {"a": QUASI, "b": QUASI, "s": "sensitive", "w": "insensitive"}
COLUMNS = {"a": ["x", "y", "y", "x"], "b": ["1", "1", "2", "2"], "s": ["p", "q", "r", "p"], "w": [3, None, 1, 2]}
TWO = [
    {"model": "k-anonymity", "attributes": ["a"], "k": 1},
    {"model": "p-sensitive", "attributes": ["b"], "sensitive": "s", "p": 1},
]


def released(gone: list[list[int]], show: str = "drop", order: str = "keep", **others: object) -> list[tuple]:
    table = coded(COLUMNS, ATTRIBUTES, suppression={"limit": 1, "show": show}, release={"order": order}, **others)
    source = from_frame(pl.DataFrame(COLUMNS))
    return (
        decode(source, table, shown_as(table, {"a": ["x", "*", "*", "x"], "b": ["*"] * 4}, gone)).frame(source).rows()
    )


def test_dropped_rows_are_gone_and_the_others_stay_as_they_are() -> None:
    assert released([[2]]) == [("x", "*", "p", 3), ("*", "*", "q", None), ("x", "*", "p", 2)]


def test_starred_rows_show_stars_for_what_nobody_protects_too() -> None:
    assert released([[2]], "star")[2] == ("*", "*", "*", 1)


@pytest.mark.parametrize(("gone", "row"), [([[2], []], ("*", "*", "r", 1)), ([[], [2]], ("*", "*", "*", 1))])
def test_a_value_shows_a_star_where_its_component_is_suppressed(gone: list[list[int]], row: tuple) -> None:
    assert released(gone, "star", privacy=TWO)[2] == row


def test_sorted_rows_do_not_depend_on_the_order_they_came_in() -> None:
    expected = released([[]], order="sorted")
    assert expected == sorted(expected, key=lambda row: tuple("" if cell is None else str(cell) for cell in row))
    random = Random(1)
    for _ in range(5):
        places = random.sample(range(4), 4)
        columns = {name: [cells[i] for i in places] for name, cells in COLUMNS.items()}
        table = coded(columns, ATTRIBUTES, limit=1)
        source = from_frame(pl.DataFrame(columns))
        labels = {"a": [["x", "*", "*", "x"][i] for i in places], "b": ["*"] * 4}
        release = decode(source, table, shown_as(table, labels, [[]]))
        assert release.frame(source).rows() == expected
        assert [columns["w"][row] for row in release.rows] == [row[3] for row in expected]


def test_a_shuffle_is_another_one_each_time_and_loses_nobody() -> None:
    orders = {tuple(released([[]], order="shuffle")) for _ in range(30)}
    assert len(orders) > 1
    assert {tuple(sorted(rows, key=str)) for rows in orders} == {tuple(sorted(released([[]]), key=str))}


def test_labels_are_those_of_released_rows_alone() -> None:
    table = coded(COLUMNS, ATTRIBUTES, limit=1)
    solution = shown_as(table, {"a": ["x", "y", "y", "x"], "b": ["1", "1", "2", "*"]}, [[1, 2]])
    release = decode(from_frame(pl.DataFrame(COLUMNS)), table, solution)
    assert release.labels == {"a": ["x"], "b": ["*", "1"]}
