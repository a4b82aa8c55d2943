"""The compiled loops that keep what rows show and the classes of every constraint; behind `overlaps`."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints
from kveil.kernels.grouping.hash_slots_loops import seek
from kveil.kernels.jit import door, inner
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.kernels.least_loss.overlaps_layout import Constraints, NodeColumns, ShownRows, TryRoom
from kveil.kernels.models.layout import Models
from kveil.kernels.models.models_loops import clear, count_values, holds


@inner
def hash_of(constraints: Constraints, c: int, vector: Ints) -> int:
    """Return the hash of what a vector shows to a constraint."""
    h = np.uint64(c + 1)
    for i in range(constraints.start[c], constraints.start[c + 1]):
        h = (h ^ np.uint64(vector[constraints.attribute[i]])) * np.uint64(0x9E3779B97F4A7C15)
        h ^= h >> np.uint64(29)
    return h


@inner
def class_of(state: ShownRows, constraints: Constraints, c: int, vector: Ints, make: bool) -> int:
    """Return the class of a vector under a constraint, -1 where there is none and none is to be made."""
    begin, end = constraints.start[c], constraints.start[c + 1]
    h = hash_of(constraints, c, vector)
    slots, hashes = state.slots[c], state.hashes[c]
    mask = np.uint64(len(slots) - 1)
    at = h
    for _ in range(len(slots)):
        at = seek(slots, hashes, h, at, mask)
        g = slots[at]
        if g < 0:
            break
        same = True
        for i in range(begin, end):
            if state.projection[c, g, i - begin] != vector[constraints.attribute[i]]:
                same = False
                break
        if same:
            return np.int64(g)
        at += np.uint64(1)
    if not make:
        return np.int64(-1)
    state.free[c] -= 1
    g = state.classes[c, field.FREE, state.free[c]]
    state.classes[c, field.HEAD, g] = -1
    state.classes[c, field.SIZE, g] = 0
    state.classes[c, field.WAITS, g] = 0
    state.classes[c, field.EMPTY, g] = 0
    state.classes[c, field.VERDICT, g] = field.UNJUDGED
    state.classes[c, field.LEFT_BY, g] = -1
    state.hashes[c, g] = h
    for i in range(begin, end):
        state.projection[c, g, i - begin] = vector[constraints.attribute[i]]
    state.slots[c, at] = g
    return np.int64(g)


@inner
def remove_class(state: ShownRows, c: int, g: int) -> None:
    """Take an empty class out of the hash table; what stood behind it moves up."""
    mask = state.slots.shape[1] - 1
    at = np.int64(state.hashes[c, g] & np.uint64(mask))
    for _ in range(mask):
        if state.slots[c, at] == g:
            break
        at = (at + 1) & mask
    hole = at
    for _ in range(mask):
        at = (at + 1) & mask
        other = state.slots[c, at]
        if other < 0:
            break
        home = np.int64(state.hashes[c, other] & np.uint64(mask))
        if ((at - home) & mask) >= ((at - hole) & mask):
            state.slots[c, hole] = other
            hole = at
    state.slots[c, hole] = -1
    state.classes[c, field.FREE, state.free[c]] = g
    state.free[c] += 1


@inner
def note_empty(state: ShownRows, work: TryRoom, c: int, g: int) -> None:
    """Remember a class that may have to be removed."""
    if state.classes[c, field.EMPTY, g] == 0:
        state.classes[c, field.EMPTY, g] = 1
        at = state.counts[field.EMPTIED]
        work.emptied[field.SET, at] = c
        work.emptied[field.CLASS, at] = g
        state.counts[field.EMPTIED] += 1


@inner
def purge(state: ShownRows, work: TryRoom) -> None:
    """Remove the classes that are empty."""
    for at in range(state.counts[field.EMPTIED]):
        c, g = work.emptied[field.SET, at], work.emptied[field.CLASS, at]
        state.classes[c, field.EMPTY, g] = 0
        if state.classes[c, field.SIZE, g] == 0:
            remove_class(state, c, g)
    state.counts[field.EMPTIED] = 0


@inner
def leave_class(state: ShownRows, c: int, row: int) -> int:
    """Take a row out of its class; return the class."""
    g = state.rows[c, field.OF, row]
    ahead, behind = state.rows[c, field.BEFORE, row], state.rows[c, field.AFTER, row]
    if ahead >= 0:
        state.rows[c, field.AFTER, ahead] = behind
    else:
        state.classes[c, field.HEAD, g] = behind
    if behind >= 0:
        state.rows[c, field.BEFORE, behind] = ahead
    state.classes[c, field.SIZE, g] -= 1
    state.classes[c, field.LEFT_BY, g] = row
    state.rows[c, field.OF, row] = -1
    return g


@inner
def enter_class(state: ShownRows, c: int, row: int, g: int) -> None:
    """Put a row into a class."""
    first = state.classes[c, field.HEAD, g]
    state.rows[c, field.AFTER, row] = first
    state.rows[c, field.BEFORE, row] = -1
    if first >= 0:
        state.rows[c, field.BEFORE, first] = row
    state.classes[c, field.HEAD, g] = row
    state.classes[c, field.SIZE, g] += 1
    state.rows[c, field.OF, row] = g


@inner
def shown_cost(trees: NodeColumns, vector: Ints) -> int:
    """Return what a vector costs per row."""
    total = np.int64(0)
    for a in range(len(vector)):
        total += trees.cost[trees.at[a] + vector[a]]
    return total


@inner
def is_all_stars(trees: NodeColumns, vector: Ints) -> bool:
    """Tell whether a vector shows `*` everywhere."""
    stars = True
    for a in range(len(vector)):
        stars &= trees.ints[field.STAR, trees.at[a] + vector[a]] == 1
    return stars


@inner
def covers(trees: NodeColumns, a: int, node: int, other: int) -> bool:
    """Tell whether a node of an attribute covers another."""
    at = trees.at[a]
    return (
        trees.ints[field.FIRST, at + node] <= trees.ints[field.FIRST, at + other]
        and trees.ints[field.LAST, at + node] >= trees.ints[field.LAST, at + other]
    )


@inner
def may_show(state: ShownRows, trees: NodeColumns, row: int, a: int, node: int) -> bool:
    """Tell whether a row may show a node: it lies between what the row is and the row's limit."""
    at = trees.at[a]
    depth = trees.ints[field.DEPTH, at + node]
    return trees.ints[field.DEPTH, at + state.limit[row, a]] <= depth <= trees.ints[
        field.DEPTH, at + state.base[row, a]
    ] and covers(trees, a, node, state.base[row, a])


@inner
def may_rise(state: ShownRows, trees: NodeColumns, row: int, a: int, node: int) -> bool:
    """Tell whether a row that shows a node may show the parent: not at its limit, nor where it shows more already.

    Every step up makes the depth smaller, so loops that ask this end.
    """
    at = trees.at[a]
    return trees.ints[field.DEPTH, at + node] > trees.ints[field.DEPTH, at + state.limit[row, a]]


@door
def fill_classes(state: ShownRows, trees: NodeColumns, constraints: Constraints) -> None:
    """Put every row that is not out into its classes, and reckon costs."""
    whole = trees.whole
    for row in range(len(state.base) - 1, -1, -1):
        state.least[row] = shown_cost(trees, state.base[row])
        state.cost[row] = whole
        if state.out[row] == 0:
            state.cost[row] = shown_cost(trees, state.nodes[row])
            for c in range(len(constraints.k)):
                enter_class(state, c, row, class_of(state, constraints, c, state.nodes[row], True))
        state.counts[field.TOTAL] += state.cost[row]


@inner
def class_holds(state: ShownRows, constraints: Constraints, models: Models, c: int, g: int) -> bool:
    """Tell whether a class is empty, or large enough and satisfies every model of its constraint."""
    size = state.classes[c, field.SIZE, g]
    if size == 0:
        return True
    if size < constraints.k[c]:
        return False
    begin, end = constraints.need[c], constraints.need[c + 1]
    if begin == end:
        return True
    row = state.classes[c, field.HEAD, g]
    while row >= 0:
        count_values(models, row)
        row = state.rows[c, field.AFTER, row]
    good = holds(models, begin, end, size)
    clear(models)
    return good


@door
def every_class_holds(state: ShownRows, constraints: Constraints, models: Models) -> bool:
    """Tell whether every class of every constraint satisfies it."""
    for c in range(len(constraints.k)):
        for row in range(len(state.base)):
            g = state.rows[c, field.OF, row]
            if g >= 0 and state.classes[c, field.HEAD, g] == row and not class_holds(state, constraints, models, c, g):
                return False
    return True


@inner
def place(
    state: ShownRows, trees: NodeColumns, constraints: Constraints, work: TryRoom, row: int, vector: Ints
) -> None:
    """Let a row show a vector; classes it enters and leaves are updated."""
    cost = shown_cost(trees, vector)
    was_out = state.out[row] == 1
    for c in range(len(constraints.k)):
        if not was_out:
            same = True
            for i in range(constraints.start[c], constraints.start[c + 1]):
                if vector[constraints.attribute[i]] != state.nodes[row, constraints.attribute[i]]:
                    same = False
                    break
            if same:
                continue
            g = leave_class(state, c, row)
            if state.classes[c, field.SIZE, g] == 0:
                note_empty(state, work, c, g)
            else:
                wait(state, constraints, work, c, g)
        g = class_of(state, constraints, c, vector, True)
        enter_class(state, c, row, g)
        wait(state, constraints, work, c, g)
    for a in range(len(vector)):
        state.nodes[row, a] = vector[a]
    state.out[row] = 0
    state.counts[field.TOTAL] += cost - state.cost[row]
    state.cost[row] = cost


@inner
def put_out(state: ShownRows, trees: NodeColumns, constraints: Constraints, work: TryRoom, row: int) -> None:
    """Take a row out of all classes: it was out before."""
    for c in range(len(constraints.k)):
        g = leave_class(state, c, row)
        if state.classes[c, field.SIZE, g] == 0:
            note_empty(state, work, c, g)
    state.out[row] = 1
    whole = trees.whole
    state.counts[field.TOTAL] += whole - state.cost[row]
    state.cost[row] = whole


@inner
def wait(state: ShownRows, constraints: Constraints, work: TryRoom, c: int, g: int) -> None:
    """Let a class wait to be looked at where it may have become invalid."""
    if state.classes[c, field.WAITS, g] == 0 and (
        state.classes[c, field.SIZE, g] < constraints.k[c] or constraints.need[c + 1] > constraints.need[c]
    ):
        state.classes[c, field.WAITS, g] = 1
        at = state.counts[field.QUEUE]
        work.queue[field.SET, at] = c
        work.queue[field.CLASS, at] = g
        state.counts[field.QUEUE] += 1


@inner
def forget_waiting(state: ShownRows, work: TryRoom) -> None:
    """Let no class wait."""
    for at in range(state.counts[field.QUEUE]):
        state.classes[work.queue[field.SET, at], field.WAITS, work.queue[field.CLASS, at]] = 0
    state.counts[field.QUEUE] = 0
