"""Data that ships inside the package: a small made-up hospital (see data/hospital/README.md)."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def hospital() -> Path:
    """Return the folder of the demo hospital: tables, hierarchies and a policy."""
    return Path(str(files("kveil") / "data" / "hospital"))
