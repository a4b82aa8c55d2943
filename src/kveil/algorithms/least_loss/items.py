"""Items refined before quasi-identifiers: fingerprints that lose less, and classes to begin with that suit them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kveil.algorithms.component import components_of
from kveil.algorithms.neighbourhoods import hide_with_neighbours
from kveil.algorithms.people.item_sets import bucketings
from kveil.algorithms.people.one_to_many import share_again
from kveil.algorithms.people.search_items import search_items
from kveil.algorithms.splitting.mondrian import split_kept
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.measures import least_lossy, measure_solution
from kveil.models.fingerprints import as_shown
from kveil.policy.privacy import KAnonymity, KKmAnonymity
from kveil.stopping import Stop
from kveil.table.solution import Solution
from kveil.table.table import Table

SHARE = 6  # tries per record for every one that is made for a person's items


def with_searched_items(table: Table, solution: Solution, tries_per_row: float, stop: Stop) -> Solution | None:
    """Return a solution whose items lose less, None where none is found that everything holds for.

    What people show of their items decides who is alike. So they are split into classes anew, both ways that Mondrian
    has, and nobody more may be suppressed. Quasi-identifiers may lose more than before: they are still to be refined.
    """
    if not bucketings(table.policy) or not solution.items:
        return None
    kept = ~solution.suppressed_anywhere
    found = search_items(table, dict(solution.items), kept, tries_per_row / SHARE, table.policy.seed, stop)
    if found.kept == 0:
        return None
    view = as_shown(table, found.items)
    details = {**solution.details, "items": {"tries": found.tries, "kept": found.kept}}
    split_anew: list[Solution] = []
    for by_gain in (True, False):
        split, _ = split_kept(view, kept, by_gain=by_gain)
        if (split.suppressed_anywhere & kept).any():
            continue
        if hide_with_neighbours(table, split.shown, found.items, kept).any():
            continue
        split_anew.append(replace(split, items=found.items, reasons=solution.reasons, details=details))
    return least_lossy(table, split_anew) if split_anew else None


def without_combinations(table: Table, solution: Solution) -> Table:
    """Return a table whose classes must be as large as a solution's smallest, instead of sharing combinations of items.

    The larger a class, the less its items lose: so quasi-identifiers are refined at no smaller classes than there are.
    """
    policy = table.policy
    kept = ~solution.suppressed_anywhere
    models = [model for model in policy.privacy if not isinstance(model, KKmAnonymity)]
    for component in components_of(table):
        if not component.names:
            continue
        group, first = group_rows(component.shown_by(solution))
        sizes = np.bincount(group[kept], minlength=len(first))
        models.append(KAnonymity(k=int(sizes[sizes > 0].min(initial=table.rows)), attributes=component.names))
    return replace(table, policy=policy.model_copy(update={"privacy": tuple(models)}))


def with_shared_items(table: Table, solution: Solution, refined: Solution) -> Solution | None:
    """Return refined classes with the items that they can share, None where these lose more than was gained.

    What counts is the sum of both losses, that quasi-identifiers lose no more than they did, and that nobody is left
    with nothing to show.
    """
    kept = ~solution.suppressed_anywhere
    new = share_again(table, replace(refined, items={}), kept)
    if new is None or hide_with_neighbours(table, new.shown, new.items, kept).any():
        return None
    before, after = measure_solution(table, solution), measure_solution(table, new)
    loss = table.policy.loss
    better = after.of(loss) + (after.sa_ncp or 0.0) < before.of(loss) + (before.sa_ncp or 0.0)
    return new if better and after.of(loss) <= before.of(loss) else None


def loses_no_more(table: Table, one: Solution, other: Solution) -> bool:
    """Tell whether a solution loses no more than another, neither of quasi-identifiers nor of items."""
    first, second = measure_solution(table, one), measure_solution(table, other)
    items = np.subtract(first.sa_ncp or 0.0, second.sa_ncp or 0.0)
    return first.of(table.policy.loss) <= second.of(table.policy.loss) and bool(items <= 0)
