"""Which files the page may name: only what lies below the folder the studio was started in, and nothing hidden."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from kveil.studio.answers import Told

TABLES = (".csv", ".tsv", ".txt", ".data", ".parquet", ".pq", ".arrow", ".feather", ".ipc")
POLICIES = (".yaml", ".yml")
TREES = (".csv", ".txt", ".tsv")


def below(root: Path, named: str) -> Path:
    """Return a path that the page named; refuse what leaves the root, by links too, and what is hidden."""
    try:
        path = (root / named).resolve()
        inside = path.relative_to(root)
    except (ValueError, OSError):
        raise Told("That lies outside the folder the studio was started in; start it there instead.", 403) from None
    if any(part.startswith(".") for part in inside.parts):
        raise Told("Hidden files are not opened here; choose another one.", 403)
    return path


def listed(root: Path, under: str) -> dict[str, Any]:
    """Return the folders, policies and tables of a folder."""
    folder = below(root, under)
    if not folder.is_dir():
        raise Told("This is no folder any more; go up and choose another one.", 404)
    entries = []
    try:
        children = sorted(folder.iterdir(), key=lambda path: path.name.lower())
    except OSError as error:
        raise Told(f"This folder cannot be read ({error.strerror}); choose another one.", 403) from None
    for path in children:
        try:
            inside = path.resolve().is_relative_to(root) and not path.name.startswith(".")
            kind = _kind(path) if inside else None
            size = path.stat().st_size if kind in ("policy", "table") else None
        except OSError:
            continue
        if kind is not None:
            entries.append({"name": path.name, "path": path.relative_to(root).as_posix(), "kind": kind, "size": size})
    inside_root = folder.relative_to(root).as_posix()
    up = None if folder == root else folder.parent.relative_to(root).as_posix()
    return {"folder": folder.name, "under": "" if inside_root == "." else inside_root, "up": up, "entries": entries}


def _kind(path: Path) -> str | None:
    suffix = path.suffix.lower()
    if path.is_dir():
        return "folder"
    if suffix in POLICIES:
        return "policy"
    return "table" if suffix in TABLES else None


def table_name(given: str) -> str:
    """Return the name a dropped table gets: the last part of what the browser says, without surprises."""
    name = re.sub(r"[^\w. +-]", "_", given.replace("\\", "/").rsplit("/", 1)[-1]).lstrip(".").strip()
    if Path(name).suffix.lower() not in TABLES or not Path(name).stem:
        raise Told(f"kveil reads tables that end in {', '.join(TABLES)}; save it as one of these first.")
    return name[-120:]


def fresh_folder(root: Path, stem: str) -> Path:
    """Make a new folder that only its owner can read; it never replaces one."""
    for number in range(1, 1000):
        folder = root / (stem if number == 1 else f"{stem} {number}")
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            continue
        except OSError as error:
            raise Told(f"A folder cannot be made here ({error.strerror}); start the studio elsewhere.") from None
        return folder
    raise Told("There are too many folders of this name; move some away.")


def fresh_name(folder: Path, name: str) -> str:
    """Return a name for a new file in a folder, numbered where it is taken."""
    path = Path(name)
    for number in range(1, 1000):
        found = name if number == 1 else f"{path.stem}-{number}{path.suffix}"
        if not (folder / found).exists():
            return found
    raise Told("There are too many files of this name; move some away.")
