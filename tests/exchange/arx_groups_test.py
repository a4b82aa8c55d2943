"""Values in groups as ARX has them: intervals of their own widths, values in an order."""

from __future__ import annotations

from pathlib import Path

import pytest

from arx_settings import (
    BOUNDS,
    JAVA,
    SET,
    constant,
    function,
    in_order,
    intervals,
    rows_of,
    settings,
)
from kveil.errors import FileError, KveilError
from kveil.flow.exchange import import_hierarchy


def test_intervals_of_their_own_widths_and_names_become_a_tree(tmp_path: Path) -> None:
    named = [(0, 18, constant("child")), (18, 65, constant("adult")), (65, 100, constant("old"))]
    raw = intervals(named, [[(1, constant("minor")), (2, constant("of age"))]])
    ways = {row[0]: row[1:] for row in rows_of(tmp_path, raw)}
    assert len(ways) == 100
    assert ways["0"] == ways["17"] == ["child", "minor", "*"]
    assert ways["18"] == ["adult", "of age", "*"]
    assert ways["99"] == ["old", "of age", "*"]


def test_ends_that_snap_and_values_beyond_them_are_as_arx_has_them(tmp_path: Path) -> None:
    # Tens from 20 on; below 15 and from 85 on all is one; the tens at the ends reach there.
    raw = intervals([(0, 10, BOUNDS)], [[(2, BOUNDS)]], (20, 15, 0), (80, 85, 100))
    ways = {row[0]: row[1:] for row in rows_of(tmp_path, raw)}
    assert ways["3"] == ways["14"] == ["<15", "*"]
    assert ways["15"] == ways["29"] == ["[15, 30[", "[15, 40[", "*"]
    assert ways["45"] == ["[40, 50[", "[40, 60[", "*"]
    assert ways["84"] == ["[70, 85[", "[60, 85[", "*"]
    assert ways["85"] == ways["99"] == [">=85", "*"]


def test_decimal_intervals_need_the_values_of_a_column(tmp_path: Path) -> None:
    raw = intervals([(0.0, 1.5, BOUNDS), (1.5, 2.0, BOUNDS)], [], (0.0, 0.0, 0.0), (4.0, 4.0, 4.0), kind="Decimal")
    with pytest.raises(FileError, match=r"^age\.ahs: .*; give the table with --data and the column with --column\.$"):
        import_hierarchy(settings(tmp_path, raw))
    (tmp_path / "t.csv").write_text("dose,x\n0.25,a\n1.5,a\n3.75,a\n0.25,b\n,c\n")
    rows = rows_of(tmp_path, raw, data=tmp_path / "t.csv", column="dose")
    assert rows == [["0.25", "[0, 1.5[", "*"], ["1.5", "[1.5, 2[", "*"], ["3.75", "[3.5, 4[", "*"]]


def test_values_in_an_order_are_joined_in_groups(tmp_path: Path) -> None:
    grades = ("none", "school", "college", "bachelor", "master", "doctor")
    raw = in_order([[(2, SET), (1, constant("middle"))], [(3, function("Bounds"))]], grades)
    rows = rows_of(tmp_path, raw)
    assert rows[0] == ["none", "{none, school}", "[none, master]", "*"]
    assert rows[2] == ["college", "middle", "[none, master]", "*"]
    assert rows[4] == ["master", "{bachelor, master}", "[none, master]", "*"]
    assert rows[5] == ["doctor", "middle-1", "[doctor, doctor]", "*"]  # ARX numbers groups of one name


def test_values_that_arx_sorts_come_from_a_column(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("n;w\n10;b\n9;ab\n200;ac\n11;b\n")
    given = {"data": tmp_path / "t.csv"}
    numbers = in_order([[(2, BOUNDS)]], None, kind="Integer")
    assert rows_of(tmp_path, numbers, **given, column="n")[0] == ["9", "[9, 10[", "*"]
    words = in_order(
        [[(2, function("CommonPrefix", redaction=JAVA.object("java.lang.Character", {"value": "*"})))]], None
    )
    assert rows_of(tmp_path, words, **given, column="w")[0] == ["ab", "a*", "*"]
    unsorted = in_order([[(2, function("SetOfPrefixes", length=1)), (9, constant("rest"))]], None, sorts=False)
    assert rows_of(tmp_path, unsorted, **given, column="w")[0] == ["b", "b-a", "*"]
    with pytest.raises(FileError, match="numbers into groups, and the column has other values"):
        import_hierarchy(settings(tmp_path, numbers), **given, column="w")
    with pytest.raises(KveilError, match=r"^t\.csv has no column 'm'"):
        import_hierarchy(settings(tmp_path, numbers), **given, column="m")
