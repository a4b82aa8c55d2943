"""Labels and losses of a solution whose rows lie elsewhere."""

from __future__ import annotations

from coded_tables import QUASI, coded, shown_as
from kveil.engines.finishing import finish
from kveil.engines.summary import summarized
from kveil.measures import attribute_losses, starred_classes
from kveil.table.solution import Solution
from kveil.table.table import Table

ATTRIBUTES = {
    "t": {"role": QUASI, "hierarchy": {"tree": {"*": {"N": ["a", "b"], "S": ["c"]}}}},
    "n": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 10]}}},
}


def made() -> tuple[Table, Solution]:
    table = coded({"t": list("abca"), "n": ["1", "4", "9", "4"]}, ATTRIBUTES, limit=1)
    return table, shown_as(table, {"t": ["N", "N", "c", "N"], "n": ["1-4", "1-4", "9", "1-4"]}, [[2]])


def test_losses_of_parts_are_those_of_the_whole() -> None:
    table, solution = made()
    finished = finish(table, summarized(0, table, solution).counts)
    classes = solution.classes
    losses = attribute_losses(table, solution, classes, starred_classes(table, solution, classes))
    assert {name: column.loss for name, column in finished.items()} == losses
    assert all(column.rewritten == {} for column in finished.values())


def test_spans_are_drawn_around_those_who_are_released() -> None:
    table = coded({"t": list("abc"), "n": ["1", "4", "9"]}, ATTRIBUTES, limit=1)
    solution = shown_as(table, {"t": ["N", "N", "c"], "n": ["1-9"] * 3}, [[0]])
    finished = finish(table, summarized(0, table, solution).counts)
    assert finished["n"].rewritten == {"1-9": "4-9"}
    assert finished["t"].rewritten == {}
