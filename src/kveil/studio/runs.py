"""The releases of a project: their folders, the files in them, which of those may be published, and their command."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote

from kveil.errors import KveilError
from kveil.free_form import JsonObject
from kveil.studio.answers import Told
from kveil.studio.basis import data_of, own_table, table_key
from kveil.studio.edit import content
from kveil.studio.files import stem_of
from kveil.studio.page_data import ListedRun, RunFile
from kveil.studio.project import Project

PUBLIC_REPORT = "report-public.html"
PUBLISHED = ("receipt.json", PUBLIC_REPORT)
PRIVATE = ("owner.json", "account.json", "report.html", "policy.yaml")
MOST_RUNS = 60
RELEASES = "releases"


def new_releases(project: Project) -> Path:
    """Return the folder for a new release: `releases`; where another table's are there, one by the table's name."""
    own = own_table(project)
    for name in _names(str(data_of(project.content).get("path") or "")):
        folder = project.folder / name
        if all(table == own for table in _tables_in(folder, project.folder)):
            return folder
    raise AssertionError("the names have no end")


def _names(named: str) -> Iterator[str]:
    """Return what a folder of releases may be called, beginning with what it should be."""
    yield RELEASES
    table = re.search(r"[?&]table=([^&]*)", named)
    last = unquote(table[1]) if table else named.rstrip("/").rsplit("/", 1)[-1]
    stem = re.sub(r"[^\w.+-]", "_", stem_of(last) or last)[:60] or "table"
    yield f"{RELEASES}-{stem}"
    number = 2
    while True:
        yield f"{RELEASES}-{stem}-{number}"
        number += 1


def _tables_in(folder: Path, home: Path) -> Iterator[str | None]:
    """Return the tables that releases in a folder were made of, by the policy beside each; None where it says none."""
    for path in folder.iterdir() if folder.is_dir() else []:
        policy = path / "policy.yaml"
        if policy.is_file() and not policy.is_symlink():
            yield _table_said(policy.read_bytes(), home)


@lru_cache(256)
def _table_said(policy: bytes, home: Path) -> str | None:
    """Return the table that the policy of a release names, which lay in a folder."""
    try:
        return table_key(home, data_of(content(policy.decode("utf-8-sig"))))
    except (KveilError, UnicodeDecodeError, ValueError):
        return None


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
    """Return the releases of the open table, the newest first, with what each was made with."""
    return [entry for _, entry in _own_releases(project)]


def _was_weaker(account: JsonObject) -> bool:
    """Tell whether a release was allowed to keep less than earlier ones promised."""
    together = account.get("previous")
    return isinstance(together, dict) and together.get("weaker") is True


def run_folder(project: Project, run: str) -> Path:
    """Return the folder of a release of the open table; only names that the list has are known."""
    for path, entry in _own_releases(project):
        if entry["run"] == run:
            return path
    raise Told("There is no such release any more; load the page again.", status=404)


def _own_releases(project: Project) -> list[tuple[Path, ListedRun]]:
    """Return the newest releases beside a policy that were made of its table, each with its folder."""
    found: list[tuple[Path, ListedRun]] = []
    own, now = own_table(project), project.text.encode()
    for path in sorted(_made_beside(project), key=lambda path: path.name, reverse=True):
        names = [file["name"] for file in files(path)]
        told = next((name for name in ("account.json", "receipt.json") if name in names), None)
        release = next((name for name in names if is_release(name)), None)
        if told is None or release is None or "policy.yaml" not in names or len(found) >= MOST_RUNS:
            continue
        with contextlib.suppress(ValueError, OSError):
            policy = (path / "policy.yaml").read_bytes()
            if policy != now and _table_said(policy, project.folder) != own:
                continue
            account = json.loads((path / told).read_bytes())
            target = f"{path.parent.name}/{path.name}/{release}"
            entry: ListedRun = {
                "run": path.name,
                "account": account,
                "files": files(path),
                "command": command(project, target, weaker=_was_weaker(account)),
                "same_policy": policy == now,
            }
            found.append((path, entry))
    return found


def _made_beside(project: Project) -> Iterator[Path]:
    """Return the folders of all releases beside a policy, whatever table they were made of; links are left out."""
    for folder in project.folder.iterdir() if project.folder.is_dir() else []:
        if folder.name.split("-")[0] == RELEASES and folder.is_dir() and not folder.is_symlink():
            yield from (path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())


def run_file(folder: Path, name: str) -> Path:
    """Return a file of a release, by the list of names that a release has."""
    if name not in [file["name"] for file in files(folder)]:
        raise Told("There is no such file in this release.", status=404)
    return folder / name
