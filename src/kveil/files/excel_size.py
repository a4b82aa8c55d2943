"""How many cells a workbook comes to, before any of them is laid out.

The library lays out every cell between the first and the last one that is used, so that two cells at the ends of a
sheet take all memory. What a workbook says of its own size is never trusted: its cells are looked at, and its parts are
unpacked piece by piece.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from kveil.arrays import Bools
from kveil.errors import FileError
from kveil.files.room import HELD_TIMES, UnpackedBytes

MOST_CELLS = 10**8
PIECE = 1 << 22  # bytes that are looked at at a time
LONGEST_REF = 16  # bytes that a cell's `<c r="XFD1048576"` goes on for behind its quote, with some to spare
STORED, DEFLATED = 0, 8
LOCAL_HEADER = struct.Struct("<4s22xHH")  # of a part: its mark, the lengths of its name and of what stands behind that
ROW_RECORD, FIRST_CELL, LAST_CELL = 0, 1, 11  # kinds of records of a binary sheet
SHARED, STYLES = "sharedstrings.xml", "styles.xml"  # parts without cells, by the ends of their names
HELD = 32  # bytes that the library holds of every cell of the rectangle


class Odd(Exception):
    """A sheet whose cells are not written as programs write them, so that only reading it by the rules tells."""


@dataclass
class CellBox:
    """The smallest rectangle around the cells of a sheet: its first and last row and column."""

    used: int = 0  # how many cells say that they are there
    first_row: int = 2**62
    last_row: int = -1
    first_column: int = 2**62
    last_column: int = -1

    def hold(self, row: int, column: int, *, rows: int = 1, columns: int = 1) -> None:
        """Widen the rectangle, so that it holds some cells, too."""
        self.used += rows * columns
        self.first_row, self.last_row = min(self.first_row, row), max(self.last_row, row + rows - 1)
        self.first_column = min(self.first_column, column)
        self.last_column = max(self.last_column, column + columns - 1)

    @property
    def cells(self) -> int:
        """How many cells the rectangle has."""
        if self.last_row < 0:
            return 0
        return (self.last_row - self.first_row + 1) * (self.last_column - self.first_column + 1)


def check_workbook(raw: bytes, name: str) -> None:
    """Raise FileError where a workbook would take more cells, or more memory, than it may."""
    if not raw.startswith(b"PK"):  # an old one, whose rows and columns are few
        return
    room = UnpackedBytes(name)
    most = MOST_CELLS if room.most is None else min(MOST_CELLS, room.most * HELD_TIMES // HELD)
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as packed:
            parts = packed.infolist()
        texts = [part for part in parts if part.filename.lower().endswith(SHARED)]
        longest = max((_longest(_counted(_unpacked(raw, part), room)) for part in texts), default=0)
        used = 0
        for part in parts:
            if part in texts:
                continue
            box = _box_of(raw, part, room, most)
            used += box.used
            if box.cells > most:
                raise FileError(
                    f"{name}: a sheet has cells so far apart that {box.cells:,} lie between the first and the last, "
                    f"more than {most:,}; delete what stands far out, or save the table as CSV."
                )
        if room.most is not None and longest * used > room.most:
            room.take(_shown_length(raw, parts, texts))
    except (zipfile.BadZipFile, zlib.error, struct.error, ValueError, OSError, IndexError, expat.ExpatError):
        raise FileError(
            f"{name}: this is not a whole Excel file; it may be cut off, locked or of another kind."
        ) from None


def _box_of(raw: bytes, part: zipfile.ZipInfo, room: UnpackedBytes, most: int) -> CellBox:
    """Return the rectangle of the cells of a part, none where it is no sheet; all of it is unpacked."""
    name = part.filename.lower()
    pieces = _counted(_unpacked(raw, part), room)
    if name.endswith(".bin"):
        return _box_of_records(pieces)
    if name == "content.xml":
        return _box_by_rules(pieces, _OpenDocument())
    if name.endswith(STYLES) or not name.endswith(".xml"):
        deque(pieces, maxlen=0)
        return CellBox()
    try:
        box = _box_at_a_glance(pieces)
    except Odd:
        box = None
    if box is None or box.cells > most:  # cells without a value do not count, which only the rules tell
        return _box_by_rules(_unpacked(raw, part), _Sheet())
    return box


def _unpacked(raw: bytes, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """Give the bytes of a part, as many as there are, whatever its header says of their number."""
    mark, name, extra = LOCAL_HEADER.unpack_from(raw, part.header_offset)
    begin = part.header_offset + LOCAL_HEADER.size + name + extra
    packed = memoryview(raw)[begin : begin + part.compress_size]
    if mark != b"PK\x03\x04" or part.flag_bits & 1 or part.compress_type not in (STORED, DEFLATED):
        raise zipfile.BadZipFile
    unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
    for at in range(0, len(packed), PIECE):
        given: bytes | memoryview = packed[at : at + PIECE]
        if part.compress_type == STORED:
            yield bytes(given)
            continue
        while given and not unpacking.eof:
            yield unpacking.decompress(given, PIECE)
            given = unpacking.unconsumed_tail


def _counted(pieces: Iterator[bytes], room: UnpackedBytes) -> Iterator[bytes]:
    for piece in pieces:
        room.take(len(piece))
        yield piece


# ------------------------------------------------------------------------------------------------ sheets in XML


def _box_at_a_glance(pieces: Iterator[bytes]) -> CellBox:
    """Return the rectangle of all cells of a sheet, empty ones, too, by where each says that it is.

    Raise Odd where one does not say it as programs write it. A tenth of the time that reading the sheet takes.
    """
    box, rest = CellBox(), b""
    for piece in pieces:
        text = rest + piece
        cut = text.rfind(b"<", max(len(text) - LONGEST_REF - 8, 0))
        cut = len(text) if cut < 0 else cut
        _hold_cells(text[:cut], box)
        rest = text[cut:]
    _hold_cells(rest, box)
    return box


def _hold_cells(text: bytes, box: CellBox) -> None:
    raw = np.frombuffer(text + bytes(LONGEST_REF + 8), dtype=np.uint8)
    ends = raw[2:] <= ord(" ")
    ends |= (raw[2:] == ord("/")) | (raw[2:] == ord(">"))
    ends &= raw[1:-1] == ord("c")
    cells = np.flatnonzero(ends & (raw[:-2] == ord("<")))
    if (ends & (raw[:-2] == ord(":"))).any():
        raise Odd
    if not len(cells):
        return
    for place, sign in enumerate(b' r="', 2):
        if (raw[cells + place] != sign).any():
            raise Odd
    rows, columns = _places(raw, cells + 6)
    box.hold(int(rows.min()), int(columns.min()))
    box.hold(int(rows.max()), int(columns.max()))
    box.used += len(cells)


def _places(raw: NDArray[np.uint8], at: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows and columns, from 1, of cells whose names begin at some places, such as `AB12`."""
    columns, rows = np.zeros(len(at), dtype=np.int64), np.zeros(len(at), dtype=np.int64)
    ended = np.zeros(len(at), dtype=bool)
    for place in range(LONGEST_REF):
        signs = raw[at + place]
        ended |= signs == ord('"')
        if ended.all():
            break
        letter = (signs >= ord("A")) & (signs <= ord("Z")) & (rows == 0)
        digit = (signs >= ord("0")) & (signs <= ord("9"))
        if (~(letter | digit | ended)).any():
            raise Odd
        columns = np.where(letter & ~ended, columns * 26 + signs - (ord("A") - 1), columns)
        rows = np.where(digit & ~ended, rows * 10 + signs - ord("0"), rows)
    if not ended.all() or not rows.all() or not columns.all():
        raise Odd
    return rows, columns


class _Sheet:
    """A sheet as its elements say it: where cells are that have something in them."""

    def __init__(self) -> None:
        self.box = CellBox()
        self.row, self.column = 0, 0
        self.cell: tuple[int, int] | None = None

    def begin(self, tag: str, told: dict[str, str]) -> None:
        """Take note of an element that begins."""
        tag = tag.rpartition(":")[2]
        if tag == "row":
            self.row, self.column = int(told["r"]) if "r" in told else self.row + 1, 0
        elif tag == "c":
            self.column += 1
            if "r" in told:
                letters = told["r"].rstrip("0123456789")
                self.row, self.column = int(told["r"][len(letters) :]), _column_number(letters)
            self.cell = self.row, self.column
        elif self.cell is not None:  # something in a cell
            self.box.hold(*self.cell)

    def end(self, tag: str) -> None:
        """Take note of an element that ends."""
        if tag.rpartition(":")[2] == "c":
            self.cell = None


class _OpenDocument:
    """The sheets of an OpenDocument as its elements say them: cells and rows may be said to repeat."""

    def __init__(self) -> None:
        self.box = CellBox()
        self.row = self.rows = self.column = 0

    def begin(self, tag: str, told: dict[str, str]) -> None:
        """Take note of an element that begins."""
        tag = tag.rpartition(":")[2]
        if tag == "table":
            self.row = self.rows = 0
        elif tag == "table-row":
            self.row, self.rows, self.column = self.row + self.rows, int(told.get("table:number-rows-repeated", 1)), 0
        elif tag in ("table-cell", "covered-table-cell"):
            times = int(told.get("table:number-columns-repeated", 1))
            if any(key.startswith("office:") for key in told):
                self.box.hold(self.row, self.column, rows=self.rows, columns=times)
            self.column += times
        elif tag == "p":
            self.box.hold(self.row, max(self.column - 1, 0))

    def end(self, tag: str) -> None:
        """Take note of an element that ends."""


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _box_by_rules(pieces: Iterator[bytes], sheet: _Sheet | _OpenDocument) -> CellBox:
    """Return the rectangle of the cells that have something in them, element by element."""
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = sheet.begin, sheet.end
    for piece in pieces:
        parser.Parse(piece, False)
    parser.Parse(b"", True)
    return sheet.box


# ------------------------------------------------------------------------------------------------ texts


def _longest(pieces: Iterator[bytes]) -> int:
    """Return the most bytes that one of the texts which cells share may have: those between two beginnings."""
    longest = since = 0
    for piece in pieces:
        begins = np.flatnonzero(_begins_text(np.frombuffer(piece + bytes(2), dtype=np.uint8)))
        edges = np.concatenate([[-since], begins, [len(piece)]])
        longest = max(longest, int(np.diff(edges).max()))
        since = len(piece) - int(edges[-2])
    return longest


def _begins_text(raw: NDArray[np.uint8]) -> Bools:
    begins: Bools = (raw[:-2] == ord("<")) & (raw[1:-1] == ord("s")) & (raw[2:] == ord("i"))
    return begins


class _SharedTexts:
    """The lengths of the texts that cells share, and how much all cells show of them together."""

    def __init__(self) -> None:
        self.lengths: list[int] = []
        self.shown = 0
        self._inside = False
        self._number = ""

    def begin(self, tag: str, told: dict[str, str]) -> None:
        """Take note of an element that begins."""
        tag = tag.rpartition(":")[2]
        if tag == "si":
            self.lengths.append(0)
        elif tag == "c":
            self._inside = told.get("t") == "s"
            self._number = ""

    def end(self, tag: str) -> None:
        """Take note of an element that ends."""
        if tag.rpartition(":")[2] == "c" and self._inside and self._number.strip().isdigit():
            self.shown += self.lengths[int(self._number)]

    def read(self, text: str) -> None:
        """Take note of a piece of text: of one of those that are shared, or of the number of one."""
        if self._inside:
            self._number += text
        elif self.lengths:
            self.lengths[-1] += len(text)


def _shown_length(raw: bytes, parts: Sequence[zipfile.ZipInfo], texts: Sequence[zipfile.ZipInfo]) -> int:
    """Return how many characters the cells of all sheets show of texts that they share."""
    shared = _SharedTexts()
    others = [part for part in parts if part not in texts and part.filename.lower().endswith(".xml")]
    for part in (*texts, *others):
        parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = shared.begin, shared.end
        parser.CharacterDataHandler = shared.read
        for piece in _unpacked(raw, part):
            parser.Parse(piece, False)
        parser.Parse(b"", True)
    return shared.shown


# ------------------------------------------------------------------------------------------------ binary sheets


def _box_of_records(pieces: Iterator[bytes]) -> CellBox:
    """Return the rectangle of the cells of a binary sheet, record by record."""
    box, row = CellBox(), 0
    reader = _Records(pieces)
    while (record := reader.next()) is not None:
        kind, content = record
        if kind == ROW_RECORD and len(content) >= 4:
            row = struct.unpack_from("<I", content)[0]
        elif FIRST_CELL <= kind <= LAST_CELL and len(content) >= 4:
            box.hold(row, struct.unpack_from("<I", content)[0])
    return box


class _Records:
    """The records of a binary part: a kind and a length of some bytes each, seven bits to the byte, and the content."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._text, self._at = pieces, b"", 0

    def next(self) -> tuple[int, bytes] | None:
        """Return the next record, None behind the last one that is whole."""
        kind, size = self._number(2), self._number(4)
        content = None if size is None else self._bytes(size)
        return None if kind is None or content is None else (kind, content)

    def _number(self, most: int) -> int | None:
        number = 0
        for place in range(most):
            byte = self._bytes(1)
            if byte is None:
                return None
            number |= (byte[0] & 127) << 7 * place
            if byte[0] < 128:
                break
        return number

    def _bytes(self, size: int) -> bytes | None:
        while len(self._text) - self._at < size:
            piece = next(self._pieces, None)
            if piece is None:
                return None
            self._text, self._at = self._text[self._at :] + piece, 0
        self._at += size
        return self._text[self._at - size : self._at]
