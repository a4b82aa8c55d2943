"""Where compiled code is kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kveil.kernels.caching import cache_folders, writable_folder


def test_folders_are_tried_in_numbas_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    source = tmp_path / "some" / "a_loops.py"
    beside, at_home = cache_folders(source)
    assert beside == tmp_path / "some" / "__pycache__"
    assert at_home.parent == tmp_path / "home" / "numba"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "given"))
    given, *others = cache_folders(source)
    assert given.parent == tmp_path / "given"
    assert others == [beside, at_home]
    assert cache_folders(tmp_path / "other" / "a_loops.py")[0] != given  # folders of one name do not mix


def test_code_is_kept_in_the_first_folder_that_can_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    source = tmp_path / "some" / "a_loops.py"
    source.parent.mkdir()
    assert writable_folder(source) == source.parent / "__pycache__"
    barred = source.parent.resolve()
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != barred and allowed(place, mode))
    assert writable_folder(source) == cache_folders(source)[-1]
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    assert writable_folder(source) is None
