"""Releases that the command line makes of the small table of `support`; no test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support import (
    ROWS,
    Outcome,
    run,
    write_policy,
    write_rows,
)


def release(folder: Path, *more: object, rows: list[list[str]] = ROWS, **policy: Any) -> Outcome:
    """Write a policy and a table into a folder and make a release of them."""
    write_rows(folder / "t.csv", rows)
    path = write_policy(folder, **{"data": {"path": "t.csv"}, **policy})
    return run("anonymize", path, "--output", folder / "r.csv", "--owner", folder / "owner.json", *more)
