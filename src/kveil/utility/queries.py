"""The error of count queries on a release: what analysts who count get wrong.

A query asks how many records have their values in a run of leaves of some quasi-identifiers. On a release it is
answered as analysts do who know nothing else: a record counts as far as what it shows lies in the run (LeFevre et al.
2006 measure utility so).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from kveil.arrays import Floats
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.utility.leaf_runs import spans_of_solution
from kveil.words import plural_of

NUMBER = 400
MOST_ATTRIBUTES = 3
SHARES = (0.1, 0.5)  # of the leaves that a query asks for, at least and at most
FLOOR = 0.005  # of the records: a smaller true count is taken for this, so that nothing is divided by nearly nothing


class QueryError(TypedDict):
    """Relative errors over a workload, as shares: half of the queries have at most one, nine of ten the other."""

    median: float
    ninth: float


@dataclass(frozen=True)
class Query:
    """Which quasi-identifiers a query asks about, and for each the first and the last leaf that count."""

    positions: tuple[int, ...]
    bounds: tuple[tuple[int, int], ...]


def workload(table: Table, seed: int) -> list[Query]:
    """Return the queries of a table, the same for the same seed; none where there is nothing to ask about."""
    able = [position for position, tree in enumerate(table.trees) if tree.leaves > 1]
    random = np.random.default_rng(seed)
    queries: list[Query] = []
    for _ in range(NUMBER if able else 0):
        number = int(random.integers(1, min(MOST_ATTRIBUTES, len(able)) + 1))
        positions = tuple(int(able[i]) for i in sorted(random.choice(len(able), number, replace=False)))
        bounds = []
        for position in positions:
            leaves = table.trees[position].leaves
            length = max(round(leaves * random.uniform(*SHARES)), 1)
            start = int(random.integers(0, leaves - length + 1))
            bounds.append((start, start + length - 1))
        queries.append(Query(positions, tuple(bounds)))
    return queries


def workload_in_words(table: Table, seed: int) -> str:
    """Return the workload in a sentence."""
    most = min(MOST_ATTRIBUTES, len(table.names))
    return (
        f"{NUMBER} counts over 1 to {most} quasi-identifiers, each for a run of a tenth to a half of the values in "
        f"the order of the hierarchy, drawn with seed {seed}; the error is relative to the true count, or to "
        f"{FLOOR:.1%} of the {plural_of(table.noun)} where that is more"
    )


def query_error(table: Table, solution: Solution, queries: list[Query]) -> QueryError | None:
    """Return the error of a workload on a solution; None where there are no queries.

    O(queries · records).
    """
    if not queries or not table.records:
        return None
    runs = spans_of_solution(table, solution)
    width = runs.last - runs.first + 1
    weights = table.weights
    here = weights[runs.rows].astype(np.float64)
    errors = np.empty(len(queries))
    for at, query in enumerate(queries):
        truth = np.ones(table.rows, dtype=bool)
        share: Floats = here.copy()
        for position, (low, high) in zip(query.positions, query.bounds, strict=True):
            leaf = table.leaves[position]
            truth &= (leaf >= low) & (leaf <= high)
            inside = np.minimum(runs.last[position], high) - np.maximum(runs.first[position], low) + 1
            share *= np.maximum(inside, 0) / width[position]
        true = float(weights[truth].sum())
        errors[at] = abs(float(share.sum()) - true) / max(true, FLOOR * table.records)
    return {"median": float(np.median(errors)), "ninth": float(np.quantile(errors, 0.9))}
