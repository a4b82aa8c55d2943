"""Search for groups of people whose common sets of items lose less. Numba is imported when the first search is made."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.grouping.members import members_by_group
from kveil.kernels.items.layout import LaidSets
from kveil.kernels.items.search_layout import (
    MOST_POOLED,
    TRUE,
    ItemTree,
    NodeSets,
    SetSearch,
    new_search,
    set_rows,
)


class FoundGroups(NamedTuple):
    """What a search found: everyone's group, the nodes of each group, laid end to end, and how many tries were kept."""

    label: Longs
    start: Longs
    node: Ints
    tries: int
    kept: int


def search_sets(
    tree: ItemTree, people: LaidSets, label: Ints, shown: Ints, k: int, tries: int, seed: int, halt: Bools
) -> FoundGroups:
    """Return groups of at least k people, each with a set of nodes that all of them can show, that cost no more.

    ``people`` are everyone's items as nodes of leaves in growing order, ``label`` their groups to begin with, and
    ``shown`` the node that each item shows there. Cost: O(tries · (candidates + pooled people²) · items of a set).
    """
    from kveil.kernels.items.search_loops import search_sets

    sets, state = begin_search(tree, people, label, shown, k, seed)
    search_sets(tree, sets, state, tries, halt)
    groups_at = len(label)
    used = int(state.counts.used[0])
    length = np.where(state.groups.size[:used] > 0, sets.length[groups_at : groups_at + used], 0)
    begin = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    at = np.repeat(sets.start[groups_at : groups_at + used] - begin[:-1], length) + np.arange(begin[-1])
    counts = state.counts
    return FoundGroups(state.people.group, begin, sets.node[at], int(counts.tries[0]), int(counts.kept[0]))


def begin_search(
    tree: ItemTree, people: LaidSets, label: Ints, shown: Ints, k: int, seed: int
) -> tuple[NodeSets, SetSearch]:
    """Return the sets and the state with which a search begins; see `search_sets`."""
    number, longest = len(label), int(np.diff(people.start).max(initial=1))
    room = number // max(k, 1) + MOST_POOLED
    state = new_search(number, room, longest, k, seed)
    groups_at, _, _, scratch = set_rows(number, room)
    rows = scratch + 2 - number
    start = np.concatenate([people.start[:-1], people.start[-1] + longest * np.arange(rows)])
    size = int(people.start[-1]) + rows * longest
    sets = NodeSets(
        start.astype(np.int64),
        np.concatenate([np.diff(people.start), np.zeros(rows)]).astype(np.int64),
        np.zeros(size, dtype=np.int32),
        np.ones(size, dtype=np.int64),
    )
    sets.node[: len(people.leaf)] = people.leaf
    _fill_groups(tree, sets, state, people, label, shown)
    below_start, below = _groups_below(tree, sets, groups_at, int(label.max(initial=-1)) + 1)
    return sets, state._replace(below_start=below_start, below=below)


def _fill_groups(tree: ItemTree, sets: NodeSets, state: SetSearch, people: LaidSets, label: Ints, shown: Ints) -> None:
    """Write the groups to begin with: who is in them, what they show, and what that costs."""
    groups = int(label.max(initial=-1)) + 1
    owner = np.repeat(np.arange(len(label)), np.diff(people.start))
    width = len(tree.parent)
    different, times = np.unique(label[owner].astype(np.int64) * width + shown, return_counts=True)
    group, node = np.divmod(different, width)
    place = sets.start[len(label) + group] + np.arange(len(group)) - np.searchsorted(group, group)
    sets.node[place], sets.weight[place] = node, times
    sets.length[len(label) : len(label) + groups] = np.bincount(group, minlength=groups)
    cost = np.zeros(groups, dtype=np.int64)
    np.add.at(cost, group, times * tree.cost[TRUE, node])
    state.counts.used[0] = groups
    state.groups.head[:] = -1
    state.groups.size[:groups] = np.bincount(label, minlength=groups)
    state.groups.cost[:groups] = cost
    by_group, starts = members_by_group(label, groups).without_empty()
    state.people.group[:] = label
    state.people.after[by_group[:-1]] = by_group[1:]
    state.people.after[by_group[starts[1:] - 1]] = -1  # the last of each group
    state.groups.head[label[by_group[starts[:-1]]]] = by_group[starts[:-1]]


def _groups_below(tree: ItemTree, sets: NodeSets, groups_at: int, groups: int) -> tuple[Longs, Ints]:
    """Return the groups that show something at or below every node: where each node's begin, and these."""
    length = sets.length[groups_at : groups_at + groups]
    group = np.repeat(np.arange(groups), length)
    first = np.cumsum(length) - length
    at = np.repeat(sets.start[groups_at : groups_at + groups] - first, length) + np.arange(len(group))
    node = sets.node[at].astype(np.int64)
    keys = []
    while len(node):
        keys.append(node * max(groups, 1) + group)
        up = tree.parent[node] >= 0
        node, group = tree.parent[node[up]].astype(np.int64), group[up]
    found = np.unique(np.concatenate(keys)) if keys else np.zeros(0, dtype=np.int64)
    node, group = np.divmod(found, max(groups, 1))
    return np.searchsorted(node, np.arange(len(tree.parent) + 1)).astype(np.int64), group.astype(np.int32)


def search_no_sets() -> None:
    """Search among nobody, which compiles the loops for the types they are called with."""
    none, far = np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64)
    tree = ItemTree(none, none, none, far, none, np.zeros((2, 0), dtype=np.int64))
    search_sets(tree, LaidSets(far, none), none, none, 1, 0, 0, np.zeros(1, dtype=np.bool_))
