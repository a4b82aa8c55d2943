"""Which files the page may name: only what lies below the folder the studio was started in, and nothing hidden."""

from __future__ import annotations

import re
from pathlib import Path

from kveil.studio.answers import Told
from kveil.studio.page_data import FolderEntry, FolderList
from kveil.suffixes import PACKED, SUFFIXES, WRITTEN, plain_suffix, suffix_of
from kveil.words import listing

TABLES = (*SUFFIXES, *(text + packed for text, kind in SUFFIXES.items() if kind == "csv" for packed in PACKED))
DATABASES = {".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite", ".duckdb": "duckdb"}
PARTS = tuple(suffix for suffix, kind in SUFFIXES.items() if kind == "parquet")
INSTEAD = {"excel": ".xlsx", "spss": ".sav"}  # of a release whose table's own suffix is never written
POLICIES = (".yaml", ".yml")
MOST_NAME = 120  # bytes; file systems take 255, and others are made of it
TREES = (".csv", ".txt", ".tsv")


def path_below(root: Path, named: str) -> Path:
    """Return a path that the page named; refuse what leaves the root, by links too, and what is hidden."""
    try:
        path = (root / named).resolve()
        path.exists()
    except (ValueError, OSError, RuntimeError):  # a name too long, one with a null in it, links that go round
        raise Told("There can be no file of this name; choose another one.", status=403) from None
    try:
        inside = path.relative_to(root)
    except ValueError:
        raise Told(
            "That lies outside the folder the studio was started in; start it there instead.", status=403
        ) from None
    if any(part.startswith(".") for part in inside.parts):
        raise Told("Hidden files are not opened here; choose another one.", status=403)
    return path


def list_folder(root: Path, under: str) -> FolderList:
    """Return the folders, policies and tables of a folder."""
    folder = path_below(root, under)
    if not folder.is_dir():
        raise Told("This is no folder any more; go up and choose another one.", status=404)
    entries: list[FolderEntry] = []
    try:
        children = sorted(folder.iterdir(), key=lambda path: path.name.lower())
    except OSError as error:
        raise Told(f"This folder cannot be read ({error.strerror}); choose another one.", status=403) from None
    for path in children:
        try:
            inside = path.resolve().is_relative_to(root) and not path.name.startswith(".")
            kind = _kind(path) if inside else None
            size = None if kind in (None, "folder") else path.stat().st_size
        except OSError:
            continue
        if kind is not None:
            entries.append({"name": path.name, "path": path.relative_to(root).as_posix(), "kind": kind, "size": size})
    inside_root = folder.relative_to(root).as_posix()
    up = None if folder == root else folder.parent.relative_to(root).as_posix()
    under = "" if inside_root == "." else inside_root
    parts = sum(entry["name"].lower().endswith(PARTS) for entry in entries)
    years = any(entry["kind"] == "folder" and "=" in entry["name"] for entry in entries)  # as Hive and Spark write
    return {"under": under, "up": up, "entries": entries, "parts": parts, "one_table": parts > 1 or years}


def _kind(path: Path) -> str | None:
    suffix = path.suffix.lower()
    if path.is_dir():
        return "folder"
    if suffix in POLICIES:
        return "policy"
    if suffix in DATABASES:
        return "database"
    return "table" if is_table(path) else None


def is_table(path: Path) -> bool:
    """Tell whether the name of a file is that of a table."""
    return suffix_of(path) in TABLES


def release_suffix(named: str) -> str:
    """Return the suffix of a release: that of its table where such files are written, else one near to it."""
    if "://" in named:
        return ".csv"
    suffix = suffix_of(Path(named))
    plain = plain_suffix(suffix)
    if plain in WRITTEN and suffix in TABLES:
        return suffix
    if plain in SUFFIXES:
        return INSTEAD.get(SUFFIXES[plain], ".csv")
    return ".parquet"  # a folder of such files


def table_name(given: str) -> str:
    """Return the name a dropped table gets: the last part of what the browser says, without surprises."""
    name = re.sub(r"[^\w. +-]", "_", given.replace("\\", "/").rsplit("/", 1)[-1]).lstrip(".").strip()
    if Path(name).suffix.lower() in DATABASES:
        raise Told("A database is opened where it lies, not copied; choose it in the list beside.")
    if not is_table(Path(name)) or not stem_of(name):
        raise Told(f"kveil reads tables that end in {listing(list(TABLES), 40, 'or')}; save it as one of these first.")
    return name.encode()[-MOST_NAME:].decode(errors="ignore")


def stem_of(name: str) -> str:
    """Return the name of a table without its suffix."""
    return name[: len(name) - len(suffix_of(Path(name)))]


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
