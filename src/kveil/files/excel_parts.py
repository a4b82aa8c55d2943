"""What a workbook holds beside the cells of its first sheet: other parts, properties, texts that no cell shows."""

from __future__ import annotations

import io
import re
import zipfile
import zlib

from kveil.files.parquet_parts import Unreadable
from kveil.words import count

PROPERTIES = ("docProps/core.xml", "docProps/app.xml", "docProps/custom.xml")
STRINGS = "xl/sharedStrings.xml"
LAYOUT = ("xl/theme/", "xl/styles.xml", "xl/printerSettings", "xl/calcChain.xml")


def in_excel(raw: bytes, ours: bytes) -> list[str]:
    """Return what a workbook tells beside its cells, in words, compared with ``ours`` for the same cells."""
    parts, own = _parts(raw), _parts(ours)
    told = []
    if any(parts.get(name, own.get(name)) != own.get(name) for name in PROPERTIES):
        told.append("properties of the document, such as who made it and when")
    sheets = [name for name in parts if name.startswith("xl/worksheets/sheet")]
    others = [
        name for name in parts if name not in own and name not in sheets and not name.startswith((*PROPERTIES, *LAYOUT))
    ]
    if len(sheets) > 1:
        told.append(f"{count(len(sheets) - 1, 'sheet')} beside the first")
    if others:
        told.append(f"{count(len(others), 'part')} beside its sheets, such as comments or pictures")
    listed = len(re.findall(rb"<si[ >/]", parts.get(STRINGS, b"")))
    shown = {number for name in sheets for number in re.findall(rb't="s"[^>]*><v>(\d+)</v>', parts[name])}
    if listed > len(shown):
        told.append(f"{count(listed - len(shown), 'text')} that no cell shows")
    hidden = any(re.search(rb'hidden="(?:1|true)"', parts[name]) for name in sheets)
    if hidden or any(b"<f" in parts[name] for name in sheets):
        told.append("hidden rows or columns, or formulas")
    if _around(raw) > _around(ours):
        told.append("bytes that belong to no part")
    return told


def _parts(raw: bytes) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as packed:
            return {name: packed.read(name) for name in packed.namelist()}
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError):
        raise Unreadable from None


def _around(raw: bytes) -> int:
    """Return how many bytes of a workbook belong to no part: a comment, and what stands in front of the first."""
    with zipfile.ZipFile(io.BytesIO(raw)) as packed:
        extra = sum(len(part.comment) + len(part.extra) for part in packed.infolist())
        first = min((part.header_offset for part in packed.infolist()), default=0)
        return len(packed.comment) + extra + first
