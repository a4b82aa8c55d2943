"""CSV in gzip and zstd: the bytes again, and nothing beside them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from kveil.errors import FileError
from kveil.files.compression import pack_file, tells_beside, unpack_file


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.csv.zst"])
@pytest.mark.parametrize("content", [b"a\n", b"a,b\n1,2\n" * 1000])
def test_bytes_are_packed_and_unpacked(name: str, content: bytes) -> None:
    path = Path(name)
    bytes_packed = pack_file(content, path)
    assert unpack_file(bytes_packed, path) == content
    assert pack_file(content, path) == bytes_packed  # no time in it
    assert not tells_beside(bytes_packed)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.zst"])
def test_a_file_that_is_cut_off_or_of_another_kind_is_told(name: str) -> None:
    whole = pack_file(b"a,b\n1,2\n" * 1000, Path(name))
    for broken in (whole[:-9], b"plain text"):
        with pytest.raises(FileError, match=f"{name}: this is not a whole"):
            unpack_file(broken, Path(name))


def test_a_name_or_a_time_in_a_header_is_seen() -> None:
    assert tells_beside(gzip.compress(b"a", mtime=1))
    assert not tells_beside(gzip.compress(b"a", mtime=0))
    assert not tells_beside(b"a,b\n")
