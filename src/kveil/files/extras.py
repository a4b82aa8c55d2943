"""Libraries that only some files need: asked for by name when such a file comes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kveil.errors import FileError

Library = TypeVar("Library")


def import_extra(load: Callable[[], Library], what: str, library: str, *, extra: str = "files") -> Library:
    """Return what ``load`` imports, or say which library is missing and how it is installed."""
    try:
        return load()
    except ImportError:
        raise FileError(
            f"{what} need the library {library}, which is not installed; install it with pip install 'kveil[{extra}]'."
        ) from None
