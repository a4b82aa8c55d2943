"""The receipt: what may be published about a run, beside the release.

It tells what the release and the policy tell, and of the original the number of records in and left out. Means over
records are rounded: whoever knows all records but one could otherwise reckon that one from an exact mean. It holds no
value of the data and no hash of the input, either of which would let anyone test guesses. See docs/flow.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypedDict

import numpy as np
import polars as pl

from kveil.free_form import GivenOptions
from kveil.guarantee import Guarantee
from kveil.policy.components import largest_k
from kveil.policy.model import Policy
from kveil.report.account import Account, BoundFigures, Counts, KeptRule, PolicyPartition
from kveil.report.run import Run
from kveil.verifier.rows import SIZE, Rows
from kveil.verifier.verdict import Violations

FINEST = Fraction(1, 1000)  # of a mean that is published
UNTOLD = 10  # as many records may lie between two means that look the same


class PublishedLoss(TypedDict):
    """The losses of a release as they may be published: rounded means, and sizes of groups that anyone can count."""

    precision: float
    il_per_cell: float
    ncp: float
    sa_ncp: float | None
    discernibility: int
    average_group: float


class Receipt(TypedDict):
    """What may be published about a run.

    ``algorithm`` and ``options`` are the policy's: which one `auto` took depends on who has what. ``records`` is null
    where there are individuals, who may have many.
    """

    kveil: str
    algorithm: str
    options: GivenOptions
    seed: int
    engine: str
    records: Counts | None
    individuals: Counts | None
    guarantees: list[Guarantee]
    dependencies: list[KeptRule]
    boundaries: Violations
    loss: PublishedLoss
    bound: BoundFigures | None
    components: list[PolicyPartition]
    implied: list[dict[str, int]]
    warnings: list[str]
    sha256: dict[str, str | None]


def make_receipt(account: Account, run: Run) -> Receipt:
    """Return the part of an account that may be published."""
    step = step_of((account["individuals"] or account["records"])["input"])
    loss = account["loss"]
    discernibility, average_group = _groups(run.aligned.rows, run.policy) if run.groups is None else _counted(run)
    private = run.verdict.private_warnings
    published: PublishedLoss = {
        "precision": share_to_step(loss["precision"], step),
        "il_per_cell": share_to_step(loss["il_per_cell"], step),
        "ncp": share_to_step(loss["ncp"], step),
        "sa_ncp": None if loss["sa_ncp"] is None else share_to_step(loss["sa_ncp"], step),
        "discernibility": discernibility,
        "average_group": average_group,
    }
    return {
        "kveil": account["kveil"],
        "algorithm": run.policy.algorithm.name,
        "options": dict(run.policy.algorithm.options),
        "seed": account["seed"],
        "engine": account["engine"],
        "records": account["records"] if account["individuals"] is None else None,
        "individuals": account["individuals"],
        "guarantees": account["guarantees"],
        "dependencies": account["dependencies"],
        "boundaries": account["boundaries"],
        "loss": published,
        "bound": _bound(account, published, step, cells=run.table.records * max(len(run.table.names), 1)),
        "components": account["components"],
        "implied": account["implied"],
        "warnings": [warning for warning in run.verdict.warnings if warning not in private] + run.warnings,
        "sha256": account["sha256"],
    }


def step_of(records: int) -> Fraction:
    """Return the distance of two means that are told apart: one in a thousand, ten records' worth where that is more.

    So no mean tells what a single record shows.
    """
    return max(FINEST, Fraction(UNTOLD, max(records, 1)))


def round_to_step(mean: float, step: Fraction) -> float:
    """Return the multiple of a step that is nearest to a mean."""
    return float(round(Fraction(mean) / step) * step)


def share_to_step(share: float, step: Fraction) -> float:
    """Return a share rounded to a step; the multiple above 1 that a step of few records may have is 1.

    It follows from the rounded share, and so tells no more than that.
    """
    return min(round_to_step(share, step), 1.0)


def _bound(account: Account, loss: PublishedLoss, step: Fraction, *, cells: int) -> BoundFigures | None:
    """Return the bound with its gap to the loss, both rounded; a total is rounded as the mean that it is made of."""
    bound = account["bound"]
    if bound is None:
        return None
    name = bound["loss"]
    if name == "il":
        at_least = share_to_step(bound["at_least"] / cells, step) * cells
        shown = share_to_step(account["loss"]["il"] / cells, step) * cells
    else:
        at_least = share_to_step(bound["at_least"], step)
        shown = 1 - loss["precision"] if name == "precision" else loss["ncp"]
    gap = round_to_step(shown / at_least - 1, step) if at_least > 0 else None
    return {"loss": name, "at_least": at_least, "gap": gap}


def _counted(run: Run) -> tuple[int, float]:
    """Return what `_groups` returns, of a release whose groups were counted elsewhere."""
    groups = run.groups
    assert groups is not None
    released = run.aligned.rows.number
    average = groups.records / groups.number / largest_k(run.policy) if groups.number else 0.0
    return groups.squares + (released - groups.records) * released, average


def _groups(rows: Rows, policy: Policy) -> tuple[int, float]:
    """Return discernibility and the average group in multiples of k, both of the released rows alone.

    A row of stars is in no group and cannot be told from any released row; a person who shows items takes part.
    """
    if not rows.height:
        return 0, 0.0
    names = rows.texts.columns
    stars = rows.only_stars
    groups = rows.groups(names)
    if stars.any():
        inside = (~stars).to_numpy()
        groups = rows.tally(rows.texts.filter(inside), names, SIZE, rows=np.flatnonzero(inside))
    sizes = groups[SIZE].cast(pl.Int64)
    outside = rows.count(stars)
    average = (rows.number - outside) / len(sizes) / largest_k(policy) if len(sizes) else 0.0
    return int((sizes**2).sum()) + outside * rows.number, average
