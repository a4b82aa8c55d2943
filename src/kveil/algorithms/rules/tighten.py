"""Boundaries on left sides that keep right sides apart which can never be generalized together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kveil.algorithms.declared_rules import DeclaredRule
from kveil.arrays import Bools, Ints
from kveil.table.table import Table
from kveil.table.tree import Tree


def tighten_limits(table: Table, rules: list[DeclaredRule]) -> Table | None:
    """Return the table with limits on left sides above which right sides that cannot meet would be merged.

    For rules with one attribute on the left. None where there is nothing to tighten. The same table however often it is
    asked for, so that what was found for it is found again.
    """
    tight: Table | None = table.once(("tightened", *rules), lambda: _tightened(table, rules))
    return tight


def _tightened(table: Table, rules: list[DeclaredRule]) -> Table | None:
    trees = list(table.trees)
    others = list(table.others.values())
    same = table.low is table.high
    changed = True
    any_change = False
    while changed:
        changed = False
        for rule in rules:
            if not rule.strict or len(rule.left) != 1 or rule.left[0] >= len(trees):
                continue
            left = rule.left[0]
            tree = trees[left]
            if not isinstance(tree, Tree) or not (same or np.array_equal(table.low[left], table.high[left])):
                continue
            if rule.right >= len(trees):
                kind = others[rule.right - len(trees)]
            else:
                right = trees[rule.right]
                if not isinstance(right, Tree) or not right.limit_of.any():
                    continue
                kind = right.limit_of[table.low[rule.right]]
            limit = _uniform(tree, table.low[left], kind)
            if (limit & ~tree.limit).any():
                trees[left] = replace(tree, limit=tree.limit | limit)
                changed = any_change = True
    return table.changed(trees=tuple(trees)) if any_change else None


def _uniform(tree: Tree, leaves: Ints, kind: Ints) -> Bools:
    """Return the highest nodes below which all rows are of one kind."""
    nodes = len(tree.labels)
    least = np.full(nodes, np.iinfo(np.int32).max, dtype=np.int32)
    most = np.full(nodes, -1, dtype=np.int32)
    at = tree.leaf_nodes[leaves]
    np.minimum.at(least, at, kind)
    np.maximum.at(most, at, kind)
    for node in range(nodes - 1, 0, -1):
        up = tree.parent[node]
        least[up], most[up] = min(least[up], least[node]), max(most[up], most[node])
    uniform = least >= most
    return np.asarray(uniform & ~uniform[tree.parent] & (np.arange(nodes) > 0))
