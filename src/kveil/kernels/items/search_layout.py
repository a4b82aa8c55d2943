"""Groups of people who show the same set of items, as the search over them reads them: layouts and their fields."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kveil.arrays import Floats, Ints, Longs, Words

# Rows of `SetSearch.people`: the group of every person, and who comes next in it, -1 for nobody.
GROUP, NEXT, PEOPLE = 0, 1, 2
# Rows of `SetSearch.groups`: the first person, the size (0: no such group), the cost, and when it was last looked at.
HEAD, SIZE, COST, SEEN, GROUPS = 0, 1, 2, 3, 4
# Rows of `SetSearch.pool`, by place: who stands there, and the place that comes next in the same unit, -1 for none; by
# unit: its first place, its size, its cost, its cost at the prices of the try, and what it is. By number: the groups
# that were taken, places or units to look through, and candidates.
WHO, AFTER, FIRST, MEMBERS, TRUE_COST, PRICE, KIND, TAKEN, LIST, POOL = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
GONE, OPEN, CLOSED = 0, 1, 2  # what a unit is: merged into another, below k, a group
# Entries of `SetSearch.counts`: groups that there have been, tries, those that gained, and lists that were made.
USED, TRIES, KEPT, STAMP, COUNTS = 0, 1, 2, 3, 4
TRUE, PRICES = 0, 1  # rows of `ItemTree.cost`

MOST_POOLED = 96  # people of a try
MOST_GROUPS = 5  # groups of a try
NEAR = 14  # groups that are near a seed, listed for several tries
TRIES_PER_LIST = 3
CANDIDATES = 1_500  # groups that are looked at for a list
SEEDS = 3  # of which the costliest is taken
SWEEPS = 8  # of moving people after a try
WORST, OF_WORST = 5, 4  # a try that costs more than five quarters of what was there is dropped before people are moved
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


class SetSearch(NamedTuple):
    """The state of a search, and room for a try.

    ``about`` has the number of people, of groups that there is room for, and k. ``near`` are groups near the seed.
    Groups that show something at or below a node stand in ``below`` from ``below_start[node]`` on.
    """

    about: Longs
    people: Longs
    groups: Longs
    pool: Longs
    counts: Longs
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
        np.array([people, groups, k], dtype=np.int64),
        np.full((PEOPLE, people), -1, dtype=np.int64),
        np.zeros((GROUPS, groups), dtype=np.int64),
        np.zeros((POOL, width), dtype=np.int64),
        np.zeros(COUNTS, dtype=np.int64),
        np.zeros(NEAR, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        none,
        np.zeros(width, dtype=np.float64),
        np.zeros((MOST_POOLED, MOST_POOLED), dtype=np.float64),
        np.zeros((longest + 8, 5), dtype=np.int64),
        np.array([seed], dtype=np.uint64),
    )
