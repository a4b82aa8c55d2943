"""Settings of ARX's hierarchies (`.ahs`), made by the layout in which Java writes objects of ARX's classes."""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kveil.errors import FileError, KveilError
from kveil.flow.exchange import import_hierarchy
from support import run

ARX = "org.deidentifier.arx"


class JavaWriter:
    """Writes the few forms of Java's serialization that settings of ARX use; every class is described anew."""

    start = b"\xac\xed\x00\x05"
    null = b"\x70"

    def text(self, text: str) -> bytes:
        return struct.pack(">H", len(text.encode())) + text.encode()

    def described(self, name: str, fields: dict[str, Any], *, writes: bool = False) -> bytes:
        flags = 0x03 if writes else 0x02
        raw = b"\x72" + self.text(name) + bytes(8) + bytes([flags]) + struct.pack(">H", len(fields))
        for field, value in fields.items():
            if isinstance(value, bytes):
                raw += b"L" + self.text(field) + b"\x74" + self.text("Ljava/lang/Object;")
            else:
                raw += {int: b"I", float: b"D", str: b"C", bool: b"Z"}[type(value)] + self.text(field)
        return raw + b"\x78" + self.null

    def object(self, name: str, fields: dict[str, Any], written: bytes | None = None) -> bytes:
        raw = b"\x73" + self.described(name, fields, writes=written is not None)
        for value in fields.values():
            if isinstance(value, bytes):
                raw += value
            elif isinstance(value, str):
                raw += struct.pack(">H", ord(value))
            else:
                raw += struct.pack({bool: ">?", int: ">i", float: ">d"}[type(value)], value)
        return raw if written is None else raw + written + b"\x78"

    def string(self, value: str) -> bytes:
        return b"\x74" + self.text(value)

    def number(self, value: float) -> bytes:
        kind = "Integer" if isinstance(value, int) else "Double"
        return self.object(f"java.lang.{kind}", {"value": value})

    def listed(self, items: list[bytes]) -> bytes:
        return self.object("java.util.ArrayList", {"size": len(items)}, b"\x77\x04" + bytes(4) + b"".join(items))

    def mapped(self, pairs: list[tuple[bytes, bytes]]) -> bytes:
        inside = b"".join(key + value for key, value in pairs)
        return self.object("java.util.HashMap", {"threshold": 12}, b"\x77\x08" + bytes(8) + inside)

    def enum(self, value: str) -> bytes:
        return b"\x7e" + self.described("Order", {}) + self.string(value)

    def array(self, name: str, items: list[bytes]) -> bytes:
        return b"\x75" + self.described(name, {}) + struct.pack(">i", len(items)) + b"".join(items)


JAVA = JavaWriter()


def function(kind: str, **fields: Any) -> bytes:
    return JAVA.object(f"{ARX}.aggregates.AggregateFunction$Generic{kind}", fields)


def constant(label: str) -> bytes:
    return function("Constant", value=JAVA.string(label))


BOUNDS = function("Interval", lowerIncluded=True, upperIncluded=False)
SET = function("Set")
Groups = list[list[tuple[int, bytes]]]  # sizes and functions, level by level


def grouped(levels: Groups) -> bytes:
    """The levels of a builder that groups."""
    written = []
    for at, groups in enumerate(levels):
        inside = [
            JAVA.object(f"{ARX}.Group", {"size": size, "function": named}) if named else b"" for size, named in groups
        ]
        written.append((JAVA.number(at), JAVA.object(f"{ARX}.Level", {"level": at, "list": JAVA.listed(inside)})))
    return JAVA.mapped(written)


def intervals(
    bounds: list[tuple[float, float, bytes]],
    levels: Groups,
    lower: tuple[float, float, float] = (0, 0, 0),
    upper: tuple[float, float, float] = (100, 100, 100),
    kind: str = "Integer",
) -> bytes:
    inside = [
        JAVA.object("Interval", {"min": JAVA.number(low), "max": JAVA.number(high), "function": named})
        for low, high, named in bounds
    ]
    ends = [
        JAVA.object(
            "Range",
            {
                name: JAVA.number(end)
                for name, end in zip(("repeatBound", "snapBound", "labelBound"), limits, strict=True)
            },
        )
        for limits in (lower, upper)
    ]
    fields = {
        "datatype": JAVA.object(f"{ARX}.DataType$ARX{kind}", {}),
        "groups": grouped(levels),
        "intervals": JAVA.listed(inside),
        "lowerRange": ends[0],
        "upperRange": ends[1],
    }
    return JAVA.start + JAVA.object(f"{ARX}.aggregates.HierarchyBuilderIntervalBased", fields)


def in_order(levels: Groups, listed: tuple[str, ...] | None, *, sorts: bool = True, kind: str = "String") -> bytes:
    comparator = JAVA.null
    if listed is not None:
        places = JAVA.mapped([(JAVA.string(value), JAVA.number(at)) for at, value in enumerate(listed)])
        comparator = JAVA.object(f"{ARX}.aggregates.HierarchyBuilderOrderBased$2", {"val$map": places})
    elif sorts:
        comparator = JAVA.object(f"{ARX}.aggregates.HierarchyBuilderOrderBased$1", {"val$type": JAVA.null})
    fields = {
        "datatype": JAVA.object(f"{ARX}.DataType$ARX{kind}", {}),
        "groups": grouped(levels),
        "comparator": comparator,
    }
    return JAVA.start + JAVA.object(f"{ARX}.aggregates.HierarchyBuilderOrderBased", fields)


def redaction(order: str = "RIGHT_TO_LEFT", sign: str = "*", longest: float = 5.0) -> bytes:
    fields = {
        "aligmentOrder": JAVA.enum("LEFT_TO_RIGHT"),
        "paddingCharacter": sign,
        "redactionCharacter": sign,
        "redactionOrder": JAVA.enum(order),
        "maxValueLength": JAVA.number(longest),
    }
    return JAVA.start + JAVA.object(f"{ARX}.aggregates.HierarchyBuilderRedactionBased", fields)


def dates(*units: str, written: str = "yyyy-MM-dd", top: bytes = JAVA.null) -> bytes:
    fields = {
        "granularities": JAVA.array("[LGranularity;", [JAVA.enum(unit) for unit in units]),
        "datatype": JAVA.object(f"{ARX}.DataType$ARXDate", {"string": JAVA.string(written)}),
        "bottomCoding": JAVA.null,
        "topCoding": top,
    }
    return JAVA.start + JAVA.object(f"{ARX}.aggregates.HierarchyBuilderDate", fields)


def settings(folder: Path, raw: bytes) -> Path:
    path = folder / "age.ahs"
    path.write_bytes(raw)
    return path


def rows_of(folder: Path, raw: bytes, **given: Any) -> list[list[str]]:
    text = import_hierarchy(settings(folder, raw), **given).text
    return [line.split(";") for line in text.splitlines()]


def test_regular_intervals_become_a_builder(tmp_path: Path) -> None:
    raw = intervals([(0, 5, BOUNDS), (5, 10, BOUNDS)], [[(2, BOUNDS)], [(2, BOUNDS), (2, BOUNDS)]])
    imported = import_hierarchy(settings(tmp_path, raw))
    assert imported.text == "hierarchy: {intervals: {from: 0, to: 99, widths: [5, 10, 20]}}\n"
    assert imported.left_out == ()


def test_means_as_labels_of_regular_intervals_are_told(tmp_path: Path) -> None:
    imported = import_hierarchy(settings(tmp_path, intervals([(0, 5, function("ArithmeticMean"))], [])))
    assert imported.text == "hierarchy: {intervals: {from: 0, to: 99, widths: [5]}}\n"
    assert imported.left_out == ("The labels of intervals by the function ArithmeticMean: kveil shows their bounds.",)


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


def test_bytes_that_are_cut_off_or_changed_never_fail_otherwise(tmp_path: Path) -> None:
    for whole in (
        intervals([(0, 5, BOUNDS), (5, 7, BOUNDS)], [[(2, BOUNDS)]], upper=(7, 8, 9)),
        in_order([[(2, SET)]], ("a", "b", "c")),
        dates("YEAR"),
    ):
        for at in range(0, len(whole), 7):
            for raw in (whole[:at], whole[:at] + b"\x71" + whole[at + 1 :], whole[:at] + b"\xff" + whole[at + 1 :]):
                with suppress(KveilError):  # and nothing else
                    import_hierarchy(settings(tmp_path, raw))
