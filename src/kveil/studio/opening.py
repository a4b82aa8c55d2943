"""Opening policies and tables: the policy beside a table that speaks of it, else a new one as kveil suggests it."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from kveil.free_form import Content
from kveil.studio.answers import Told
from kveil.studio.edit import Change, content, edit_text
from kveil.studio.files import DATABASES, POLICIES, fresh_name, is_table, path_below, stem_of
from kveil.studio.page_data import PolicyFiles, TableAsked
from kveil.studio.project import Project, save

if TYPE_CHECKING:
    from kveil.studio.studio import Studio

MOST_POLICY = 5_000_000  # bytes of a policy that is looked at
MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class FileSaid:
    """What somebody says of a table that it does not say itself.

    Names of its columns, where it has none, and the lines to ``skip`` then; else the lines ``above`` its names; its
    encoding; its sheet of a workbook, by name or number.
    """

    columns: list[str] | None = None
    skip: int = 0
    encoding: str | None = None
    sheet: str | None = None
    above: int = 0

    @property
    def layout(self) -> Content:
        """What a policy says of where the table stands in its file, under `data`."""
        return ({"sheet": self.sheet} if self.sheet else {}) | ({"skip": str(self.above)} if self.above else {})


async def open_policy(studio: Studio, path: Path) -> None:
    """Open a policy."""
    await studio.begin(Project.opened(path))


async def open_path(studio: Studio, path: Path, *, said: FileSaid | None = None) -> None:
    """Open a policy, a table, or a folder that has a policy."""
    if path.is_dir():
        policies = [p for p in sorted(path.iterdir()) if p.suffix.lower() in POLICIES and _is_inside(studio, p)]
        first = next((p for p in policies if p.stem == "policy"), policies[0] if len(policies) == 1 else None)
        if first is not None:
            await open_policy(studio, first)
    elif path.suffix.lower() in POLICIES:
        await open_policy(studio, path)
    elif is_table(path):
        await open_table(studio, path.parent, path.name, said=said)
    elif path.suffix.lower() in DATABASES:
        raise Told("This is a database; start the studio without it, and choose one of its tables on File.")
    else:
        raise Told("This is neither a policy nor a table that kveil reads; choose another file.")


async def open_parts(studio: Studio, folder: Path) -> None:
    """Open the Parquet files of a folder as one table; its policy and releases lie beside the folder, not in it."""
    if folder == studio.root:
        raise Told("Releases would lie among the table's own files; start the studio in the folder above.")
    await open_table(studio, folder.parent, folder.name)


async def open_in_database(studio: Studio, file: Path, table: str) -> None:
    """Open a table of a database in a file."""
    system = DATABASES.get(file.suffix.lower())
    if system is None:
        raise Told("This is no database that kveil reads; choose another file.")
    await open_table(studio, file.parent, f"{system}:///{quote(file.name)}?table={quote(table)}")


async def open_address(studio: Studio, address: str) -> None:
    """Open what somebody typed: the address of a database's table, a pattern of Parquet files, or a path."""
    database = re.match(r"(sqlite|duckdb):///([^?]*)", address)
    if "://" in address:
        studio.consents.give(address, studio.root)
    if database:
        path_below(studio.root, unquote(database[2]))
    elif "://" not in address:
        fixed = Path(address)
        while MAGIC.search(str(fixed)):
            fixed = fixed.parent
        place = path_below(studio.root, str(fixed))
        if not place.exists():
            raise Told(
                "There is no such file or folder; check the path, which starts from the studio's folder.", status=404
            )
        if fixed == Path(address):
            await (open_parts(studio, place) if place.is_dir() else open_path(studio, place))
            return
    await open_table(studio, studio.root, address)


async def open_table(studio: Studio, folder: Path, named: str, *, said: FileSaid | None = None) -> None:
    """Open a table that a policy in a folder would name so."""
    said = said or FileSaid()
    known = None if said.columns else _policy_for(studio, folder, named, said.layout)
    if known is not None:
        await open_policy(studio, known)
        return
    name = fresh_name(folder, "policy.yaml")
    copy = None
    if said.columns is not None:
        copy = str(folder / fresh_name(folder, f"{stem_of(named)}-named.csv"))
    studio.tell("working", {"told": f"Looking at the columns of {_shown(named)}…"})
    data = {"path": named} | ({"encoding": said.encoding} if said.encoding else {}) | said.layout
    studio.openings += 1
    asked: TableAsked = {"data": data, "folder": str(folder), "names": [], "opened": studio.openings}
    studio.place_table(named, folder)
    suggested: PolicyFiles = await studio.reader.ask(
        "suggest",
        table=asked,
        stem=Path(name).stem,
        columns=said.columns,
        skip=said.skip,
        copy=copy,
    )
    for file, text in suggested["files"].items():
        if (folder / file).exists():
            raise Told(f"{file} exists already beside the table; move it away, then open the table again.")
        save(folder / file, text.encode())
    text = edit_text(suggested["text"], [Change(("data", key), value) for key, value in said.layout.items()]).text
    save(folder / name, text.encode())
    project = Project.opened(folder / name)
    project.suggested = project.noted()
    await studio.begin(project)


def _shown(named: str) -> str:
    """Return what a table is called while it is looked at."""
    table = re.search(r"[?&]table=([^&]*)", named) if "://" in named else None
    return unquote(table[1]) if table else "the query" if "://" in named else named


def _is_inside(studio: Studio, path: Path) -> bool:
    """Tell whether a file is one the page may open: neither hidden nor a link that leads out of the root."""
    return not path.name.startswith(".") and path.is_file() and path.resolve().is_relative_to(studio.root)


def _policy_for(studio: Studio, folder: Path, table: str, layout: Content) -> Path | None:
    """Return the policy in a folder that names a table as its data, and says the same of where it stands in its file.

    Where nothing is said of that, any policy of the file will do.
    """
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in POLICIES and _is_inside(studio, path) and path.stat().st_size < MOST_POLICY:
            with contextlib.suppress(Exception):
                data = content(path.read_text(encoding="utf-8-sig")).get("data") or {}
                named = data.get("path")
                if layout and layout != {key: data[key] for key in ("sheet", "skip") if key in data}:
                    continue
                if named == table or (named and "://" not in named + table and _same(folder, named, table)):
                    return path
    return None


def _same(folder: Path, one: str, other: str) -> bool:
    return (folder / one).resolve() == (folder / other).resolve()
