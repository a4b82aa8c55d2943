"""A workbook of which one sheet is read, though nobody chose it."""

from __future__ import annotations

from kveil.files import Source
from kveil.words import listing


def sheets_left_aside(source: Source) -> list[str]:
    """Say which other sheets of a workbook hold something, where the policy names none."""
    if not source.left_aside:
        return []
    others = listing([repr(name) for name in source.left_aside], 10)
    return [
        f"{source.name} has something in other sheets, too ({others}); the first sheet was taken. Write sheet under "
        "data to say which is meant."
    ]
