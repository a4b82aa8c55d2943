"""`kveil measure`: what a release made by anyone lost, by every measure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NotRequired, TypedDict

from kveil.files import Source
from kveil.flow.steps.inputs import align, check_released, table_of
from kveil.measures import Losses, LossFigures, Shares, plugged_measures
from kveil.measures import measure_solution as losses_of
from kveil.policy.model import Policy
from kveil.report.account import Counts, count_suppressed
from kveil.report.owner import Owner
from kveil.table.encode import encode
from kveil.table.reread import codes_of_release, read_items
from kveil.verifier.rows import ITEM, ROW, release_rows
from kveil.words import count


class OtherFigures(TypedDict):
    """What measures of other packages say, where there are any."""

    others: NotRequired[dict[str, float]]


class MeasuredFigures(OtherFigures):
    """What a release lost, as plain data."""

    records: Counts
    loss: LossFigures
    loss_by_attribute: dict[str, Shares]
    warnings: list[str]


@dataclass(frozen=True)
class Measured:
    """The losses of a release, how many records (or individuals) it has of how many, and warnings."""

    losses: Losses
    records: Counts
    warnings: list[str]
    others: dict[str, float] = field(default_factory=dict)  # what measures of other packages say

    def as_json(self) -> MeasuredFigures:
        """Return the measures as plain data."""
        others: OtherFigures = {"others": self.others} if self.others else {}
        return {
            "records": self.records,
            "loss": self.losses.as_json(),
            "loss_by_attribute": self.losses.by_attribute(),
            **others,
            "warnings": self.warnings,
        }


def measure(release: Any, policy: Policy, original: Any, owner: Owner | None = None) -> Measured:
    """Return what a release made by anyone lost, by every measure.

    ``release`` and ``original`` are tables, aligned by ``owner`` or by position as in `kveil.verify`.
    """
    return measure_sources(table_of(release, policy), policy, table_of(original, policy), owner)


def measure_sources(release: Source, policy: Policy, original: Source, owner: Owner | None) -> Measured:
    """Return what a release made by anyone lost."""
    table = encode(original, policy)
    check_released(
        release, policy.quasi_identifiers + (policy.with_role("sensitive") if table.persons is not None else [])
    )
    shown = release_rows(release, policy)
    rows = align(owner, policy, released=shown.height, original=table.records)
    starred = shown.starred.to_numpy() if table.stars_take_part else None
    solution, unknown = codes_of_release(table, {n: shown.texts[n] for n in shown.texts.columns}, rows, starred=starred)
    items = {}
    for name in policy.generalized:
        pairs = shown.items[name]
        items[name], strangers = read_items(table, name, pairs[ROW].to_numpy(), pairs[ITEM], rows)
        unknown += strangers
    solution = replace(solution, items=items)
    return Measured(
        losses_of(table, solution),
        count_suppressed(solution.suppressed_anywhere),
        [f"{count(unknown, 'label')} unknown to their hierarchies, counted as fully general."] if unknown else [],
        plugged_measures(table, solution),
    )
