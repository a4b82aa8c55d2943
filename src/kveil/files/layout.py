"""How a table lies in its file, where the file does not say so: its encoding, its sheet, lines above its names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kveil.errors import DataError, FileError
from kveil.files.encodings import UTF8
from kveil.suffixes import Kind
from kveil.words import count, did_you_mean, listing


class SaidOfFile(Protocol):
    """What a policy says of the file that its table is in."""

    @property
    def separator(self) -> str | None:
        """What stands between the cells of a CSV."""

    @property
    def encoding(self) -> str:
        """The encoding of a CSV."""

    @property
    def sheet(self) -> str | None:
        """The sheet of a workbook, by its name or its number from 1."""

    @property
    def skip(self) -> int:
        """How many lines stand above the names of columns."""


@dataclass(frozen=True, kw_only=True)
class FileLayout:
    """What a file does not say of itself; ``sheet`` is a name, or a number from 1 where no sheet has that name.

    ``skip`` counts the lines, or the rows of a sheet, above the one that has the names of columns.
    """

    separator: str | None = None
    encoding: str = UTF8
    sheet: str | None = None
    skip: int = 0

    @classmethod
    def said(cls, data: SaidOfFile) -> FileLayout:
        """Return the layout that a policy's `data` says."""
        return cls(separator=data.separator, encoding=data.encoding, sheet=data.sheet, skip=data.skip)


PLAIN_LAYOUT = FileLayout()


def check_layout(layout: SaidOfFile, kind: Kind | str, name: str) -> None:
    """Raise DataError where a sheet or lines above the names are spoken of, and such a table has none."""
    if layout.sheet is not None and kind != "excel":
        raise DataError(f"{name} has no sheets, as a workbook has; leave sheet out.")
    if layout.skip and kind not in ("csv", "excel"):
        raise DataError(f"{name} has no lines above its names of columns, as a CSV or a sheet may; leave skip out.")


def lines_below(raw: bytes, skip: int, name: str) -> bytes:
    """Return a text without the lines above its names of columns."""
    at = 0
    for line in range(skip):
        end = raw.find(b"\n", at)
        if end < 0:
            raise _nothing_below(name, skip, count(line + (at < len(raw)), "line"))
        at = end + 1
    if skip and not raw[at:].strip():
        raise _nothing_below(name, skip, count(raw.count(b"\n"), "line"))
    return raw[at:] if at else raw


def _nothing_below(name: str, skip: int, has: str) -> FileError:
    return FileError(f"{name}: skip leaves out {count(skip, 'line')}, and it has {has}; give a smaller number.")


def sheet_place(sheet: str | None, names: Sequence[str], name: str) -> int:
    """Return the place of the sheet that is asked for, the first one where none is; by its name or number from 1."""
    if sheet is None or sheet in names:
        return 0 if sheet is None else names.index(sheet)
    if sheet.isascii() and sheet.isdigit() and 1 <= int(sheet[:9]) <= len(names) and len(sheet) < 10:
        return int(sheet) - 1
    hint = did_you_mean(sheet, list(names))
    raise DataError(
        f"{name} has no sheet {sheet!r}; it has {listing([repr(each) for each in names], 10)}, which may also be given "
        f"by numbers from 1{hint or '.'}"
    )
