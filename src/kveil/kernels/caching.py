"""Where compiled code is kept on disk."""

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
