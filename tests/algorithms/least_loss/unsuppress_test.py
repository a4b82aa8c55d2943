"""A row comes back only if every component can take it, and its run with it."""

from __future__ import annotations

import numpy as np

from coded_tables import QUASI, coded, shown_as, texts_of
from kveil.algorithms.least_loss.unsuppress import come_back
from kveil.stopping import Stop
from kveil.table.solution import Solution
from kveil.table.table import Table

TWO = [{"model": "k-anonymity", "attributes": [name], "k": 1} for name in ("a", "b")]


def made() -> tuple[Table, Solution]:
    columns = {"a": list("uvwxy"), "b": list("12345")}
    table = coded(columns, {"a": QUASI, "b": QUASI}, privacy=TWO, limit=1)
    return table, shown_as(table, {"a": ["*"] * 5, "b": ["*"] * 5}, [[0, 1, 2, 3], [0, 1, 2, 3]])


def back(refused: dict[int, set[int]], run: list[int], stop: Stop | None = None) -> tuple[list[int], list[list[int]]]:
    """Who is back where components refuse some rows, and who was offered to the first one each time."""
    table, solution = made()
    offered: list[list[int]] = []

    def let_in(number: int, coming: np.ndarray) -> tuple[np.ndarray, list]:
        if number == 0:
            offered.append(coming.tolist())
        came = np.array([row for row in coming.tolist() if row not in refused.get(number, set())], dtype=np.int32)
        own = shown_as(table, {"a": list("uvwxy"), "b": list("12345")}).shown[number]
        return came, [own]

    coming = np.arange(4, dtype=np.int32)
    found = come_back(table, solution, coming, np.array(run), let_in, stop or Stop())
    if found is not solution:
        assert texts_of(found.shown[0]) == list("uvwxy")
    return np.flatnonzero(~found.suppressed_anywhere).tolist(), offered


def test_everybody_comes_back_where_all_components_take_them() -> None:
    assert back({}, [0, 1, 2, 3]) == ([0, 1, 2, 3, 4], [[0, 1, 2, 3]])


def test_who_is_refused_by_one_component_stays_out_of_all_and_the_others_try_again() -> None:
    assert back({1: {2}}, [0, 1, 2, 3]) == ([0, 1, 3, 4], [[0, 1, 2, 3], [0, 1, 3]])


def test_runs_come_back_as_a_whole() -> None:
    assert back({1: {2}}, [0, 0, 1, 1])[0] == [0, 1, 4]
    assert back({0: {0}, 1: {2}}, [0, 0, 1, 1])[0] == [4]


def test_nobody_comes_back_where_the_search_is_to_stop() -> None:
    stop = Stop()
    stop.ask()
    assert back({}, [0, 1, 2, 3], stop) == ([4], [])
