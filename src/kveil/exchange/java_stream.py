"""Java's object serialization, read as plain data: what the bytes say, without any class of theirs.

By chapter 6 of the Java Object Serialization Specification. Nothing is run or looked up; whatever is not in the
grammar below, or refers to something that has not come yet, is a FileError.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

from kveil.errors import FileError

MAGIC = b"\xac\xed\x00\x05"
DEEPEST = 200  # objects inside of objects
NULL, REFERENCE, CLASS_DESCRIPTION, OBJECT, STRING, ARRAY = 0x70, 0x71, 0x72, 0x73, 0x74, 0x75
BLOCK, END_BLOCK, LONG_BLOCK, ENUM = 0x77, 0x78, 0x7A, 0x7E
FIRST_HANDLE = 0x7E0000
PRIMITIVES = {"B": ">b", "C": ">H", "D": ">d", "F": ">f", "I": ">i", "J": ">q", "S": ">h", "Z": ">?"}


JavaFields = dict[str, Any]  # what an object of Java's holds, by the names that its class gives


@dataclass
class JavaClass:
    """A class as a stream describes it: its name, its fields with their types, and what it extends."""

    name: str
    writes: bool = False  # it adds something after its fields
    fields: list[tuple[str, str]] = field(default_factory=list)
    above: JavaClass | None = None


@dataclass
class JavaObject:
    """An object: the name of its class, its fields, and what its classes wrote after them."""

    name: str
    fields: JavaFields = field(default_factory=dict)
    written: list[Any] = field(default_factory=list)


class _Stream:
    def __init__(self, raw: bytes, name: str) -> None:
        self.raw, self.name, self.at, self.depth = raw, name, len(MAGIC), 0
        self.handles: list[Any] = []

    def fail(self) -> FileError:
        return FileError(
            f"{self.name} is no hierarchy of ARX's that can be read; save it in ARX as CSV and bring that."
        )

    def take(self, form: str) -> Any:
        size = struct.calcsize(form)
        piece = self.raw[self.at : self.at + size]
        if len(piece) < size:
            raise self.fail()
        self.at += size
        return struct.unpack(form, piece)[0]

    def text(self) -> str:
        length = self.take(">H")
        piece = self.raw[self.at : self.at + length]
        self.at += length
        try:
            return piece.decode("utf-8")
        except UnicodeDecodeError:  # Java's own way to write NUL and characters above U+FFFF
            raise self.fail() from None

    def keep(self, what: Any) -> int:
        self.handles.append(what)
        return len(self.handles) - 1

    def content(self) -> Any:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.fail()
        kind = self.take(">B")
        found = self._content(kind)
        self.depth -= 1
        return found

    def _content(self, kind: int) -> Any:
        if kind == NULL:
            return None
        if kind == REFERENCE:
            handle = self.take(">i") - FIRST_HANDLE
            if not 0 <= handle < len(self.handles):
                raise self.fail()
            return self.handles[handle]
        if kind == STRING:
            text = self.text()
            self.keep(text)
            return text
        if kind in {BLOCK, LONG_BLOCK}:
            length = self.take(">B" if kind == BLOCK else ">i")
            self.take(f">{max(length, 0)}s")
            return b""
        if kind == OBJECT:
            return self._object()
        if kind == ENUM:
            self.description()
            place = self.keep(None)
            self.handles[place] = self.content()
            return self.handles[place]
        if kind == ARRAY:
            return self._array()
        raise self.fail()

    def description(self) -> JavaClass | None:
        kind = self.take(">B")
        if kind == NULL:
            return None
        if kind == REFERENCE:
            self.at -= 1
            known = self.content()
            if not isinstance(known, JavaClass):
                raise self.fail()
            return known
        if kind != CLASS_DESCRIPTION:
            raise self.fail()
        described = JavaClass(self.text())
        self.take(">q")
        self.keep(described)
        flags = self.take(">B")
        if flags & 0x04:  # it writes in a form of its own
            raise self.fail()
        described.writes = bool(flags & 0x01)
        for _ in range(self.take(">H")):
            code, name = chr(self.take(">B")), self.text()
            if code in "[L":
                self.content()
            described.fields.append((code, name))
        self._annotation()
        described.above = self.description()
        return described

    def _annotation(self) -> list[Any]:
        found = []
        while self.at < len(self.raw) and self.raw[self.at] != END_BLOCK:
            found.append(self.content())
        self.take(">B")
        return found

    def _object(self) -> JavaObject:
        described = self.description()
        if described is None:
            raise self.fail()
        made = JavaObject(described.name)
        self.keep(made)
        classes: list[JavaClass] = []
        while described is not None:
            classes.append(described)
            if len(classes) > DEEPEST:
                raise self.fail()
            described = described.above
        for one in reversed(classes):
            for code, name in one.fields:
                made.fields[name] = self.take(PRIMITIVES[code]) if code in PRIMITIVES else self._field(code)
            if one.writes:
                made.written += self._annotation()
        return made

    def _field(self, code: str) -> Any:
        if code not in "[L":
            raise self.fail()
        return self.content()

    def _array(self) -> list[Any]:
        described = self.description()
        found: list[Any] = []
        self.keep(found)
        length = self.take(">i")
        code = described.name[1:2] if described is not None else ""
        if not 0 <= length <= len(self.raw):
            raise self.fail()
        found.extend(self.take(PRIMITIVES[code]) if code in PRIMITIVES else self._field(code) for _ in range(length))
        return found


def read_java(raw: bytes, name: str) -> JavaObject:
    """Return the first object of a stream; ``name`` stands in errors."""
    stream = _Stream(raw, name)
    if not raw.startswith(MAGIC):
        raise stream.fail()
    try:
        found = stream.content()
    except struct.error:
        raise stream.fail() from None
    if not isinstance(found, JavaObject):
        raise stream.fail()
    return found


def unwrap(value: Any) -> Any:
    """Return the number, text or list that a Java object stands for; anything else as it is."""
    if isinstance(value, JavaObject):
        if set(value.fields) == {"value"}:  # java.lang.Long and its like
            return value.fields["value"]
        if value.name in {"java.util.ArrayList", "java.util.LinkedList"}:
            return [item for item in value.written if item != b""]
        if value.name in {"java.util.HashMap", "java.util.LinkedHashMap"}:
            pairs = [item for item in value.written if item != b""]
            return dict(zip(map(unwrap, pairs[::2]), pairs[1::2], strict=False))
    return value
