"""Where compiled code is kept on disk, and when it is thrown away."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def cache_folders(source: Path) -> list[Path]:
    """Return where Numba may keep the compiled code of a module, in the order in which it tries.

    Numba is not asked, since importing it takes longer than all else that a short command does.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    folder = source.resolve().parent
    own = f"{folder.name}_{hashlib.sha1(str(folder).encode(), usedforsecurity=False).hexdigest()}"
    given = os.environ.get("NUMBA_CACHE_DIR")
    return [*([Path(given) / own] if given else []), folder / "__pycache__", home / "numba" / own]


def writable_folder(source: Path) -> Path | None:
    """Return the folder in which Numba will keep the compiled code of a module, None where none can be written to."""
    for folder in cache_folders(source):
        there = next(each for each in (folder, *folder.parents) if each.exists())
        if os.access(there, os.W_OK):
            return folder
    return None


def forget_stale() -> None:
    """Throw away compiled code that was made of other sources than those that are here now.

    Numba looks at one source at a time: it would keep code into which an older version of another module was inlined,
    and fails on arguments of classes that have moved since.
    """
    here = Path(__file__).parent
    sources = sorted(here.rglob("*.py"))
    digest = hashlib.sha256()
    for source in sources:
        digest.update(f"{source.relative_to(here)}\n".encode() + source.read_bytes())
    loops = [source for source in sources if source.stem.endswith("_loops")]
    for folder in {folder for source in loops if (folder := writable_folder(source)) is not None}:
        folder.mkdir(parents=True, exist_ok=True)
        stamp = folder / "kveil-loops.sha256"
        if not stamp.exists() or stamp.read_text() != digest.hexdigest():
            for kept in folder.glob("*_loops.*.nb[ic]"):
                kept.unlink(missing_ok=True)
            stamp.write_text(digest.hexdigest())
