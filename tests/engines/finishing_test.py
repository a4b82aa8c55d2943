"""Labels and losses of a solution whose rows lie elsewhere."""

from __future__ import annotations

from coded_tables import TREE_AND_RANGE, coded, shown_as, tree_and_range
from kveil.engines.finishing import finish
from kveil.engines.summary import summarize
from kveil.measures import attribute_losses, starred_classes


def test_losses_of_parts_are_those_of_the_whole() -> None:
    table, solution = tree_and_range()
    finished = finish(table, summarize(0, table, solution).counts)
    classes = solution.classes
    losses = attribute_losses(table, solution, classes, starred_classes(table, solution, classes))
    assert {name: column.loss for name, column in finished.items()} == losses
    assert all(column.rewritten == {} for column in finished.values())


def test_spans_are_drawn_around_those_who_are_released() -> None:
    table = coded({"t": list("abc"), "n": ["1", "4", "9"]}, TREE_AND_RANGE, limit=1)
    solution = shown_as(table, {"t": ["N", "N", "c"], "n": ["1-9"] * 3}, [[0]])
    finished = finish(table, summarize(0, table, solution).counts)
    assert finished["n"].rewritten == {"1-9": "4-9"}
    assert finished["t"].rewritten == {}
