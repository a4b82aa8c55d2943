"""Settings of ARX's hierarchies as the bytes that it writes; no test."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from kveil.flow.exchange import import_hierarchy

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
