"""Groups of rows, taken apart and put together again at a lower loss. Numba is imported with the first search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kveil.arrays import Floats, Ints, Longs, Words
from kveil.kernels.splitting.mondrian import Needs, Values

SMALL, LARGE, SPAN = range(3)  # how an attribute's codes are joined: by a table, by climbing, as spans of numbers
FORBIDDEN = 1 << 38  # the cost of what may not be shown: above any row's, and times a million rows still a number

# What is known about an attribute. KIND; WIDTH: its nodes, or numbers. In ``ints``: PAIR_AT the table of covers, or
# NODE_AT the first and last leaves and parents of its nodes. In ``longs``: LEAF_AT the table of what covers cost,
# COST_AT the costs of its nodes, SPAN_AT the bounds numbers show, downward and upward. WIDEST: the widest span that
# may be shown, -1 for any; MISSING: the rank of missing; WHOLE: what showing nothing costs; STAR: the node that is `*`.
KIND, WIDTH, PAIR_AT, NODE_AT, LEAF_AT, COST_AT, SPAN_AT, WIDEST, MISSING, WHOLE, STAR = range(11)
SAME, ZONE, GROUP, AFTER, BEFORE = range(5)  # of a row: its number among distinct rows, zone, group, list
HEAD, SIZE, ALIVE, PLACE, FREE = range(5)  # of a group: first row, rows; then lists of numbers in use and free


class Codes(NamedTuple):
    """What attributes can show: how two codes join, and what each costs a row.

    Codes of a tree are its nodes; a code of a span of numbers is low · width + high, of their ranks, and costs
    ``factor`` times the difference of the bounds it shows.
    """

    about: Longs
    ints: Ints
    longs: Longs
    factor: Floats


class State(NamedTuple):
    """Rows in groups, as doubly linked lists. ``counts``: groups in use, free numbers, tries kept, tries.

    ``base`` is row × attribute, what a row would show alone; equal rows stand together; ``code`` is group ×
    attribute, what it shows; ``cost`` what that costs each of its rows. Rows of different zones are never joined.
    """

    base: Ints
    rows: Ints
    groups: Ints
    code: Ints
    cost: Longs
    counts: Longs
    random: Words


class Models(NamedTuple):
    """What every group must satisfy beside its size, and room to count in."""

    needs: Needs
    values: Values
    tally: Longs
    touched: Ints
    used: Ints
    below: Floats
    nodes: Ints


class Children(NamedTuple):
    """The children of every node, laid end to end: those of node v of attribute a from ``start[at[a] + v]`` on."""

    at: Longs
    start: Longs
    child: Ints
    rank: Ints  # of every node among its parent's children
    parent: Ints


def noise_table() -> Longs:
    """Return 256 factors exp(0.3 z), z at the middles of 256 equal parts of the normal distribution, in 1024ths."""
    from math import exp
    from statistics import NormalDist

    normal = NormalDist()
    return np.array([round(exp(0.3 * normal.inv_cdf((i + 0.5) / 256)) * 1024) for i in range(256)], dtype=np.int64)


def new_state(base: Ints, zone: Ints, part: Ints, codes: Codes, seed: int) -> tuple[State, int]:
    """Return rows in the groups of their parts, and what these cost together; equal rows must stand together."""
    from kveil.kernels.least_loss.neighbours_loops import fill_groups

    rows, width = base.shape
    differs = (base[1:] != base[:-1]).any(axis=1)
    about = np.full((5, rows), -1, dtype=np.int32)
    about[SAME] = np.concatenate([[0], np.cumsum(differs)])[:rows]
    about[ZONE] = zone
    groups = np.zeros((5, rows), dtype=np.int32)
    groups[FREE] = np.arange(rows - 1, -1, -1)
    state = State(
        base, about, groups, np.zeros((rows, width), dtype=base.dtype), np.zeros(rows, dtype=np.int64),
        np.array([0, rows, 0, 0], dtype=np.int64), np.array([seed], dtype=np.uint64),
    )  # fmt: skip
    return state, int(fill_groups(state, codes, part.astype(np.int32), int(part.max(initial=-1)) + 1))


def search(
    state: State, codes: Codes, models: Models | None, noise: Longs, k: int, hides: bool, tries: int, room: int
) -> int:
    """Take neighbourhoods of up to ``room`` rows apart ``tries`` times; keep what is not worse.

    Returns how much the total cost fell. Every group has k rows or more and satisfies the models; with ``hides``
    none shows `*` in every attribute. A try costs O(groups · attributes + rows of the pool squared · attributes).
    """
    from kveil.kernels.least_loss.neighbours_loops import search_groups

    return int(search_groups(state, codes, no_models() if models is None else models, noise, k, hides, tries, room))


def top_down(base: Ints, starts: Longs, codes: Codes, children: Children, k: int) -> Ints:
    """Return every row's part: zones, which start at ``starts``, are split where the loss falls most.

    A part is split into the children of what it shows in one attribute; see `topdown_loops`. Trees only.
    """
    from kveil.kernels.least_loss.start_loops import split_down

    return split_down(base, starts, codes, children, k)


def place_rows(base: Ints, zone: Ints, group_zone: Ints, code: Ints, longs: Longs, most: int, codes: Codes) -> Ints:
    """Return for every row the group of its zone whose cost grows least by it, -1 where that is ``most`` or more.

    Groups grow as rows come in, one after another. ``code`` and ``longs`` (sizes, costs) are updated.
    """
    from kveil.kernels.least_loss.neighbours_loops import place_each

    return place_each(base, zone, group_zone, code, longs, most, codes)


def no_models() -> Models:
    """Return models that ask for nothing: of the same types as others, so that the loops are compiled once."""
    none, far, flat = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64), np.zeros((0, 1))
    start, above = np.zeros((0, 1), dtype=np.int64), np.zeros((0, 1, 1), dtype=np.int32)
    return Models(
        Needs(none, none, far, far, far, np.zeros(0)), Values(start, none, far, none, flat, above, flat, flat),
        np.zeros((0, 1), dtype=np.int64), np.zeros((0, 1), dtype=np.int32), none, np.zeros(1), none,
    )  # fmt: skip


def search_nothing() -> None:
    """Search in one row, which compiles the loops for the types they are called with."""
    about = np.full((1, 11), 0, dtype=np.int64)
    about[0, [WIDTH, WIDEST, MISSING, STAR]] = 1, -1, -1, -1
    none, far = np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64)
    codes = Codes(about, np.zeros(1, dtype=np.int32), np.zeros(2, dtype=np.int64), np.zeros(1))
    base, zone = np.zeros((1, 1), dtype=np.int32), np.zeros(1, dtype=np.int32)
    state, _ = new_state(base, zone, zone, codes, 0)
    search(state, codes, None, noise_table(), 1, False, 1, 8)
    place_rows(base, zone, zone, base.copy(), np.ones((2, 1), dtype=np.int64), 1, codes)
    children = Children(far, np.zeros(2, dtype=np.int64), none, zone, zone)
    top_down(base, np.array([0, 1]), codes, children, 1)
