"""Settings of ARX's hierarchies (`.ahs`), made by the layout in which Java writes objects of ARX's classes."""

from __future__ import annotations

from pathlib import Path

import pytest

from arx_settings import (
    ARX,
    BOUNDS,
    JAVA,
    SET,
    dates,
    function,
    in_order,
    intervals,
    redaction,
    settings,
)
from kveil.errors import FileError
from kveil.flow.exchange import import_hierarchy
from support import run


def test_regular_intervals_become_a_builder(tmp_path: Path) -> None:
    raw = intervals([(0, 5, BOUNDS), (5, 10, BOUNDS)], [[(2, BOUNDS)], [(2, BOUNDS), (2, BOUNDS)]])
    imported = import_hierarchy(settings(tmp_path, raw))
    assert imported.text == "hierarchy: {intervals: {from: 0, to: 99, widths: [5, 10, 20]}}\n"
    assert imported.left_out == ()


def test_means_as_labels_of_regular_intervals_are_told(tmp_path: Path) -> None:
    imported = import_hierarchy(settings(tmp_path, intervals([(0, 5, function("ArithmeticMean"))], [])))
    assert imported.text == "hierarchy: {intervals: {from: 0, to: 99, widths: [5]}}\n"
    assert imported.left_out == ("The labels of intervals by the function ArithmeticMean: kveil shows their bounds.",)


def test_redaction_becomes_a_mask(tmp_path: Path) -> None:
    assert import_hierarchy(settings(tmp_path, redaction())).text == "hierarchy: {mask: {keep: [4, 3, 2, 1]}}\n"


def test_dates_are_carried_over_by_the_units_that_both_have(tmp_path: Path) -> None:
    raw = dates("DAY_MONTH_YEAR", "WEEK_YEAR", "MONTH_YEAR", "YEAR", "DECADE", "MILLENNIUM", written="dd.MM.yyyy")
    imported = import_hierarchy(settings(tmp_path, raw))
    assert imported.text == "hierarchy: {dates: [month, year, decade]}\n"
    assert imported.left_out == (
        "The unit WEEK_YEAR: kveil has month, quarter, year, decade, century.",
        "The unit MILLENNIUM: kveil has month, quarter, year, decade, century.",
        "How dates are written (dd.MM.yyyy): kveil reads 1957-08-31 and the like.",
    )


def test_what_is_not_carried_over_is_told_beside_what_is(tmp_path: Path) -> None:
    file = settings(tmp_path, dates("YEAR", "MILLENNIUM"))
    done = run("import", "arx", file)
    assert (done.code, done.out) == (0, "hierarchy: {dates: [year]}\n")
    assert done.err == "not carried over: The unit MILLENNIUM: kveil has month, quarter, year, decade, century.\n"
    done = run("import", "arx", file, "--json")
    assert done.json["hierarchy"] == "hierarchy: {dates: [year]}\n"
    assert len(done.json["left_out"]) == 1
    assert run("import", "arx", file, "--column", "x").code == 2


PRIORITY = JAVA.start + JAVA.object(f"{ARX}.aggregates.HierarchyBuilderPriorityBased", {"maxLevels": 10})


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (intervals([(0, 5, SET), (10, 15, SET)], []), "its intervals have gaps"),
        (intervals([(0, 5, BOUNDS), (5, 9, function("GeometricMean"))], []), "by the function GeometricMean"),
        (redaction("LEFT_TO_RIGHT"), "it redacts from the left"),
        (redaction(sign="x"), "another sign"),
        (dates("WEEKDAY"), "it has no unit that kveil has, but WEEKDAY alone"),
        (PRIORITY, "it is priority-based"),
        (in_order([[(2, SET)]], None), "it puts the values of a table into groups"),
        (in_order([[(2, SET)]], None, kind="Date"), "it puts the values of a table into groups"),
        (JAVA.start + JAVA.object("java.util.Date", {}), "it is of the class java.util.Date"),
        (JAVA.start + JAVA.object(f"{ARX}.aggregates.HierarchyBuilderIntervalBased", {}), "kveil does not know"),
        (intervals([(0, 5, BOUNDS)], [[(10**9, BOUNDS), (1, BOUNDS)]]), "larger than any scale"),
    ],
    ids=["gap", "mean", "left", "sign", "weekday", "priority", "order", "date order", "class", "bare", "huge"],
)
def test_what_kveil_has_nothing_for_is_named(tmp_path: Path, raw: bytes, told: str) -> None:
    with pytest.raises(FileError) as caught:
        import_hierarchy(settings(tmp_path, raw))
    assert told in str(caught.value)
    assert str(caught.value).startswith("age.ahs")
