"""Clusters that satisfy models over sensitive values, inside boundaries.

EnhancedPKClustering: Truta, Campan, Meyer 2007; inside boundaries as Miller, Campan, Truta 2008 propose, and for the
other models by the same idea: diversity first, then size, then the rest. See docs/algorithms/pk-clustering.md for our
reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from kveil.algorithms.algorithm import DivideOptions
from kveil.algorithms.clustering.place import Placement
from kveil.algorithms.clustering.space import RowClusters, Space, clusters_of
from kveil.algorithms.component import SearchComponent
from kveil.algorithms.splitting.mondrian import solve_by_parts
from kveil.algorithms.splitting.parts import ComponentParts, Splitter
from kveil.algorithms.stars import give_away
from kveil.arrays import Bools, Ints, Longs
from kveil.errors import Unmeetable
from kveil.kernels.clustering.diverse import cluster_diverse
from kveil.kernels.clustering.greedy import blocks
from kveil.kernels.clustering.layout import Costs, DistinctTuples
from kveil.models.distributions import AlphaShare
from kveil.models.groups import AtLeastK, Pairs
from kveil.models.packed import cut_to_rows, needs_of, values_of
from kveil.policy.fields import Count
from kveil.table.order import sorted_rows
from kveil.table.solution import Solution
from kveil.table.table import Table


class PkClusteringOptions(DivideOptions):
    """Options of pk-clustering.

    blocks: split every group into blocks of at most so many distinct tuples first, and cluster inside the blocks: far
    faster on large tables, and not the same clusters. Left out: every row finds its nearest of all.
    """

    blocks: Count | None = None


def pk_clustering(table: Table, options: PkClusteringOptions, rng: np.random.Generator) -> Solution:
    """Cluster every component inside its boundaries so that each cluster satisfies every model of it.

    Groups of equal limits that cannot satisfy a model are suppressed. Where clusters would cost more records than
    the limit allows, the table is divided top-down instead, which may need fewer. Cost: a search in a tree of the
    tuples for every row.
    """
    by_row = table.changed(rows_apart=True)  # equal rows may go to different clusters
    try:
        solution = solve_by_parts(by_row, "pk-clustering", splitter=partial(Clusterer, blocks=options.blocks))
        way = "clusters"
    except Unmeetable:
        solution = solve_by_parts(by_row, "pk-clustering")
        way = "splits"
    gone = int(solution.suppressed_anywhere.sum())
    details = {"parts": solution.details["parts"], "found_by": way, "boundaries": {"out": gone}}
    return replace(solution, details=details)


def in_blocks(
    costs: Costs, rows: Ints, tuples: DistinctTuples, groups: Longs, most: int
) -> tuple[Ints, DistinctTuples, Longs]:
    """Return rows, tuples and groups after groups were split into blocks, each with its tuples in their old order."""
    order, starts = blocks(costs, tuples, groups, most)
    order = order[np.lexsort((order, np.repeat(np.arange(len(starts) - 1), np.diff(starts))))]
    times = np.diff(tuples.start)[order]
    ends = np.cumsum(times)
    place = np.repeat(tuples.start[order] - (ends - times), times) + np.arange(len(rows))
    low, high = np.ascontiguousarray(tuples.low[order]), np.ascontiguousarray(tuples.high[order])
    return rows[place], DistinctTuples(low, high, np.append(0, ends).astype(np.int64)), starts.astype(np.int64)


class Clusterer(Splitter):
    """Divides a component into clusters; its tuples are rows. ``blocks``: see the options."""

    def __init__(
        self, component: SearchComponent, pairs: Mapping[str, Pairs], weights: Longs, *, blocks: int | None = None
    ) -> None:
        super().__init__(component, pairs, weights)
        self.blocks = blocks

    @property
    def why(self) -> str:
        """Why rows are suppressed that no cluster can hold."""
        names = dict.fromkeys(model.model for model in self.table.policy.privacy)
        return f"its group within the boundaries cannot satisfy {' and '.join(names)}"

    def partition(self, alive: Bools, *, by_gain: bool) -> ComponentParts:
        """Cluster the rows that are in, MAM group by MAM group."""
        space = Space(self.table, self.positions)
        k = max((model.k for model in self.models if isinstance(model, (AtLeastK, AlphaShare))), default=1)
        if self.component.counts_only:
            clusters, _ = clusters_of(space, self.mam.group, alive, k, most=self.blocks)
        else:
            clusters = self._diverse(space, alive, k)
        return ComponentParts(clusters.label, clusters.low, clusters.high)

    def _diverse(self, space: Space, alive: Bools, k: int) -> RowClusters:
        rows, tuples, groups = self._tuples(alive)
        label = np.full(len(alive), -1, dtype=np.int32)
        if not len(rows):
            nothing = np.zeros((len(self.positions), 0), dtype=np.int32)
            return RowClusters(label, nothing, nothing, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32))
        if self.blocks is not None:
            rows, tuples, groups = in_blocks(space.costs, rows, tuples, groups, self.blocks)
        first = rows[tuples.start[:-1]]
        everyone = values_of(self.table, self.pairs, self.models, np.where(alive, self.weights, 0))
        needs = needs_of(self.models, self.sensitive)
        needs = needs._replace(k=np.ones_like(needs.k))  # sizes are asked for apart
        values = cut_to_rows(everyone, first)
        values = values._replace(times=np.ones_like(values.times))  # a tuple stands for rows, and is counted row by row
        made = cluster_diverse(space.costs, tuples, needs, values, groups, k, self.component.more_is_safe)
        label[rows] = made.label
        of_cluster = self.mam.group[rows[tuples.start[groups[:-1]]]][made.group]
        low, high = np.ascontiguousarray(made.low.T), np.ascontiguousarray(made.high.T)
        clusters = RowClusters(label, low, high, made.size.copy(), of_cluster)
        Placement(self, space, clusters, alive).place(rows[made.label < 0])
        return clusters

    def _tuples(self, alive: Bools) -> tuple[Ints, DistinctTuples, Longs]:
        """Return the rows by group and in canonical order, runs of equal ones as tuples, and where groups start."""
        table = self.table
        rank = np.empty(table.rows, dtype=np.int64)
        rank[table.canonical] = np.arange(table.rows)
        spans = [key for pair in zip(self.low, self.high, strict=True) for key in pair]
        keys: list[Ints | Longs] = [self.mam.group, *spans]
        order = sorted_rows([*keys, rank])
        rows = order[alive[order]].astype(np.int32)
        same = np.ones(max(len(rows) - 1, 0), dtype=bool)
        for key in keys:
            same &= key[rows[1:]] == key[rows[:-1]]
        for name in self.sensitive:
            pairs = self.pairs[name]
            single = len(pairs.tuples) == int(alive.sum()) and len(np.unique(pairs.tuples)) == len(pairs.tuples)
            code = np.full(table.rows, -1, dtype=np.int32)
            code[pairs.tuples] = pairs.codes
            same &= code[rows[1:]] == code[rows[:-1]] if single else False
        new = np.append(0, np.flatnonzero(~same) + 1) if len(rows) else np.zeros(0, dtype=np.int64)
        first = rows[new]
        low = np.ascontiguousarray(self.low[:, first].T)
        high = np.ascontiguousarray(self.high[:, first].T)
        of_tuple = self.mam.group[first]
        groups = np.flatnonzero(np.append(True, of_tuple[1:] != of_tuple[:-1])) if len(first) else new
        tuples = DistinctTuples(low, high, np.append(new, len(rows)).astype(np.int64))
        return rows, tuples, np.append(groups, len(first)).astype(np.int64)

    def dissolve(self, parts: ComponentParts) -> None:
        """Give the rows of clusters that would show nothing but `*` to others of their MAM group."""
        space = Space(self.table, self.positions)
        star = space.is_star(parts.low, parts.high)
        if not star.any():
            return
        inside = parts.part >= 0
        group = np.full(parts.low.shape[1], -1, dtype=np.int32)
        group[parts.part[inside]] = self.mam.group[inside]
        size = np.bincount(parts.part[inside], minlength=parts.low.shape[1])
        before = parts.copy()
        order = self.table.canonical
        moving = order[inside[order] & star[parts.part[order]]]

        def attempt(splitter: Splitter, offered: Bools) -> Bools:
            own = before.copy()
            clusters = RowClusters(own.part, own.low, own.high, size.copy(), group)
            placement = Placement(splitter, space, clusters, inside)
            left = give_away(moving[offered].tolist(), placement.join_and_show, placement.start_equal)
            parts.take_over(ComponentParts(clusters.label, clusters.low, clusters.high, own.split))
            return ~np.isin(moving, left)

        self.by_runs(moving, attempt)
