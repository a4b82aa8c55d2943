"""Combinations of items: generalized inside of clusters of people until enough of each share every one.

Terrovitis, Mamoulis, Kalnis 2008, inside of clusters as Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos 2013.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from kveil.algorithms.people.item_sets import joined_sets, lay_items
from kveil.arrays import Ints, Longs
from kveil.kernels.grouping.members import members_by_group
from kveil.kernels.items.combinations import climb
from kveil.kernels.items.layout import ClusterItems, Forest
from kveil.kernels.items.partition import group_sets
from kveil.models.fingerprints import run_starts
from kveil.stopping import check_deadline
from kveil.table.table import Table

MOST_AT_ONCE = 8_000_000  # combinations that are counted together


@dataclass(frozen=True)
class SharedCombinations:
    """What people must share: combinations of at most ``m`` items of some attributes, with ``k`` of their class."""

    names: tuple[str, ...]
    k: int
    m: int


def generalize_combinations(
    table: Table, shared: SharedCombinations, label: Ints, *, given: Mapping[str, Ints] = MappingProxyType({})
) -> tuple[dict[str, Ints], int]:
    """Return the shown node of every pair, so that k of a cluster share every combination of at most m items.

    ``label`` is the cluster of every person, -1 for those who are in none: their items show the root. No item is shown
    finer than ``given``. Inside a cluster an item shows one node, and no shown node lies below another.
    """
    names = shared.names
    if not names:
        return {}, 0
    trees = [tree for name in names if (tree := table.sensitive[name].tree) is not None]
    row, leaf = joined_sets(table, names)
    forest = lay_items(trees, len(row))
    inside = label[row] >= 0
    width = len(forest.way_start)
    different, place = np.unique(label[row[inside]].astype(np.int64) * width + leaf[inside], return_inverse=True)
    cluster, own = np.divmod(different, width)
    place = place.reshape(-1)
    level = (np.diff(forest.way_start)[own] - 1).astype(np.int32)
    if given:
        depth = np.concatenate([tree.depth[given[name]] for name, tree in zip(names, trees, strict=True)])
        np.minimum.at(level, place, depth[inside].astype(np.int32))
        level = _one_cut(forest, cluster, own, level)
    items = ClusterItems(
        run_starts(cluster.astype(np.int32), int(label.max(initial=-1)) + 1),
        own.astype(np.int32),
        np.bincount(place, minlength=len(own)).astype(np.int64),
        level,
    )
    rounds = 0
    for size in range(1, shared.m + 1):
        active = np.ones(len(items.start) - 1, dtype=bool)
        while active.any():
            check_deadline()
            taking = active[cluster[place]]
            shown_sets = _shown_sets(forest, items, row[inside][taking], place[taking], cluster)
            where, nodes = _rare(shown_sets, len(forest.cost), size, shared.k)
            active[:] = False
            active[where] = True
            if not climb(forest, items, where, nodes):
                break  # nothing is rare any more, or a cluster has fewer than k and shows the roots
            rounds += 1
    node = np.zeros(len(row), dtype=np.int32)
    node[inside] = forest.way[forest.way_start[own] + items.level][place]
    shown: dict[str, Ints] = {}
    begin = base = 0
    for name, tree in zip(names, trees, strict=True):
        end = begin + len(table.sensitive[name].row)
        shown[name] = np.maximum(node[begin:end] - base, 0)
        begin, base = end, base + len(tree.labels)
    return shown, rounds


def _one_cut(forest: Forest, cluster: Longs, leaf: Longs, level: Ints) -> Ints:
    """Return levels at which no shown node of a cluster lies below another: each leaf shows the topmost above it."""
    width = len(forest.cost)
    used = np.unique(cluster * width + forest.way[forest.way_start[leaf] + level])
    found = level.copy()
    for depth in range(int(level.max(initial=0)) - 1, -1, -1):  # the last that is found is the topmost
        deeper = np.flatnonzero(level > depth)
        above = cluster[deeper] * width + forest.way[forest.way_start[leaf[deeper]] + depth]
        found[deeper[np.isin(above, used)]] = depth
    return found


class _Sets(NamedTuple):
    """Different sets of shown items: where each runs in ``runs``, its cluster, and how many people have it."""

    runs: Ints
    start: Longs
    end: Longs
    cluster: Longs
    times: Longs

    def some(self, chosen: slice) -> _Sets:
        """Return some of the sets."""
        return _Sets(self.runs, self.start[chosen], self.end[chosen], self.cluster[chosen], self.times[chosen])


def _rare(shown: _Sets, nodes: int, size: int, k: int) -> tuple[Ints, Ints]:
    """Return the combinations of so many shown items that fewer than k of their cluster share, in leaf order."""
    clusters, combinations = [], []
    for chunk in _chunks(shown.end - shown.start, shown.cluster, size):
        cluster, rare = _count(shown.some(chunk), nodes, size, k)
        clusters.append(cluster)
        combinations.append(rare)
    if not clusters:
        return np.zeros(0, dtype=np.int32), np.zeros((0, size), dtype=np.int32)
    return np.concatenate(clusters).astype(np.int32), np.concatenate(combinations).astype(np.int32)


def _shown_sets(forest: Forest, items: ClusterItems, row: Ints, place: Longs, cluster: Longs) -> _Sets:
    """Return the different sets that people show, by cluster; ``row`` and ``place`` are pairs of a person and an item.

    People of one cluster with the same set count together.
    """
    node = forest.way[forest.way_start[items.leaf[place]] + items.level[place]]
    width = len(forest.cost)
    key = np.unique(row.astype(np.int64) * width + node)
    rows, nodes = np.divmod(key, width)
    people, owner = np.unique(rows, return_inverse=True)
    owner = owner.reshape(-1)
    of_person = np.zeros(int(row.max(initial=-1)) + 1, dtype=np.int64)
    of_person[row] = cluster[place]
    home = of_person[people]
    start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(people)) + 1)]).astype(np.int64)
    runs = np.empty(len(nodes) + len(people), dtype=np.int32)
    runs[start[:-1]] = home  # before its items stands the cluster, so that sets of two clusters differ
    runs[np.arange(len(nodes)) + owner + 1] = nodes
    member, first = group_sets(start, runs)
    times = np.bincount(member, minlength=len(first)).astype(np.int64)
    by_home = members_by_group(home[first]).rows
    sets = first[by_home]
    return _Sets(runs, start[sets] + 1, start[sets + 1], home[sets], times[by_home])


def _chunks(length: Longs, home: Longs, size: int) -> list[slice]:
    """Return runs of sets that belong to whole clusters and have not too many combinations together."""
    work = np.ones(len(length))
    for taken in range(size):
        work = work * np.maximum(length - taken, 0) / (taken + 1)
    ends = np.flatnonzero(np.append(home[1:] != home[:-1], True)) + 1 if len(home) else np.zeros(0, dtype=np.int64)
    found, begin, before, total = [], 0, 0, 0.0
    for end in ends.tolist():
        total += float(work[before:end].sum())
        before = end
        if total >= MOST_AT_ONCE or end == len(home):
            found.append(slice(begin, end))
            begin, total = end, 0.0
    return found


def _count(shown: _Sets, nodes: int, size: int, k: int) -> tuple[Longs, Ints]:
    """Return the clusters and the nodes of combinations that fewer than k share, sorted by cluster and leaf order."""
    entry = np.arange(len(shown.start))
    after = shown.start.copy()
    number = shown.cluster.astype(np.int64)
    places: list[Longs] = []
    for _ in range(size):
        more = shown.end[entry] - after
        source = np.repeat(np.arange(len(entry)), more)
        place = np.arange(len(source)) - np.repeat(np.cumsum(more) - more, more) + after[source]
        entry = entry[source]
        places = [*(each[source] for each in places), place]
        keys = number[source] * nodes + shown.runs[place]
        _, first, number = np.unique(keys, return_index=True, return_inverse=True)
        number = number.reshape(-1).astype(np.int64)
        after = place + 1
    if not len(entry):
        return np.zeros(0, dtype=np.int64), np.zeros((0, size), dtype=np.int32)
    support = np.bincount(number, weights=shown.times[entry], minlength=len(first))
    rare = first[support < k]
    return shown.cluster[entry[rare]], np.column_stack([shown.runs[each[rare]] for each in places])
