"""A table as SAS keeps it (`.sas7bdat`), by the layout that readers of others found out: 32 bits, little-endian."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

MAGIC = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
PAGE = 4096
LEFT_OUT = 12  # bytes of a part that its own length leaves out


def _part(signature: int, inside: bytes) -> bytes:
    """A part of the first page that says its own length; it ends with room for more."""
    length = 4 + 8 + len(inside) + 8
    return struct.pack("<IHHHH", signature, length - LEFT_OUT, 0, 0, 0) + inside + bytes(8)


def sas_bytes(columns: Mapping[str, Sequence[str] | Sequence[float]]) -> bytes:
    """Return a file with columns of texts or of numbers; a number that is none (NaN) is missing."""
    widths = {
        name: max(len(str(value).encode()) for value in values) if isinstance(values[0], str) else 8
        for name, values in columns.items()
    }
    row_length, rows = sum(widths.values()), len(next(iter(columns.values())))
    names = "".join(columns).encode()
    text = _part(0xFFFFFFFD, names + bytes(-len(names) % 4))
    name_of, attributes = b"", b""
    offset, at = 0, 8  # names stand behind the length of their part
    for name, values in columns.items():
        name_of += struct.pack("<HHHH", 0, at, len(name.encode()), 0)
        kind = 2 if isinstance(values[0], str) else 1
        attributes += struct.pack("<IIHBB", offset, widths[name], 0, kind, 0)
        at, offset = at + len(name.encode()), offset + widths[name]
    size = bytearray(struct.pack("<I", 0xF7F7F7F7) + bytes(476))
    struct.pack_into("<II", size, 20, row_length, rows)
    struct.pack_into("<I", size, 60, rows)
    parts = [
        text,
        bytes(size),
        struct.pack("<III", 0xF6F6F6F6, len(columns), 0),
        _part(0xFFFFFFFF, name_of),
        _part(0xFFFFFFFC, attributes),
    ]
    header = bytearray(1024)
    header[:32] = MAGIC
    header[32], header[35], header[37], header[39], header[70] = 0x22, 0x22, 1, ord("1"), 20  # UTF-8
    header[84:92], header[92:124] = b"SAS FILE", b"MADE".ljust(32)
    struct.pack_into("<III", header, 196, len(header), PAGE, 2)
    header[216:224] = b"9.0401M6"
    first = bytearray(PAGE)
    struct.pack_into("<HHH", first, 16, 0, len(parts), len(parts))
    end = PAGE
    for number, part in enumerate(parts):
        end -= len(part)
        first[end : end + len(part)] = part
        struct.pack_into("<IIBB", first, 24 + 12 * number, end, len(part), 0, 0)
    second = bytearray(PAGE)
    struct.pack_into("<HHH", second, 16, 0x0100, rows, 0)
    for row in range(rows):
        cells = b"".join(
            value.encode().ljust(widths[name]) if isinstance(value, str) else struct.pack("<d", value)
            for name, value in ((name, values[row]) for name, values in columns.items())
        )
        second[24 + row * row_length : 24 + (row + 1) * row_length] = cells
    return bytes(header + first + second)
