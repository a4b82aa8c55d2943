"""Items refined before quasi-identifiers: fingerprints that lose less, and classes to begin with that suit them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kveil.algorithms.neighbourhoods import hidden_with_neighbours
from kveil.algorithms.people.item_sets import bucketings
from kveil.algorithms.people.search_items import search_items
from kveil.algorithms.splitting.mondrian import split_kept
from kveil.measures import measure
from kveil.models.fingerprints import as_shown
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
    best: Solution | None = None
    least = 0.0
    for by_gain in (True, False):
        split, _ = split_kept(view, kept, by_gain=by_gain)
        if (split.suppressed_anywhere & kept).any():
            continue
        if hidden_with_neighbours(table, split.shown, found.items, kept).any():
            continue
        finer = replace(split, items=found.items, reasons=solution.reasons, details=details)
        loss = measure(table, finer).of(table.policy.loss)
        if best is None or loss < least:
            best, least = finer, loss
    return best


def loses_no_more(table: Table, one: Solution, other: Solution) -> bool:
    """Tell whether a solution loses no more than another, neither of quasi-identifiers nor of items."""
    first, second = measure(table, one), measure(table, other)
    items = np.subtract(first.sa_ncp or 0.0, second.sa_ncp or 0.0)
    return first.of(table.policy.loss) <= second.of(table.policy.loss) and bool(items <= 0)
