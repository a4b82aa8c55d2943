"""How rooms tell what they are doing: one function that takes a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

Progress = Callable[[str], None]


class Compared(str):
    """The sentence that one of several algorithms is done, with its figures for programs that follow the run."""

    figures: Mapping[str, Any]

    def __new__(cls, sentence: str, figures: Mapping[str, Any]) -> Self:
        """Return the sentence with its figures, which hold no value of the table."""
        told = super().__new__(cls, sentence)
        told.figures = figures
        return told


def silent(stage: str) -> None:
    """Say nothing."""
