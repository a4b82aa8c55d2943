"""What a job, a release or a look is about: a table, and the parts of its policy that the answer depends on."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kveil.free_form import Content
from kveil.studio.project import Project

# What a job of a kind asks nothing about: to change it leaves what it found as true as before.
BESIDES: Mapping[str, tuple[str, ...]] = {
    "compare": ("algorithm",),
    "risk": ("algorithm", "loss", "seed", "release"),
    "rules": ("algorithm", "loss", "seed", "release", "privacy", "suppression"),
}


@dataclass(frozen=True)
class Basis:
    """What a job works on: a policy's file, the table that it names, and a digest of all that the answer depends on."""

    policy: Path
    table: str
    digest: str


def table_key(folder: Path, data: Content) -> str:
    """Return one text for a table, however a policy in a folder writes its place; sheets of a workbook differ."""
    named = str(data.get("path") or "")
    place = f"{named} from {folder}"
    if named and "://" not in named:
        with contextlib.suppress(ValueError, OSError, RuntimeError):  # no file can be called so, or links go round
            place = str((folder / named).resolve())
    sheet = str(data.get("sheet") or "1")
    return place if sheet == "1" else f"{place} sheet {sheet}"


def stamp(folder: Path, named: str) -> str:
    """Return what changes when a file does; of a table in a database, nothing."""
    if "://" in named:
        return ""
    try:
        stat = (folder / named).stat()
    except (OSError, ValueError):
        return "absent"
    return f"{stat.st_mtime_ns}-{stat.st_size}"


def data_of(content: Content) -> Content:
    """Return what a policy says about its table, nothing where it says that in no form a table can be named in."""
    data = content.get("data")
    return data if isinstance(data, dict) else {}


def table_stamp(project: Project) -> str:
    """Return what changes when the file of a policy's table does."""
    return stamp(project.folder, str(data_of(project.content).get("path") or ""))


def basis_of(project: Project, kind: str) -> Basis:
    """Return what a job of a kind would work on now."""
    asked = {key: value for key, value in project.content.items() if key not in BESIDES.get(kind, ())}
    said = json.dumps([asked, project.stamps(), table_stamp(project)], sort_keys=True)
    return Basis(project.path, own_table(project), hashlib.sha256(said.encode()).hexdigest())


def own_table(project: Project) -> str:
    """Return one text for the table that a policy names."""
    return table_key(project.folder, data_of(project.content))
