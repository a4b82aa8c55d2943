"""Greedy k-member clustering as published: every record looked at for every one that is added. O(records²), in Numba.

kveil's search tree is compared with it label for label, and measured against it. Unlike the other twins it takes a
table that kveil has encoded, with kveil's costs, so that it can be run on thousands of records.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kveil.algorithms.clustering.space import Space
from kveil.table.table import Table


@njit(cache=True, nogil=True)
def row_cost(nodes: Any, leaves: Any, attributes: Any, low: Any, high: Any) -> Any:
    """Return what a record costs that shows the spans low..high."""
    total = np.int64(0)
    for a in range(len(low)):
        base = attributes.base[a]
        if attributes.is_tree[a]:
            node = leaves.node[base + low[a]]
            while nodes.last[node] < high[a]:
                node = nodes.parent[node]
            total += nodes.cost[node]
        elif low[a] != high[a]:
            width = attributes.full[a]
            if high[a] != attributes.missing[a]:
                width = min(width, leaves.top[base + high[a]] - leaves.bottom[base + low[a]])
            total += width
    return total


@njit(cache=True, nogil=True)
def best_row(nodes: Any, leaves: Any, attributes: Any, rows: Any, waiting: Any, low: Any, high: Any, far: bool) -> int:
    """Return the waiting record that makes a span cost least, or most where ``far``; of equals the first."""
    width = rows.shape[1]
    wider_low, wider_high = np.empty(width, dtype=np.int64), np.empty(width, dtype=np.int64)
    best: Any = np.int64(0)
    chosen = -1
    for row in range(len(rows)):
        if waiting[row]:
            for a in range(width):
                wider_low[a], wider_high[a] = min(low[a], rows[row, a]), max(high[a], rows[row, a])
            cost = row_cost(nodes, leaves, attributes, wider_low, wider_high)
            if chosen < 0 or (cost > best if far else cost < best):
                best, chosen = cost, row
    return chosen


@njit(cache=True, nogil=True)
def cluster_rows(nodes: Any, leaves: Any, attributes: Any, rows: Any, k: int) -> Any:
    """Return every record's cluster; the records are in canonical order."""
    number, width = rows.shape
    waiting = np.ones(number, dtype=np.bool_)
    label = np.full(number, -1, dtype=np.int32)
    lows, highs = np.empty((number // k, width), dtype=np.int64), np.empty((number // k, width), dtype=np.int64)
    sizes = np.full(number // k, k)
    seed = 0
    for cluster in range(number // k):
        origin = rows[seed].astype(np.int64)
        seed = best_row(nodes, leaves, attributes, rows, waiting, origin, origin, True)
        low, high = rows[seed].astype(np.int64), rows[seed].astype(np.int64)
        row = seed
        for member in range(k):
            if member:
                row = best_row(nodes, leaves, attributes, rows, waiting, low, high, False)
            waiting[row] = False
            label[row] = cluster
            low, high = np.minimum(low, rows[row]), np.maximum(high, rows[row])
        lows[cluster], highs[cluster] = low, high
    for row in range(number):
        if waiting[row]:
            best, chosen = np.int64(0), -1
            for c in range(number // k):
                low, high = np.minimum(lows[c], rows[row]), np.maximum(highs[c], rows[row])
                growth = row_cost(nodes, leaves, attributes, low, high) * (sizes[c] + 1)
                growth -= row_cost(nodes, leaves, attributes, lows[c], highs[c]) * sizes[c]
                if chosen < 0 or growth < best:
                    best, chosen = growth, c
            label[row] = chosen
            sizes[chosen] += 1
            lows[chosen] = np.minimum(lows[chosen], rows[row])
            highs[chosen] = np.maximum(highs[chosen], rows[row])
    return label


def all_pairs(table: Table, k: int) -> Any:
    """Return every record's cluster, of a table without boundaries or spans."""
    space = Space(table, list(range(len(table.names))))
    rows = np.ascontiguousarray(table.low[:, table.canonical].T)
    label = np.empty(table.records, dtype=np.int32)
    label[table.canonical] = cluster_rows(*space.costs, rows, k)
    return label
