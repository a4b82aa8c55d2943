"""CSV in gzip and zstd."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import Any

from kveil.errors import FileError
from kveil.files.extras import import_extra

GZIP_LEVEL, ZSTD_LEVEL = 6, 3


def _zstandard() -> Any:
    import zstandard

    return zstandard


def unpack_file(raw: bytes, path: Path) -> bytes:
    """Return the bytes of a file, unpacked where its suffix says that it is packed."""
    suffix = path.suffix.lower()
    try:
        if suffix == ".gz":
            return gzip.decompress(raw)
        if suffix == ".zst":
            zstandard = import_extra(_zstandard, "zstd files", "zstandard")
            with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(raw), read_across_frames=True) as reader:
                content: bytes = reader.read()
            if not content and raw:
                raise EOFError  # the reader takes a cut-off first block for nothing
            return content
    except (OSError, EOFError, zlib.error):
        raise _broken(path) from None
    except FileError:
        raise
    except Exception as error:  # zstandard's own kind, known only where the library is there
        if type(error).__name__ != "ZstdError":
            raise
        raise _broken(path) from None
    return raw


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
