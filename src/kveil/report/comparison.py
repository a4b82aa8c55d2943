"""A comparison of algorithms: what each made of a table, under one policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NotRequired, TypedDict

from kveil.measures import LossFigures
from kveil.utility.prediction import PredictionFigures
from kveil.utility.queries import QueryError
from kveil.words import row_noun


class ComparisonEntry(TypedDict):
    """What one algorithm made of the table; without a release there is a ``reason`` instead of figures."""

    algorithm: str
    solved: bool
    seconds: float
    reason: NotRequired[str | None]
    holds: NotRequired[bool]
    loss: NotRequired[LossFigures]
    loss_by_attribute: NotRequired[dict[str, float]]
    suppressed: NotRequired[int]
    suppressed_share: NotRequired[float]
    groups: NotRequired[int]
    query_error: NotRequired[QueryError | None]
    prediction: NotRequired[float | None]
    others: NotRequired[dict[str, float]]
    cut: NotRequired[bool]


class RowFigures(TypedDict, total=False):
    """How many rows were compared: ``individuals`` where they are people, else ``records``."""

    records: int
    individuals: int


class ComparisonFigures(RowFigures):
    """A comparison as plain data."""

    loss: str
    best: str | None
    queries: str | None
    prediction: PredictionFigures | None
    algorithms: list[ComparisonEntry]


@dataclass(frozen=True)
class Comparison:
    """What each algorithm made of a table, the smallest loss first, those without a release last.

    ``loss`` is the measure the policy minimizes, ``queries`` the workload of counts in a sentence, ``prediction`` what
    was predicted from each release, if anything was. Every entry of ``algorithms`` is plain data without a value of the
    table.
    """

    loss: Literal["ncp", "il", "precision"]
    rows: int
    noun: str
    algorithms: list[ComparisonEntry]
    queries: str | None = None
    prediction: PredictionFigures | None = None

    @property
    def best(self) -> str | None:
        """The algorithm with the smallest loss among the releases that the verifier accepts.

        Of equals it is the first of the registry, as `auto` takes it.
        """
        return next((entry["algorithm"] for entry in self.algorithms if entry.get("holds")), None)

    def as_json(self) -> ComparisonFigures:
        """Return the comparison as plain data."""
        people = self.noun == row_noun(people=True)
        rows: RowFigures = {"individuals": self.rows} if people else {"records": self.rows}
        return {
            "loss": self.loss,
            **rows,
            "best": self.best,
            "queries": self.queries,
            "prediction": self.prediction,
            "algorithms": self.algorithms,
        }

    def _repr_html_(self) -> str:
        from kveil.notebook import TrialRow, comparison_html

        trials = [
            TrialRow(
                entry["algorithm"],
                entry["seconds"],
                entry["loss"][self.loss],
                entry["suppressed"],
                entry["suppressed_share"],
                entry["groups"],
            )
            if entry["solved"]
            else TrialRow(entry["algorithm"], entry["seconds"], reason=str(entry["reason"]))
            for entry in self.algorithms
        ]
        return comparison_html(self.loss, trials, self.best)
