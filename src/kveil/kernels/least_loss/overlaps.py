"""What rows show under constraints that overlap, and moves from valid to valid. Numba is imported with the first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kveil.arrays import Ints, Longs, Words
from kveil.kernels.grouping.groups import group_rows
from kveil.kernels.least_loss.neighbours import Models, no_models

FIRST, LAST, PARENT, DEPTH, STAR = range(5)  # of a node: its leaves, what is above, edges to the root, whether `*`
OF, AFTER, BEFORE = range(3)  # of a row under a constraint: its class, its place in the class's list
HEAD, SIZE, FREE, WAITS, EMPTY = range(5)  # of a class: first row, rows; free numbers; whether it waits to be looked at
TOTAL, TRIES, KEPT, JOURNAL, QUEUE, EMPTIED, UNIT, ACTIVE, WORK = range(9)  # of all: costs, how full lists are
MOST_STEPS = 2048  # rows that one try may move


class Trees(NamedTuple):
    """The nodes of all attributes laid end to end, an attribute's from ``at`` on; ``cost`` is what each costs a row."""

    at: Longs
    ints: Ints
    cost: Longs
    whole: int  # what a row costs that is out


class Rules(NamedTuple):
    """The sets of attributes whose classes are counted: attributes end to end, the least size of a class, models.

    ``order`` is set × row × 1 + attributes: rows sorted by their leaves in the set's first attribute, with their leaves
    in all of them. ``need`` says where each set's models begin.
    """

    start: Longs
    attribute: Ints
    k: Longs
    need: Longs
    order: Ints


class State(NamedTuple):
    """What every row shows, and the classes of equal projections as doubly linked lists.

    ``base`` is row × attribute, the lowest a row may show, ``limit`` the highest; a row that is ``out`` is in no class.
    ``projection`` is set × class × attribute; ``slots`` are hash tables of classes.
    """

    base: Ints
    limit: Ints
    nodes: Ints
    out: Ints
    cost: Longs
    least: Longs
    rows: Ints
    classes: Ints
    projection: Ints
    hashes: Words
    slots: Ints
    free: Longs
    counts: Longs
    random: Words


class Work(NamedTuple):
    """Room for one try: vectors, the journal of what moved, classes to look at, and candidates."""

    vectors: Ints
    journal: Ints
    before: Ints
    queue: Ints
    emptied: Ints
    picked: Ints
    worth: Longs
    target: Ints
    change: Longs
    active: Ints


class InvalidStart(ValueError):
    """Rows that the loops cannot begin with: a class is too small, or a row shows what does not cover it."""


def check_start(base: Ints, nodes: Ints, out: Ints, trees: Trees, rules: Rules) -> None:
    """Raise InvalidStart for rows that the loops cannot begin with: these look at nothing a second time.

    Room for classes is reckoned from their least size, and every way up ends at what covers the row. O(rows ·
    constraints).
    """
    inside = out == 0
    first, last, depth = trees.ints[FIRST], trees.ints[LAST], trees.ints[DEPTH]
    shown, own = trees.at + nodes[inside], trees.at + base[inside]
    if ((first[shown] > first[own]) | (last[shown] < last[own]) | (depth[shown] > depth[own])).any():
        raise InvalidStart("a row shows what does not cover it.")
    for c, k in enumerate(rules.k.tolist()):
        over = rules.attribute[rules.start[c] : rules.start[c + 1]]
        group, number = group_rows(np.ascontiguousarray(nodes[inside][:, over].T))
        if len(number) and np.bincount(group).min() < k:
            raise InvalidStart("a class has too few rows.")


def new_state(base: Ints, limit: Ints, nodes: Ints, out: Ints, trees: Trees, rules: Rules, seed: int) -> State:
    """Return rows with what they show, in their classes; arrays are row × attribute. Raises InvalidStart."""
    from kveil.kernels.least_loss.overlaps_loops import fill_classes

    check_start(base, nodes, out, trees, rules)
    rows = len(base)
    sets = len(rules.k)
    room = room_for(rows, rules.k)
    widest = int(np.diff(rules.start).max(initial=1))
    slots = 1 << int(2 * room - 1).bit_length()
    state = State(
        base, limit, nodes.copy(), out.copy(), np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64),
        np.full((sets, 3, rows), -1, dtype=np.int32), np.zeros((sets, 5, room), dtype=np.int32),
        np.zeros((sets, room, widest), dtype=np.int32), np.zeros((sets, room), dtype=np.uint64),
        np.full((sets, slots), -1, dtype=np.int32), np.full(sets, room, dtype=np.int64), np.zeros(9, dtype=np.int64),
        np.array([seed], dtype=np.uint64),
    )  # fmt: skip
    state.classes[:, FREE] = np.arange(room - 1, -1, -1)
    fill_classes(state, trees, rules)
    return state


def holds_everywhere(state: State, rules: Rules, models: Models) -> bool:
    """Tell whether every class of every constraint satisfies it. O(rows · constraints)."""
    from kveil.kernels.least_loss.overlaps_loops import every_class_holds

    return bool(every_class_holds(state, rules, models))


def offer(
    state: State, trees: Trees, rules: Rules, models: Models, work: Work, depths: Ints, among: Ints, hides: bool
) -> int:
    """Offer a vector of depths to the rows it makes cheaper; return how many took it, after trimming.

    With ``hides`` no row may show `*` in every attribute. O(rows · constraints) a pass of trimming.
    """
    from kveil.kernels.least_loss.overlaps_loops import propose

    return int(propose(state, trees, rules, models, work, depths, among, hides))


def search(state: State, trees: Trees, rules: Rules, models: Models, work: Work, tries: int, hides: bool) -> int:
    """Try so many times to move a row that costs something, and repair what that breaks; return how much was gained.

    What is not dearer and holds is kept. A try looks at a bounded number of rows.
    """
    from kveil.kernels.least_loss.repair_loops import search_shown

    return int(search_shown(state, trees, rules, models, work, tries, hides))


def search_nothing() -> None:
    """Search in one row, which compiles the loops for the types they are called with."""
    one = np.zeros((1, 1), dtype=np.int32)
    trees = Trees(np.zeros(1, dtype=np.int64), np.zeros((5, 1), dtype=np.int32), np.zeros(1, dtype=np.int64), 1)
    ends = np.array([0, 1], dtype=np.int64)
    rules = Rules(ends, one[0], ends[1:], np.zeros(2, dtype=np.int64), np.zeros((1, 1, 2), dtype=np.int32))
    state = new_state(one, one, one, one[0], trees, rules, 0)
    work, models = new_work(1, rules), no_models()
    holds_everywhere(state, rules, models)
    offer(state, trees, rules, models, work, one[0], one[0], False)
    search(state, trees, rules, models, work, 1, False)


def room_for(rows: int, k: Longs) -> int:
    """Return how many classes a constraint may have at a time: those that hold, and those that a try makes."""
    return rows // max(int(k.min(initial=rows)), 1) + 4 * MOST_STEPS


def new_work(width: int, rules: Rules) -> Work:
    """Return room for tries over so many rows."""
    rows, sets = rules.order.shape[1], len(rules.k)
    room = room_for(rows, rules.k)
    return Work(
        np.zeros((4, width), dtype=np.int32), np.zeros((2, MOST_STEPS), dtype=np.int32),
        np.zeros((MOST_STEPS, width), dtype=np.int32), np.zeros((2, sets * room), dtype=np.int32),
        np.zeros((2, sets * room), dtype=np.int32), np.zeros((3, rows), dtype=np.int32),
        np.zeros((2, rows), dtype=np.int64), np.zeros((sets, rows), dtype=np.int32),
        np.zeros((sets, room), dtype=np.int64), np.zeros_like(rules.order),
    )  # fmt: skip
