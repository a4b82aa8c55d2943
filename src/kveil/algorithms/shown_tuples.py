"""Distinct shown tuples while a search raises whole values: full-domain searches, classfly and k-msd."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.grouping.equal_rows import add_up, group_rows
from kveil.kernels.threads import each_in_threads
from kveil.models.groups import Pairs
from kveil.models.of_policy import sensitive_pairs
from kveil.table.table import Table
from kveil.table.tree import Tree


@dataclass
class Tuples:
    """Distinct shown tuples while a search goes on: node codes, weights, sensitive values, and who is where."""

    nodes: Ints
    member: Ints  # every distinct tuple of leaves → its shown tuple
    weights: Longs
    pairs: dict[str, Pairs]

    @classmethod
    def at_leaves(cls, table: Table) -> Tuples:
        """Start with every row at its own leaves, or at the LCA of a person's."""
        distinct = table.distinct
        number = len(distinct.weights)
        trees = [tree for tree in table.trees if isinstance(tree, Tree)]
        nodes = np.empty((len(trees), number), dtype=np.int32)

        def show(a: int) -> None:
            nodes[a] = trees[a].lca(distinct.low[a], distinct.high[a])

        each_in_threads(show, range(len(trees)), number)
        return cls(nodes, np.arange(number, dtype=np.int32), distinct.weights, sensitive_pairs(table))

    def over(self, positions: list[int]) -> Ints:
        """Return the tuples' projection on some attributes."""
        return self.nodes if len(positions) == len(self.nodes) else self.nodes[positions]

    def shrink(self) -> None:
        """Merge tuples that have become equal. O(tuples · attributes)."""
        group, first = group_rows(self.nodes)
        if len(first) < len(group):
            self.nodes = np.take(self.nodes, first, axis=1)
            self.weights = add_up(group, self.weights, len(first))
            self.member = group[self.member]
            self.pairs = {name: pairs.moved(group) for name, pairs in self.pairs.items()}
