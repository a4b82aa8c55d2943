"""Read parts of a zip file that a stranger may have made: by exact names, within limits, nothing unpacked to disk."""

from __future__ import annotations

import zipfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Self
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from kveil.errors import FileError

MOST_PARTS = 10_000
MOST_XML = 8 * 2**20  # bytes
MOST_TABLE = 4 * 2**30  # bytes
TIGHTEST = 250  # bytes for each that is stored, in parts above a megabyte; tables come to 5 to 50, bombs to 1,000
DEEPEST = 50  # elements inside of elements


class Zipped:
    """An open zip file; every reason not to trust it is a FileError."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        try:
            self._zip = zipfile.ZipFile(path)
        except OSError as error:
            raise FileError(f"{path.name}: the file cannot be read ({error.strerror}); check the path.") from None
        except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError):
            raise FileError(f"{path.name} is no zip file; give a project that ARX saved.") from None
        parts = self._zip.infolist()
        if len(parts) > MOST_PARTS:
            self._zip.close()
            raise FileError(f"{path.name} has {len(parts):,} parts, more than any project; it is not read.")
        twice = [name for name, number in Counter(part.filename for part in parts).items() if number > 1]
        if twice:
            self._zip.close()
            raise FileError(
                f"{path.name} has two parts of one name, so that nobody knows which is meant; save it again."
            )
        self._parts = {part.filename: part for part in parts}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def __contains__(self, part: str) -> bool:
        return part in self._parts

    def read(self, part: str, *, most: int = MOST_XML) -> bytes:
        """Return the bytes of a part; raise FileError where it is not there, too large or not what it says."""
        info = self._parts.get(part)
        if info is None:
            raise FileError(f"{self.name} has no {part}; give a project that ARX saved.")
        if info.flag_bits & 1 or info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise FileError(f"{self.name}: {part} is encrypted or packed in a way ARX never does; save it again.")
        if info.file_size > most or info.file_size > max(2**20, TIGHTEST * info.compress_size):
            raise FileError(f"{self.name}: {part} unpacks to {info.file_size:,} bytes, which is not believed.")
        try:
            with self._zip.open(info) as file:
                content = file.read(info.file_size + 1)
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError, ValueError):
            raise FileError(f"{self.name}: {part} is damaged; save the project again.") from None
        if len(content) != info.file_size:
            raise FileError(f"{self.name}: {part} is not as long as it says; save the project again.")
        return content

    def read_text(self, part: str, *, most: int = MOST_XML) -> str:
        """Return a part as UTF-8 text."""
        try:
            return self.read(part, most=most).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise FileError(f"{self.name}: {part} is not UTF-8; save the project with a newer ARX.") from None

    def read_xml(self, part: str) -> Element:
        """Return a part as XML without document types, so that nothing in it is expanded or fetched."""
        return parse_xml(self.read(part), f"{self.name}: {part}")


def parse_xml(content: bytes, where: str) -> Element:
    """Return the root of an XML text; raise FileError for a document type, entities, deep nesting or bad form."""
    builder = TreeBuilder()
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise FileError(f"{where} is nested too deeply to be read; save the project again.")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    def refuse(*_: object) -> None:
        raise FileError(f"{where} declares a document type, which ARX never does; it is not read.")

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(content, True)
        return builder.close()
    except (expat.ExpatError, AssertionError, ValueError, LookupError):
        raise FileError(f"{where} is no XML that can be read; save the project again.") from None
