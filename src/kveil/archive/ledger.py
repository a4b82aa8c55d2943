"""What an archive's folder has beside its releases: the key, and the ledger that lists them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from kveil.archive.entry import unpack

LEDGER, KEY_FILE = "archive.json", "key"
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
RELEASE_FILE = re.compile(r"release-(\d{4,})\.zip")


def release_file(number: int) -> str:
    """Return the name of the file of a release."""
    return f"release-{number:04}.zip"


@dataclass(frozen=True)
class Listed:
    """What the ledger of an archive says about one release."""

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
