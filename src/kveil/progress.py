"""How rooms tell what they are doing: one function that takes a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import NotRequired, Self, TypedDict

from kveil.free_form import JsonObject

Progress = Callable[[str], None]


class Compared(str):
    """The sentence that one of several algorithms is done, with its figures for programs that follow the run."""

    figures: JsonObject

    def __new__(cls, sentence: str, figures: JsonObject) -> Self:
        """Return the sentence with its figures, which hold no value of the table."""
        told = super().__new__(cls, sentence)
        told.figures = figures
        return told


class ProgressLine(TypedDict):
    """One line of JSON about a run that goes on, for programs that follow it."""

    stage: str
    done: float
    loss: NotRequired[float]
    compared: NotRequired[JsonObject]
    seconds: NotRequired[float]


def silent(stage: str) -> None:
    """Say nothing."""
