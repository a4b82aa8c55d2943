"""CSV in gzip and zstd."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kveil.errors import FileError
from kveil.files.extras import import_extra
from kveil.files.room import UnpackedBytes

GZIP_LEVEL, ZSTD_LEVEL = 6, 3
FED, PIECE = 1 << 20, 1 << 24  # bytes that go into unpacking at a time, and that come out of it at most
IN_GZIP = 16 + zlib.MAX_WBITS  # what zlib calls a stream with the header of gzip


def _zstandard() -> Any:
    import zstandard

    return zstandard


def unpack_file(raw: bytes, path: Path) -> bytes:
    """Return the bytes of a file, unpacked where its suffix says that it is packed.

    Piece by piece, so that a small file of which a very large one comes out is refused before it takes all memory.
    """
    suffix = path.suffix.lower()
    if suffix not in (".gz", ".zst"):
        return raw
    try:
        room, unpacked = UnpackedBytes(path.name), io.BytesIO()
        for piece in _from_gzip(raw) if suffix == ".gz" else _from_zstd(raw):
            room.take(len(piece))
            unpacked.write(piece)
    except (OSError, EOFError, zlib.error):
        raise _broken(path) from None
    except FileError:
        raise
    except Exception as error:  # zstandard's own kind, known only where the library is there
        if type(error).__name__ != "ZstdError":
            raise
        raise _broken(path) from None
    return unpacked.getvalue()


def _from_gzip(raw: bytes) -> Iterator[bytes]:
    """Give what comes out of gzip, whose files may have several members, and zeros behind the last."""
    at = 0
    while at < len(raw):
        member = zlib.decompressobj(IN_GZIP)
        while not member.eof:
            if at == len(raw):
                raise EOFError
            given = raw[at : at + FED]
            at += len(given)
            while given and not member.eof:
                yield member.decompress(given, PIECE)
                given = member.unconsumed_tail
        at -= len(member.unused_data)
        while raw[at : at + 1] == b"\0":
            at += 1


def _from_zstd(raw: bytes) -> Iterator[bytes]:
    zstandard = import_extra(_zstandard, "zstd files", "zstandard")
    empty = True
    with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(raw), read_across_frames=True) as reader:
        while piece := reader.read(PIECE):
            empty = False
            yield piece
    if empty and raw:
        raise EOFError  # the reader takes a cut-off first block for nothing


def _broken(path: Path) -> FileError:
    return FileError(
        f"{path.name}: this is not a whole {path.suffix.lower()} file; it may be cut off or of another kind, so "
        "check the file."
    )


def pack_file(content: bytes, path: Path) -> bytes:
    """Return the bytes of a file, packed where its suffix says so, without a name or a time in front of them."""
    suffix = path.suffix.lower()
    if suffix == ".gz":
        return gzip.compress(content, GZIP_LEVEL, mtime=0)
    if suffix == ".zst":
        compressed: bytes = (
            import_extra(_zstandard, "zstd files", "zstandard").ZstdCompressor(ZSTD_LEVEL).compress(content)
        )
        return compressed
    return content


def tells_beside(raw: bytes) -> bool:
    """Tell whether a gzip file's header has a name, a comment, a time or anything else beside its content."""
    return raw[:2] == b"\x1f\x8b" and (raw[3] != 0 or raw[4:8] != bytes(4))
