"""Groups of people who show the same set of items, as the search over them reads them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kveil.arrays import Floats, Ints, Longs, Words

MERGED, OPEN, CLOSED = range(3)  # what a unit is: merged into another, below k, a group
TRUE, PRICES = range(2)  # which costs of `ItemTree` are meant: the true ones, or those of a round of tries

MOST_POOLED = 96  # people of a try
MOST_GROUPS = 5  # groups of a try
NEAR_SETS = 14  # groups that are near a seed, listed for several tries
TRIES_PER_LIST = 3
CANDIDATES = 1_500  # groups that are looked at for a list
SEEDS = 3  # of which the costliest is taken
SWEEPS = 8  # of moving people after a try
WORST_TRY, OF_WORST_TRY = (
    5,
    4,
)  # a try above five quarters of what was there is dropped before people are moved
WALKS = 3  # up the tree from nodes of a seed, each of which finds its part of the candidates
PERCENT = 0.01
ALL = 100  # percent
LEAST_SPARED = (
    60  # percent at least, drawn up to 100, of what groups cost apart that do not count when they are compared
)
MOST_SKIPPED = 50  # percent, drawn below that, of the groups near a seed that a try passes over
LEAST_LEAVING, LEAVING = 25, 51  # percent of a group's people who leave it: at least, and how many more may be drawn


class ItemTree(NamedTuple):
    """Trees of items laid end to end, nodes in depth-first order.

    ``first`` is the first leaf under a node; the nodes from the root down to a leaf stand in ``way`` from
    ``way_start[leaf]`` on; a root's parent is -1. ``cost`` is what showing a node costs per item: in truth, and at the
    prices of a round of tries.
    """

    first: Ints
    depth: Ints
    parent: Ints
    way_start: Longs
    way: Ints
    cost: Longs


class NodeSets(NamedTuple):
    """Sets of nodes in growing order, each with how many items it stands for, laid end to end with room behind each.

    First those of all people, then those of groups, then room for the units of a try and for what is worked out.
    """

    start: Longs
    length: Longs
    node: Ints
    weight: Longs


class SearchLimits(NamedTuple):
    """How many people there are, how many groups there is room for, and how many people a group has at least."""

    people: int
    groups: int
    k: int


class PeopleOfGroups(NamedTuple):
    """Every person's group, and who comes after them in it, -1 for nobody."""

    group: Longs
    after: Longs


class SetGroups(NamedTuple):
    """Groups: the first person of one, how many there are (0: no such group), what it costs, when it was looked at."""

    head: Longs
    size: Longs
    cost: Longs
    seen: Longs


class UnitPool(NamedTuple):
    """The people of a try and the units they are merged into.

    By place: who stands there, and the place that comes ``after`` it in the same unit, -1 for none. By unit: its first
    place, how many members it has, its true cost, its cost at the prices of the try, and its kind. By number: the
    groups that were taken apart, and what is ``listed``: places or units to look through, or candidates.
    """

    who: Longs
    after: Longs
    first: Longs
    members: Longs
    true_cost: Longs
    price: Longs
    kind: Longs
    taken: Longs
    listed: Longs


class SearchCounts(NamedTuple):
    """Numbers that grow as the search goes on, each alone in its array."""

    used: Longs  # groups that there have been
    tries: Longs
    kept: Longs  # tries that gained
    stamp: Longs  # lists that were made


class SetSearch(NamedTuple):
    """The state of a search, and room for a try.

    ``near`` are groups near the seed. Groups that show something at or below a node stand in ``below`` from
    ``below_start[node]`` on.
    """

    limits: SearchLimits
    people: PeopleOfGroups
    groups: SetGroups
    pool: UnitPool
    counts: SearchCounts
    near: Longs
    below_start: Longs
    below: Ints
    score: Floats
    value: Floats
    stack: Longs
    random: Words


def set_rows(people: int, groups: int) -> tuple[int, int, int, int]:
    """Return where the sets of groups, of units, of what is behind each member, and of the last join stand."""
    units = people + groups
    return people, units, units + MOST_POOLED, units + 2 * MOST_POOLED


def new_search(people: int, groups: int, longest: int, k: int, seed: int) -> SetSearch:
    """Return a state without members for so many people and groups."""
    width = max(MOST_POOLED, CANDIDATES)
    none = np.zeros(0, dtype=np.int32)
    return SetSearch(
        SearchLimits(people, groups, k),
        PeopleOfGroups(*(np.full(people, -1, dtype=np.int64) for _ in PeopleOfGroups._fields)),
        SetGroups(*(np.zeros(groups, dtype=np.int64) for _ in SetGroups._fields)),
        UnitPool(*(np.zeros(width, dtype=np.int64) for _ in UnitPool._fields)),
        SearchCounts(*(np.zeros(1, dtype=np.int64) for _ in SearchCounts._fields)),
        np.zeros(NEAR_SETS, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        none,
        np.zeros(width, dtype=np.float64),
        np.zeros((MOST_POOLED, MOST_POOLED), dtype=np.float64),
        np.zeros((longest + 8, 5), dtype=np.int64),
        np.array([seed], dtype=np.uint64),
    )
