"""How rooms tell what they are doing: one function that takes a sentence."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str], None]


def silent(stage: str) -> None:
    """Say nothing."""
