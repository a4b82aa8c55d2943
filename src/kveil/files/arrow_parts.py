"""What an Arrow file or stream holds beside its cells: metadata, and dictionaries.

Only what is needed of FlatBuffers and of the format's tables, by the numbers of their fields.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

from kveil.files.parquet_parts import Unreadable

MAGIC = b"ARROW1"
CONTINUED = b"\xff\xff\xff\xff"  # in front of a message
END = CONTINUED + b"\0\0\0\0"
SCHEMA, DICTIONARY_BATCH = 1, 2  # kinds of messages


@dataclass
class ArrowParts:
    """What an Arrow file holds beside cells: metadata by where it stands, values listed per column's dictionary."""

    metadata: dict[str, bytes] = field(default_factory=dict)
    columns: dict[str, int] = field(default_factory=dict)  # columns with a dictionary, and its number
    dictionaries: dict[int, int] = field(default_factory=dict)  # how many values each dictionary lists
    outside: int = 0  # bytes that belong to no message


class _Flat:
    """A table of a FlatBuffer."""

    def __init__(self, raw: bytes, at: int) -> None:
        self.raw, self.at = raw, at
        self.fields = at - _int(raw, at)

    @classmethod
    def root(cls, raw: bytes) -> _Flat:
        """Return the table that a buffer begins with."""
        return cls(raw, _int(raw, 0))

    def place(self, number: int) -> int | None:
        """Return where a field stands, None where the table has none."""
        entry = 4 + 2 * number
        if entry >= struct.unpack_from("<H", self.raw, self.fields)[0]:
            return None
        offset = struct.unpack_from("<H", self.raw, self.fields + entry)[0]
        return self.at + offset if offset else None

    def number(self, number: int, form: str) -> int:
        """Return a number, 0 by default."""
        at = self.place(number)
        return 0 if at is None else int(struct.unpack_from(f"<{form}", self.raw, at)[0])

    def table(self, number: int) -> _Flat | None:
        """Return a table inside of this one."""
        at = self.place(number)
        return None if at is None else _Flat(self.raw, at + _int(self.raw, at))

    def tables(self, number: int) -> list[_Flat]:
        """Return a list of tables inside of this one."""
        at = self.place(number)
        if at is None:
            return []
        at += _int(self.raw, at)
        starts = range(at + 4, at + 4 + 4 * _int(self.raw, at), 4)
        return [_Flat(self.raw, start + _int(self.raw, start)) for start in starts]

    def blocks(self, number: int) -> list[tuple[int, int]]:
        """Return where messages of a file stand: each one's first byte, and its length."""
        at = self.place(number)
        if at is None:
            return []
        at += _int(self.raw, at)
        places = range(at + 4, at + 4 + 24 * _int(self.raw, at), 24)
        entries = [struct.unpack_from("<qi4xq", self.raw, place) for place in places]
        return [(begin, about + body) for begin, about, body in entries]

    def text(self, number: int) -> bytes:
        """Return a text, empty by default."""
        at = self.place(number)
        if at is None:
            return b""
        at += _int(self.raw, at)
        return self.raw[at + 4 : at + 4 + _int(self.raw, at)]

    def metadata(self, number: int, where: str) -> dict[str, bytes]:
        """Return a list of keys and values, the keys led by where they stand."""
        return {f"{where}{entry.text(0).decode()}": entry.text(1) for entry in self.tables(number)}


def _int(raw: bytes, at: int) -> int:
    return int(struct.unpack_from("<i", raw, at)[0])


def arrow_parts(raw: bytes) -> ArrowParts:
    """Return what an Arrow file or stream holds beside its cells; raise Unreadable where it is not built like one."""
    parts = ArrowParts()
    try:
        if raw.startswith(MAGIC):
            _file(raw, parts)
        else:
            at = 0
            while at < len(raw):
                at = _message(raw, at, len(raw), parts)
    except (IndexError, struct.error, UnicodeDecodeError, RecursionError):
        raise Unreadable from None
    return parts


def _file(raw: bytes, parts: ArrowParts) -> None:
    """Look at a file's footer, at the messages it names, and at what lies between them."""
    size = _int(raw, len(raw) - 10)
    end = len(raw) - 10 - size
    footer = _Flat.root(raw[end : end + size])
    parts.metadata |= footer.metadata(4, "footer: ")
    _schema(footer.table(1), parts)
    blocks = sorted(footer.blocks(2) + footer.blocks(3))
    at = 8
    if raw[at : at + 4] == CONTINUED:
        at = _message(raw, at, end, parts)  # the schema once more, as streams have it
    elif blocks:
        at = blocks[0][0]
    for begin, length in blocks:
        parts.outside += max(begin - at, 0)
        _message(raw, begin, end, parts)
        at = begin + length
    rest = raw[at:end]
    parts.outside += len(rest.removeprefix(END).strip(b"\0")) if blocks else 0


def schema_metadata(message: bytes) -> dict[str, bytes]:
    """Return the metadata of a schema that is written as one message, as Parquet files carry it."""
    parts = ArrowParts()
    try:
        _message(message, 0, len(message), parts)
    except (IndexError, struct.error, UnicodeDecodeError, RecursionError):
        raise Unreadable from None
    return parts.metadata


def _message(raw: bytes, at: int, end: int, parts: ArrowParts) -> int:
    """Look at one message and return where the next one begins."""
    size = _int(raw, at)
    at += 4
    if size == -1:
        size = _int(raw, at)
        at += 4
    if size == 0:  # the end of the stream
        parts.outside += end - at
        return end
    message = _Flat.root(raw[at : at + size])
    parts.metadata |= message.metadata(4, "message: ")
    header: Any = message.table(2)
    kind = message.number(1, "b")
    if kind == SCHEMA:
        _schema(header, parts)
    elif kind == DICTIONARY_BATCH:
        number = header.number(0, "q")
        parts.dictionaries[number] = parts.dictionaries.get(number, 0) + header.table(1).number(0, "q")
    return at + size + message.number(3, "q")


def _schema(schema: _Flat | None, parts: ArrowParts) -> None:
    if schema is None:
        raise Unreadable
    parts.metadata |= schema.metadata(2, "")
    for column in schema.tables(1):
        name = column.text(0).decode()
        parts.metadata |= column.metadata(6, f"{name}: ")
        encoding = column.table(4)
        if encoding is not None:
            parts.columns[name] = encoding.number(0, "q")
