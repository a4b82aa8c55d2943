"""The compiled loops behind tries of `overlaps`: a row moves to something cheaper, what that breaks is mended."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints
from kveil.kernels.jit import door, inner
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.kernels.least_loss.aim_loops import aim
from kveil.kernels.least_loss.mend_loops import mend_class
from kveil.kernels.least_loss.overlaps_layout import Constraints, NodeColumns, ShownRows, TryRoom
from kveil.kernels.least_loss.shown_loops import (
    class_holds,
    forget_waiting,
    is_all_stars,
    may_show,
    place,
    purge,
    put_out,
)
from kveil.kernels.least_loss.spans_loops import cut_span
from kveil.kernels.least_loss.steps_loops import step, strain
from kveil.kernels.models.layout import Models
from kveil.kernels.random.draw_loops import draw


@inner
def take_back(state: ShownRows, trees: NodeColumns, constraints: Constraints, work: TryRoom) -> None:
    """Undo everything in the journal."""
    for at in range(state.counts[field.JOURNAL] - 1, -1, -1):
        row = work.journal[field.MOVED, at]
        if work.journal[field.WAS_OUT, at] == 1:
            put_out(state, trees, constraints, work, row)
            for a in range(state.nodes.shape[1]):
                state.nodes[row, a] = work.before[at, a]
        else:
            place(state, trees, constraints, work, row, work.before[at])


@inner
def begin(
    state: ShownRows, trees: NodeColumns, constraints: Constraints, work: TryRoom, costly: int, c: int, hides: bool
) -> bool:
    """Move a row to what it aims at, with all of its class that can show the same; tell whether that is possible."""
    vector, own = work.vectors[field.WISHED], work.vectors[field.TRIED]
    if hides and is_all_stars(trees, vector):
        return False
    width = len(vector)
    was = work.vectors[field.SHOWN_BEFORE]
    same = state.out[costly] == 0
    for a in range(width):
        was[a] = state.nodes[costly, a]
        same = same and was[a] == vector[a]
    if same:
        return False
    g = state.rows[c, field.OF, costly]
    if not step(state, trees, constraints, work, costly, vector):
        return False
    if g < 0:
        return True
    row = state.classes[c, field.HEAD, g]
    seen = 0
    while row >= 0 and seen < field.MOST_STEPS:
        following = state.rows[c, field.AFTER, row]
        seen += 1
        able = True
        for a in range(width):
            own[a] = state.nodes[row, a]
            if vector[a] != was[a]:
                if own[a] != was[a] or not may_show(state, trees, row, a, vector[a]):
                    able = False
                    break
                own[a] = vector[a]
        if able and not (hides and is_all_stars(trees, own)) and not step(state, trees, constraints, work, row, own):
            return False
        row = following
    state.counts[field.WORK] += seen
    return True


@inner
def may_lower(
    state: ShownRows, trees: NodeColumns, constraints: Constraints, work: TryRoom, row: int, a: int, node: int
) -> bool:
    """Write what a row would show with another node; tell whether that is cheaper, and classes there are allow it."""
    vector = work.vectors[field.TRIED]
    for b in range(len(vector)):
        vector[b] = state.nodes[row, b]
    vector[a] = node
    cheaper = trees.cost[trees.at[a] + node] < trees.cost[trees.at[a] + state.nodes[row, a]]
    return cheaper and strain(state, constraints, row, vector, -1) == 0


@inner
def lower_row(state: ShownRows, trees: NodeColumns, constraints: Constraints, work: TryRoom, row: int) -> bool:
    """Let a row show less where classes that are there already allow it; False where the journal is full."""
    vector = work.vectors[field.TRIED]
    width = len(vector)
    first = draw(state.random, width)
    for turn in range(width):
        a = (first + turn) % width
        node = np.int64(state.base[row, a])
        shown_depth = trees.ints[field.DEPTH, trees.at[a] + state.nodes[row, a]]
        found = False
        while not found and trees.ints[field.DEPTH, trees.at[a] + node] > shown_depth:
            found = may_lower(state, trees, constraints, work, row, a, node)
            node = np.int64(trees.ints[field.PARENT, trees.at[a] + node])
        for side in range(0 if trees.span_at[a] < 0 else 2):
            if not found:
                node = cut_span(state, trees, row, a, side == 0)
                found = node >= 0 and may_lower(state, trees, constraints, work, row, a, node)
        if found and not step(state, trees, constraints, work, row, vector):
            return False
    return True


@inner
def too_many_wait(state: ShownRows, constraints: Constraints, work: TryRoom, at: int, most: int) -> bool:
    """Tell whether more classes of the queue, from a place on, lack rows than may still be mended.

    Mending one may mend another, so this may end a try that would have been kept; most of those it ends would not.
    """
    if state.counts[field.QUEUE] - at <= most:
        return False
    lacking = 0
    for later in range(at, state.counts[field.QUEUE]):
        c, g = work.queue[field.SET, later], work.queue[field.CLASS, later]
        lacking += 0 < state.classes[c, field.SIZE, g] < constraints.k[c]
    return lacking > most


@inner
def try_cheaper(
    state: ShownRows,
    trees: NodeColumns,
    constraints: Constraints,
    models: Models,
    work: TryRoom,
    costly: int,
    hides: bool,
) -> bool:
    """Move a row to something cheaper and mend what that breaks; tell whether all holds and nothing is dearer."""
    before = state.counts[field.TOTAL]
    c = aim(state, trees, constraints, work, costly, work.vectors[field.WISHED])
    if not begin(state, trees, constraints, work, costly, c, hides):
        return False
    at = 0
    repairs = 0
    # A turn that is not the last one has written down a move at its end, and there is room for so many.
    for _ in range(field.MOST_STEPS + 1):
        while at < state.counts[field.QUEUE]:
            c, g = work.queue[field.SET, at], work.queue[field.CLASS, at]
            at += 1
            state.classes[c, field.WAITS, g] = 0
            if class_holds(state, constraints, models, c, g):
                continue
            repairs += 1
            left = before - state.counts[field.TOTAL]
            if repairs > field.MOST_REPAIRS or left < 0 or state.counts[field.WORK] > field.MOST_WORK:
                return False
            if too_many_wait(state, constraints, work, at, field.MOST_REPAIRS - repairs):
                return False
            lack = max(constraints.k[c] - state.classes[c, field.SIZE, g], 1)
            if not mend_class(state, trees, constraints, work, c, g, lack, left, hides):
                return False
        number = state.counts[field.JOURNAL]
        for i in range(number):
            row = work.journal[field.MOVED, i]
            if (
                state.cost[row] > state.least[row]
                and state.out[row] == 0
                and not lower_row(state, trees, constraints, work, row)
            ):
                return False
        if at == state.counts[field.QUEUE]:
            return state.counts[field.TOTAL] <= before
    return False


@inner
def list_active(state: ShownRows, constraints: Constraints, work: TryRoom) -> int:
    """List the rows that cost more than they would alone, also by the order of every constraint; return how many."""
    active = work.picked[field.DEAR]
    number = 0
    dear = np.int64(0)
    for row in range(len(state.base)):
        if state.cost[row] > state.least[row]:
            active[number] = row
            number += 1
            dear += state.cost[row] - state.least[row]
    state.counts[field.UNIT] = dear // max(number, 1)
    state.counts[field.ACTIVE] = number
    for c in range(len(constraints.k)):
        place = 0
        for i in range(len(state.base)):
            row = constraints.order[c, i, field.ROW]
            if state.cost[row] > state.least[row]:
                for column in range(constraints.order.shape[2]):
                    work.active[c, place, column] = constraints.order[c, i, column]
                place += 1
    return number


@inner
def draw_costly_row(state: ShownRows, active: Ints, number: int) -> int:
    """Draw some of the rows that cost something, and return the one furthest above what it would cost alone."""
    best = active[draw(state.random, number)]
    for _ in range(field.SEEDS - 1):
        row = active[draw(state.random, number)]
        if state.cost[row] - state.least[row] > state.cost[best] - state.least[best]:
            best = row
    return best


@door
def search_shown(
    state: ShownRows,
    trees: NodeColumns,
    constraints: Constraints,
    models: Models,
    work: TryRoom,
    tries: int,
    hides: bool,
) -> int:
    """Try to move rows that cost something, keep what is not dearer; return how much the total fell."""
    before = state.counts[field.TOTAL]
    active = work.picked[field.DEAR]
    number = list_active(state, constraints, work)
    if number == 0:
        return np.int64(0)
    for _ in range(tries):
        costly = draw_costly_row(state, active, number)
        state.counts[field.TRIES] += 1
        if state.cost[costly] == state.least[costly]:
            continue
        state.counts[field.JOURNAL] = state.counts[field.WORK] = 0
        if try_cheaper(state, trees, constraints, models, work, costly, hides):
            state.counts[field.KEPT] += 1
        else:
            forget_waiting(state, work)
            take_back(state, trees, constraints, work)
        forget_waiting(state, work)
        purge(state, work)
    return before - state.counts[field.TOTAL]
