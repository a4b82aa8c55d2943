"""Whether a file can be read before it has its name."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from kveil.engines.store import ReleaseFile


def test_only_a_file_without_a_name_is_unseen(tmp_path: Path) -> None:
    with tempfile.TemporaryFile(dir=tmp_path) as unnamed:
        assert ReleaseFile(unnamed, tmp_path / "a").unseen
    with (tmp_path / "hidden").open("wb") as named:
        assert not ReleaseFile(named, tmp_path / "a").unseen
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb"), os.fdopen(writer, "wb") as pipe:
        assert not ReleaseFile(pipe, tmp_path / "a").unseen
