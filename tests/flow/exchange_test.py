"""Importing writes new files alone, and none that it reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from arx_projects import parts, project
from kveil.errors import FileError
from kveil.flow.exchange import import_arx


def test_files_that_exist_and_files_that_are_read_are_not_replaced(tmp_path: Path) -> None:
    path = project(tmp_path, parts())
    (tmp_path / "policy.yaml").write_text("mine")
    with pytest.raises(FileError, match="exists already"):
        import_arx(path, tmp_path / "policy.yaml")
    assert (tmp_path / "policy.yaml").read_text() == "mine"
    with pytest.raises(FileError, match="never replaced"):
        import_arx(path, path, force=True)
