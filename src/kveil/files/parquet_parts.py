"""What a Parquet file holds beside its cells, read from its footer and the headers of its pages.

Only what is needed of Thrift's compact protocol and of the format's structures, by the numbers of their fields.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from mmap import mmap
from typing import Any

ThriftFields = dict[int, Any]  # a structure's fields by the numbers that the format gives them
MAGIC = b"PAR1"
DICTIONARY_PAGE = 2
SCHEMA_KEY = "ARROW:schema"  # the schema as Arrow writes it, which may hold metadata of its own


class Unreadable(Exception):
    """A file whose structure is not what its format says."""


@dataclass(frozen=True)
class Chunk:
    """The cells of one column in one row group: its path, its rows, and how many values its dictionary lists."""

    path: str
    first_row: int
    rows: int
    dictionary: int | None


@dataclass
class ParquetParts:
    """What a Parquet file holds beside cells."""

    metadata: dict[str, bytes] = field(default_factory=dict)
    statistics: int = 0  # column chunks and pages that have some
    chunks: list[Chunk] = field(default_factory=list)
    outside: int = 0  # bytes that belong to no column


class _Compact:
    """A reader of Thrift's compact protocol: structures as dicts by field number."""

    def __init__(self, raw: bytes | mmap, at: int) -> None:
        self.raw, self.at = raw, at

    def _varint(self) -> int:
        shift = value = 0
        while True:
            byte = self.raw[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def _signed(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _binary(self) -> bytes:
        size = self._varint()
        self.at += size
        return self.raw[self.at - size : self.at]

    def _double(self) -> float:
        self.at += 8
        return float(struct.unpack_from("<d", self.raw, self.at - 8)[0])

    def _list(self) -> list[Any]:
        head = self.raw[self.at]
        self.at += 1
        size = self._varint() if head >> 4 == 15 else head >> 4
        kind = head & 15
        return [self._value(kind) for _ in range(size)]

    def _map(self) -> list[tuple[Any, Any]]:
        size = self._varint()
        if not size:
            return []
        kinds = self.raw[self.at]
        self.at += 1
        return [(self._value(kinds >> 4), self._value(kinds & 15)) for _ in range(size)]

    def _byte(self) -> int:
        self.at += 1
        return self.raw[self.at - 1]

    def _value(self, kind: int) -> Any:
        readers: dict[int, Callable[[], Any]] = {
            1: self._byte, 2: self._byte, 3: self._byte, 4: self._signed, 5: self._signed, 6: self._signed,
            7: self._double, 8: self._binary, 9: self._list, 10: self._list, 11: self._map, 12: self.structure,
        }  # fmt: skip
        return readers[kind]()

    def structure(self) -> ThriftFields:
        """Return a structure's fields by their numbers."""
        fields: ThriftFields = {}
        number = 0
        while True:
            head = self.raw[self.at]
            self.at += 1
            if not head:
                return fields
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind)


def parquet_parts(raw: bytes | mmap) -> ParquetParts:
    """Return what a Parquet file holds beside its cells; raise Unreadable where it is not built like one."""
    try:
        return _parts(raw)
    except (IndexError, KeyError, struct.error, TypeError, RecursionError, UnicodeDecodeError):
        raise Unreadable from None


def _parts(raw: bytes | mmap) -> ParquetParts:
    if raw[:4] != MAGIC or raw[-4:] != MAGIC:
        raise Unreadable
    size = struct.unpack_from("<i", raw, len(raw) - 8)[0]
    footer_at = len(raw) - 8 - size
    footer = _Compact(raw, footer_at).structure()
    parts = ParquetParts(metadata=_key_values(footer.get(5)))
    inside = 4 + size + 8
    first_row = 0
    for group in footer.get(4) or ():
        for column in group[1]:
            about = column[3]
            path = ".".join(name.decode() for name in about[3])
            parts.metadata |= {f"{path}: {key}": value for key, value in _key_values(about.get(8)).items()}
            parts.statistics += _tells(about.get(12))
            inside += about[7]
            dictionary = None
            for header in _pages(raw, min(about.get(11) or about[9], about[9]), about[7]):
                if header[1] == DICTIONARY_PAGE:
                    dictionary = header[7][1]
                parts.statistics += _tells(header.get(5, {}).get(5)) or _tells(header.get(8, {}).get(8))
            parts.chunks.append(Chunk(path, first_row, group[3], dictionary))
        first_row += group[3]
    parts.outside = len(raw) - inside
    return parts


def _tells(statistics: ThriftFields | None) -> bool:
    """Tell whether statistics name a smallest or largest value, or count different ones; how many are null is seen."""
    return statistics is not None and not {1, 2, 4, 5, 6}.isdisjoint(statistics)


def _key_values(entries: Any) -> dict[str, bytes]:
    return {entry[1].decode(): entry.get(2, b"") for entry in entries or ()}


def _pages(raw: bytes | mmap, at: int, size: int) -> Iterator[ThriftFields]:
    end = at + size
    while at < end:
        reader = _Compact(raw, at)
        header = reader.structure()
        yield header
        at = reader.at + header[3]
