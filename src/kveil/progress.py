"""How rooms tell what they are doing: one function that takes a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import NotRequired, Self, TypedDict

from kveil.free_form import JsonObject

Progress = Callable[[str], None]


class Stage(str):
    """The sentence that a stage begins, with its figures for who shows how far a run is.

    It is the ``number``-th ``of`` so many, which the sentence says too, or tells the ``loss`` a search has come to.
    What takes sentences, as a function of a user does, need not know. The first word names the stage in any case.
    """

    number: int | None = None
    of: int | None = None
    loss: float | None = None

    @classmethod
    def one_of(cls, sentence: str, number: int, of: int) -> Self:
        """Return the sentence of a stage that comes several times."""
        told = cls(f"{sentence} ({number} of {of})")
        told.number, told.of = number, of
        return told

    @classmethod
    def with_loss(cls, sentence: str, loss: float) -> Self:
        """Return the sentence of a search that goes on."""
        told = cls(sentence)
        told.loss = loss
        return told

    def longer(self, more: str) -> Self:
        """Return the same stage with more to say."""
        told = type(self)(self + more)
        told.number, told.of, told.loss = self.number, self.of, self.loss
        return told


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
