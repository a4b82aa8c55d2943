"""What an archive's folder has beside its releases: the key, the ledger that lists them, and a lock."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from kveil.archive.entry import BATCH_PARTS, unpack
from kveil.archive.people import key_check
from kveil.errors import FileError
from kveil.files import as_json

LEDGER, KEY_FILE = "archive.json", "key"
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
RELEASE_FILE, BATCH_FILE = re.compile(r"release-(\d{4,})\.zip"), re.compile(r"batch-(\d{4,})\.zip")


def release_file(number: int) -> str:
    """Return the name of the file of a release."""
    return f"release-{number:04}.zip"


def batch_file(number: int) -> str:
    """Return the name of the file of a batch that a release was applied to; batches of all releases are counted."""
    return f"batch-{number:04}.zip"


@dataclass(frozen=True)
class Listed:
    """What the ledger of an archive says about one release, or one batch."""

    file: str
    sha256: str
    made: str


def read_key(folder: Path) -> bytes:
    """Return the key of an archive."""
    return bytes.fromhex((folder / KEY_FILE).read_text("ascii").strip())


def read_ledger(folder: Path) -> tuple[str, list[Listed]]:
    """Return what tells the right key, and the releases that the ledger of an archive lists."""
    content = json.loads((folder / LEDGER).read_bytes())
    listed = [Listed(str(e["file"]), str(e["sha256"]), str(e["made"])) for e in content["releases"]]
    return str(content["key"]), listed


def read_listed_batches(folder: Path) -> list[Listed]:
    """Return the batches that the ledger of an archive lists; older ones know of none."""
    content = json.loads((folder / LEDGER).read_bytes())
    return [Listed(str(e["file"]), str(e["sha256"]), str(e["made"])) for e in content.get("batches", [])]


def read_batches(folder: Path) -> list[Listed]:
    """Return the batches of an archive: those listed, and one that a run wrote but was killed before it listed it."""
    listed = read_listed_batches(folder)
    following = folder / batch_file(len(listed) + 1)
    if following.exists():
        raw = following.read_bytes()
        manifest, _ = unpack(raw, needed=BATCH_PARTS)
        listed.append(Listed(following.name, sha256(raw).hexdigest(), str(manifest["made"])))
    return listed


def ledger_bytes(key: bytes, releases: Sequence[Listed], batches: Sequence[Listed]) -> bytes:
    """Return the ledger of an archive as it is written."""
    more = {"batches": [vars(one) for one in batches]} if batches else {}
    return as_json(
        {
            "kveil-archive": 1,
            "private": "Whoever has this folder and knows who is in the tables can identify everyone.",
            "key": key_check(key),
            "releases": [vars(one) for one in releases],
            **more,
        }
    )


@contextmanager
def hold_lock(folder: Path) -> Iterator[None]:
    """Keep other runs from adding to an archive; raise FileError where one does."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise FileError(f"{folder.name}: another run is adding to this archive; wait for it to end.") from None
        yield
    finally:
        os.close(lock)


def read_releases(folder: Path) -> list[Listed]:
    """Return the releases of an archive: those listed, and one that a run wrote but was killed before it listed it."""
    _, listed = read_ledger(folder)
    following = folder / release_file(len(listed) + 1)
    if following.exists():
        raw = following.read_bytes()
        manifest, _ = unpack(raw)
        listed.append(Listed(following.name, sha256(raw).hexdigest(), str(manifest["made"])))
    return listed


def has_releases(folder: Path) -> bool:
    """Tell whether a folder has a release, or a ledger that says so or cannot be read: then it is an archive."""
    if any(RELEASE_FILE.fullmatch(path.name) for path in folder.iterdir()):
        return True
    try:
        return bool(read_ledger(folder)[1])
    except FileNotFoundError:
        return False
    except (OSError, ValueError, KeyError, TypeError):
        return True
