"""The search as a step of the flow: on records or on tuples with counts, and what is proved where it finds nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kveil.algorithms.algorithm import Algorithm
from kveil.algorithms.registry import loops_of
from kveil.choose import Attempt, attempt
from kveil.errors import Unmeetable
from kveil.flow.steps.stages import Stages
from kveil.policy.model import Policy
from kveil.table.table import Table
from kveil.table.tuples import in_tuples

if TYPE_CHECKING:  # imported by the runs that ask for one, which few do
    from kveil.algorithms.bound.bound import Bound


def goes_by_tuples(policy: Policy, able: Sequence[Algorithm]) -> bool:
    """Tell whether all algorithms find the same on tuples with counts as on records; refining moves single records."""
    return "refine" not in policy.algorithm.options and all(algorithm.on_tuples for algorithm in able)


def search_table(table: Table, able: Sequence[Algorithm], stages: Stages, *, by_tuples: bool) -> Attempt:
    """Return what algorithms find for a table, where that is asked for on its tuples with counts.

    An `Unmeetable` says whether it is proved that there is no release, or only that none was found.
    """
    told = stages.told_when_compiling(loops_of(table.policy, able))
    tuples = in_tuples(table) if by_tuples else None
    searched = table if tuples is None else tuples.table
    try:
        found = attempt(searched, able, told)
    except Unmeetable as error:
        from kveil.algorithms.proofs import tell_if_proved

        raise tell_if_proved(error, table) from None
    if tuples is None or searched is table:
        return found
    return replace(found, solution=found.solution.spread(tuples.of_row))


def bound_of(table: Table, stages: Stages, *, bounded: bool) -> Bound | None:
    """Return what any release of a table loses at least, if a run asks for a bound."""
    if not bounded:
        return None
    from kveil.algorithms.bound.bound import lower_bound

    least = lower_bound(table, stages.progress)
    stages.end("solve")
    return least
