"""The documentation site, built into a folder for tests; skips where the extra `docs` is not installed."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from places import ROOT


def build_site(folder: Path) -> Path:
    """Build the site out of a copy of the pages, and return where it is."""
    if importlib.util.find_spec("zensical") is None or importlib.util.find_spec("mkdocstrings") is None:
        pytest.skip("the extra `docs` is not here: `make docs` makes this run")
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "zensical.toml", folder)
    (folder / "src").symlink_to(ROOT / "src")
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--clean"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert "No issues found" in built.stdout + built.stderr, built.stdout + built.stderr
    return folder / "site"
