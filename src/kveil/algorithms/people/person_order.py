"""People in orders that depend on nothing but what is known of them, so that ties are broken the same on every run."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Bools, Ints, Longs
from kveil.models.fingerprints import run_starts
from kveil.table.table import Table


def canonical_fingerprints(table: Table) -> Ints:
    """Return people by their sets of sensitive values, those with equal ones by leaf numbers and what else is shown."""
    rank = np.zeros(table.rows, dtype=np.int64)
    _rank_by_items(rank, table)
    _rank_by_leaves(rank, table)
    _rank_by_others(rank, table)
    return np.argsort(rank, kind="stable").astype(np.int32)


# A rank is where the group of those who are equal so far begins; it is refined until nobody is tied.


def _rank_by_leaves(rank: Longs, table: Table) -> None:
    _rank_by_keys(rank, [*table.leaves] if table.low is table.high else [*table.leaves, *table.low, *table.high])


def _rank_by_others(rank: Longs, table: Table) -> None:
    if table.ties and len(_tied(rank)):
        _rank_by_keys(rank, table.tie_ranks())


def _rank_by_keys(rank: Longs, whole: list[Ints]) -> None:
    tied = _tied(rank)
    keys = [column[tied] for column in whole]
    order = np.lexsort((*reversed(keys), rank[tied]))
    changes = np.zeros(len(tied), dtype=bool)
    for column in keys:
        changes[1:] |= np.diff(column[order]) != 0
    _split_ranks(rank, tied[order], changes)


def _rank_by_items(rank: Longs, table: Table) -> None:
    for name in table.policy.with_role("sensitive"):
        sensitive = table.sensitive[name]
        code = sensitive.code if sensitive.tree is None else sensitive.leaves[sensitive.code]
        by_row = np.argsort(sensitive.row.astype(np.int64) * (int(code.max(initial=0)) + 1) + code, kind="stable")
        _refine_ranks(rank, run_starts(sensitive.row, table.rows), code[by_row])


def _split_ranks(rank: Longs, sorted_rows: Longs, changes: Bools) -> Bools:
    """Give new ranks to rows that are sorted by their old ones; ``changes`` marks those unlike the one before.

    Returns which of them are still tied.
    """
    old = rank[sorted_rows]
    place = np.arange(len(sorted_rows))
    group = np.append(True, old[1:] != old[:-1])[: len(old)]
    new = group | changes
    begin = np.maximum.accumulate(np.where(group, place, 0))
    rank[sorted_rows] = old + np.maximum.accumulate(np.where(new, place, 0)) - begin
    return np.asarray(~(new & np.append(new[1:], True)[: len(new)]))


def _refine_ranks(rank: Longs, start: Longs, code: Ints) -> None:
    """Break ties among ranks by sets of codes, item after item; a set that ends comes before one that goes on."""
    at = 0
    width = int(code.max(initial=0)) + 2
    tied = _tied(rank)
    while len(tied):
        place = start[tied] + at
        more = place < start[tied + 1]
        key = rank[tied] * width
        key[more] += code[place[more]] + 1
        order = np.argsort(key, kind="stable")
        tied, key, more = tied[order], key[order], more[order]
        still = _split_ranks(rank, tied, np.append(True, key[1:] != key[:-1]))
        tied = tied.compress(still & more)
        at += 1


def _tied(rank: Longs) -> Longs:
    """Return the rows that share their rank with another."""
    return np.flatnonzero(np.bincount(rank)[rank] > 1)
