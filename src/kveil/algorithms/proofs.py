"""What can be proved of a policy and a table without a search: who can never be kept, that there is no release."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kveil.algorithms.component import SearchComponent, components_of
from kveil.algorithms.judge import rows_gone_as_a_whole
from kveil.algorithms.least_loss.small_search import everything_fails
from kveil.algorithms.limits import MamGroups, codes_at_limits, is_bounded, mam_groups
from kveil.algorithms.small_tables import sizes_allow_none
from kveil.arrays import Bools
from kveil.errors import Unmeetable
from kveil.models.groups import AtLeastK
from kveil.models.of_policy import sensitive_pairs
from kveil.models.subset import Requirement, maximal_anonymous_subset
from kveil.policy.components import most_suppressed
from kveil.policy.privacy import KLDiversity
from kveil.table.scale import Scale
from kveil.table.table import Table
from kveil.words import count


def count_never_kept(table: Table) -> int:
    """Return how many records fail k, distinct l or p even with every value at its limit; no release can hold them."""
    return table.count(never_kept(table))


def never_kept(table: Table, *, certain: bool = True) -> Bools:
    """Return the rows that fail some model even with every value at its limit; where ``certain``, of k, l and p."""
    distinct = table.distinct
    pairs = sensitive_pairs(_without_fingerprints(table))
    everyone = np.ones(len(distinct.weights), dtype=bool)
    outside = ~everyone
    together: list[Requirement] = []
    for component in components_of(table):
        required = _at_limits(component)
        if certain:
            required = [requirement for requirement in required if requirement.model.unique_subset]
        outside |= ~maximal_anonymous_subset(required, distinct.weights, pairs, everyone)
        together += required
    return np.asarray(rows_gone_as_a_whole(table, together, distinct.weights, pairs, outside)[distinct.member])


def count_breaking(table: Table, position: int, *, certain: bool) -> int:
    """Return how many records fail one model of the policy even with every value at its limit, the others left aside.

    Where ``certain``, only of k, distinct l and p: no record of a model of another kind counts then.
    """
    distinct = table.distinct
    pairs = sensitive_pairs(_without_fingerprints(table))
    for own, component in zip(table.components, components_of(table, with_implied=True), strict=True):
        if position in own.models:
            alone = replace(component, constraints=[component.constraints[own.models.index(position)]])
            required = [each for each in _at_limits(alone) if each.model.unique_subset or not certain]
            everyone = np.ones(len(distinct.weights), dtype=bool)
            outside = ~maximal_anonymous_subset(required, distinct.weights, pairs, everyone)
            return table.count(np.asarray(outside[distinct.member]))
    return 0


def tell_if_proved(error: Unmeetable, table: Table) -> Unmeetable:
    """Return the error of a search that found no release, with whether it is proved that there is none.

    It is where more records than allowed fail k, distinct l or p with every value at its limit, where the sizes of a
    small table's classes allow no release, and where nobody may be left out of a few rows and all that these can show
    was tried. Cells of a largest width are chosen, so that others might keep more.
    """
    widths = any(is_bounded(table, p) for p, tree in enumerate(table.trees) if isinstance(tree, Scale))
    never = 0 if widths else count_never_kept(table)
    if never > most_suppressed(table.policy, table.records):
        told = f"No release can: {count(never, table.noun)} can never be kept, whatever is shown."
        return Unmeetable(f"{error} {told}", lost=error.lost, proved=True)
    if any(map(sizes_allow_none, components_of(table))):
        told = "No release can: whatever is shown, some group is too small, or shows nothing."
        return Unmeetable(f"{error} {told}", lost=error.lost, proved=True)
    if most_suppressed(table.policy, table.records) == 0 and any(map(everything_fails, components_of(table))):
        told = "No release can: everything that could be shown was tried."
        return Unmeetable(f"{error} {told}", lost=error.lost, proved=True)
    return Unmeetable(f"{error} That none was found does not prove that there is none.", lost=error.lost)


def groups_at_limits(component: SearchComponent) -> MamGroups:
    """Return the groups of a component's tuples with every value at its limit."""
    low, high = component.spans()
    weights = component.table.distinct.weights
    return mam_groups(component.table, component.positions, low, high, weights, component.least_members)


def _without_fingerprints(table: Table) -> Table:
    """Return a table whose policy has no models of fingerprints: there are none before items are generalized."""
    models = tuple(model for model in table.policy.privacy if not isinstance(model, KLDiversity))
    return table.changed(policy=table.policy.model_copy(update={"privacy": models}))


def _at_limits(component: SearchComponent) -> list[Requirement]:
    """Return a component's models with every value at its limit; fingerprints, not yet there, only by their number."""
    table = component.table
    shown = codes_at_limits(component.trees, component.spans()[0], groups_at_limits(component))
    return [
        replace(own, model=AtLeastK(own.model.least_members()))
        if own.model.sensitive is not None and own.model.sensitive not in table.sensitive
        else own
        for own in component.requirements(shown)
    ]
