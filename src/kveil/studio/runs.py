"""The releases of a project: their folders, the files in them, which of those may be published, and their command."""

from __future__ import annotations

import contextlib
import json
import shlex
from pathlib import Path

from kveil.free_form import JsonObject
from kveil.studio.answers import Told
from kveil.studio.edit import content
from kveil.studio.page_data import ListedRun, RunFile
from kveil.studio.project import Project

PUBLIC_REPORT = "report-public.html"
PUBLISHED = ("receipt.json", PUBLIC_REPORT)
PRIVATE = ("owner.json", "account.json", "report.html", "policy.yaml")
MOST_RUNS = 60


def releases(project: Project) -> Path:
    """Return the folder that releases are made in."""
    return project.folder / "releases"


def run_release(folder: Path) -> Path:
    """Return the released table of a run's folder."""
    return next(path for path in folder.iterdir() if is_release(path.name))


def is_release(name: str) -> bool:
    """Tell whether a file of a run's folder is the released table, whatever its kind."""
    return name.split(".")[0] == "release"


def command(project: Project, target: str, *, weaker: bool = False) -> str:
    """Return the command that makes the same release, to be run in the project's folder; it names a server itself."""
    data = content(project.text).get("data")
    named = str(data.get("path")) if isinstance(data, dict) else ""
    given = f" --input {shlex.quote(named)}" if named.lower().startswith(("postgres://", "postgresql://")) else ""
    more = " --weaker" if weaker else ""
    return f"kveil anonymize {shlex.quote(project.path.name)}{given} --output {shlex.quote(target)}{more}"


def files(folder: Path) -> list[RunFile]:
    """Return the files of a release, each with its size and whether it may be published; links are left out."""
    found: list[RunFile] = []
    for path in sorted(folder.iterdir()):
        published = is_release(path.name) or path.name in PUBLISHED
        if (published or path.name in PRIVATE) and path.is_file() and not path.is_symlink():
            found.append({"name": path.name, "size": path.stat().st_size, "publish": published})
    return found


def listed_releases(project: Project) -> list[ListedRun]:
    """Return the releases there are, the newest first, with what each was made with."""
    found: list[ListedRun] = []
    folder = releases(project)
    for path in sorted(folder.iterdir(), reverse=True) if folder.is_dir() and not folder.is_symlink() else []:
        names = [file["name"] for file in files(path)] if path.is_dir() and not path.is_symlink() else []
        told = next((name for name in ("account.json", "receipt.json") if name in names), None)
        release = next((name for name in names if is_release(name)), None)
        if told is None or release is None or len(found) >= MOST_RUNS:
            continue
        with contextlib.suppress(ValueError, OSError):
            policy = (path / "policy.yaml").read_bytes() if "policy.yaml" in names else b""
            account = json.loads((path / told).read_bytes())
            found.append(
                {
                    "run": path.name,
                    "account": account,
                    "files": files(path),
                    "command": command(project, f"releases/{path.name}/{release}", weaker=_was_weaker(account)),
                    "same_policy": policy == project.text.encode(),
                }
            )
    return found


def _was_weaker(account: JsonObject) -> bool:
    """Tell whether a release was allowed to keep less than earlier ones promised."""
    together = account.get("previous")
    return isinstance(together, dict) and together.get("weaker") is True


def run_folder(project: Project, run: str) -> Path:
    """Return the folder of a release; only names that the list has are known."""
    if run not in [entry["run"] for entry in listed_releases(project)]:
        raise Told("There is no such release any more; load the page again.", status=404)
    return releases(project) / run


def run_file(folder: Path, name: str) -> Path:
    """Return a file of a release, by the list of names that a release has."""
    if name not in [file["name"] for file in files(folder)]:
        raise Told("There is no such file in this release.", status=404)
    return folder / name
