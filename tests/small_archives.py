"""Archives of the small table of `support`; no test."""

from __future__ import annotations

from pathlib import Path

from support import run

KEYED = {"path": "t.csv", "key": "name"}


def archived(folder: Path, *more: object, archive: str = "kept") -> Path:
    """Archive a release of the table in a folder, by the policy there, and return the archive's folder."""
    done = run("anonymize", folder / "policy.yaml", "-o", folder / "r.csv", "--archive", folder / archive, "-q", *more)
    assert done.code == 0, done.err
    return folder / archive
