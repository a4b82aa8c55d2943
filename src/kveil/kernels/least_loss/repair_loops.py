"""The compiled loops behind tries of `overlaps`: a row moves to something cheaper, what that breaks is mended."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints
from kveil.kernels.jit import door, inner
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.kernels.least_loss.aim_loops import aim, first_from
from kveil.kernels.least_loss.join_loops import draw
from kveil.kernels.least_loss.neighbours import Models
from kveil.kernels.least_loss.overlaps import Constraints, NodeColumns, ShownRows, TryRoom
from kveil.kernels.least_loss.shown_loops import (
    class_holds,
    class_of,
    forget_waiting,
    may_rise,
    may_show,
    place,
    purge,
    put_out,
    shows_nothing,
    vector_cost,
)


@inner
def step(state: ShownRows, trees: NodeColumns, constraints: Constraints, work: TryRoom, row: int, vector: Ints) -> bool:
    """Let a row show a vector, and write that down; False where the journal is full."""
    at = state.counts[field.JOURNAL]
    if at >= field.MOST_STEPS:
        return False
    work.journal[0, at] = row
    work.journal[1, at] = state.out[row]
    for a in range(len(vector)):
        work.before[at, a] = state.nodes[row, a]
    state.counts[field.JOURNAL] += 1
    place(state, trees, constraints, work, row, vector)
    return True


@inner
def take_back(state: ShownRows, trees: NodeColumns, constraints: Constraints, work: TryRoom) -> None:
    """Undo everything in the journal."""
    for at in range(state.counts[field.JOURNAL] - 1, -1, -1):
        row = work.journal[0, at]
        if work.journal[1, at] == 1:
            put_out(state, trees, constraints, work, row)
            for a in range(state.nodes.shape[1]):
                state.nodes[row, a] = work.before[at, a]
        else:
            place(state, trees, constraints, work, row, work.before[at])


@inner
def begin(
    state: ShownRows, trees: NodeColumns, constraints: Constraints, work: TryRoom, seed: int, c: int, hides: bool
) -> bool:
    """Move a row to what it aims at, with all of its class that can show the same; tell whether that is possible."""
    vector, own = work.vectors[0], work.vectors[1]
    if hides and shows_nothing(trees, vector):
        return False
    width = len(vector)
    was = work.vectors[2]
    same = state.out[seed] == 0
    for a in range(width):
        was[a] = state.nodes[seed, a]
        same = same and was[a] == vector[a]
    if same:
        return False
    g = state.rows[c, field.OF, seed]
    if not step(state, trees, constraints, work, seed, vector):
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
        if able and not (hides and shows_nothing(trees, own)) and not step(state, trees, constraints, work, row, own):
            return False
        row = following
    state.counts[field.WORK] += seen
    return True


@inner
def strain(state: ShownRows, constraints: Constraints, row: int, vector: Ints, besides: int) -> int:
    """Return how many rows would be lacking elsewhere if a row showed a vector: in what it enters and leaves."""
    lacking = np.int64(0)
    for c in range(len(constraints.k)):
        if c == besides:
            continue
        of = state.rows[c, field.OF, row]
        to = class_of(state, constraints, c, vector, False)
        if to == of and of >= 0:
            continue
        has = state.classes[c, field.SIZE, to] if to >= 0 else 0
        lacking += max(constraints.k[c] - has - 1, 0)
        if of >= 0 and state.classes[c, field.SIZE, of] <= constraints.k[c] and state.classes[c, field.SIZE, of] > 1:
            lacking += 1
    return lacking


@inner
def extra_cost(state: ShownRows, trees: NodeColumns, constraints: Constraints, c: int, g: int, row: int) -> int:
    """Return what a row would cost more in a class of a constraint, FAR where it may not show what that shows."""
    start = constraints.start[c]
    value = np.int64(0)
    for i in range(start, constraints.start[c + 1]):
        a = constraints.attribute[i]
        at = trees.at[a]
        node = state.projection[c, g, i - start]
        if not may_show(state, trees, row, a, node):
            return np.int64(field.FAR)
        value += trees.cost[at + node] - trees.cost[at + state.nodes[row, a]]
    if state.out[row] == 1:
        for a in range(len(trees.at)):
            value += trees.cost[trees.at[a] + state.nodes[row, a]]
        value -= state.cost[row]
    return value


@inner
def show_as(state: ShownRows, constraints: Constraints, c: int, g: int, row: int, vector: Ints) -> None:
    """Write what a row would show in a class of a constraint."""
    start = constraints.start[c]
    for a in range(len(vector)):
        vector[a] = state.nodes[row, a]
    for i in range(start, constraints.start[c + 1]):
        vector[constraints.attribute[i]] = state.projection[c, g, i - start]


@inner
def find_help(
    state: ShownRows,
    trees: NodeColumns,
    constraints: Constraints,
    work: TryRoom,
    c: int,
    g: int,
    lack: int,
    most: int,
    hides: bool,
) -> int:
    """Find rows that could join a class at the least cost; return what they cost, FAR where there are too few.

    They stand in ``picked[0]``, the cheapest first.
    """
    vector = work.vectors[1]
    found = 0
    worst = most + 1
    least = np.int64(0)  # what the class costs a row that costs nothing yet
    first, last = work.vectors[2], work.vectors[3]
    own = constraints.start[c + 1] - constraints.start[c]
    for i in range(own):
        node = trees.at[constraints.attribute[constraints.start[c] + i]] + state.projection[c, g, i]
        first[i], last[i] = trees.ints[field.FIRST, node], trees.ints[field.LAST, node]
        least += trees.cost[node]
    for turn in range(2):  # rows that cost something, then all
        cells = work.active[c] if turn == 0 else constraints.order[c]
        count = state.counts[field.ACTIVE] if turn == 0 else len(cells)
        left, right = first_from(cells, count, first[0]), first_from(cells, count, last[0] + 1)
        number = right - left
        if number == 0:
            continue
        spot = left + draw(state.random, number)
        state.counts[field.WORK] += min(number, field.MOST_SEEN)
        for _ in range(min(number, field.MOST_SEEN)):
            if turn == 1 and found == lack and worst <= least:
                break
            at = spot
            spot = spot + 1 if spot + 1 < right else left
            inside = True
            for i in range(1, own):
                if cells[at, 1 + i] < first[i] or cells[at, 1 + i] > last[i]:
                    inside = False
                    break
            if not inside:
                continue
            row = cells[at, 0]
            value = extra_cost(state, trees, constraints, c, g, row)
            if value >= worst:
                continue
            of = state.rows[c, field.OF, row]
            if of == g or (turn == 1 and state.cost[row] > state.least[row]):
                continue
            if of >= 0 and state.classes[c, field.SIZE, of] <= constraints.k[c]:
                value += state.counts[field.UNIT]
                if value >= worst:
                    continue
            show_as(state, constraints, c, g, row, vector)
            value += strain(state, constraints, row, vector, c) * state.counts[field.UNIT]
            if value >= worst or (hides and shows_nothing(trees, vector)):
                continue
            if found < lack:
                found += 1
            at = found - 1
            while at > 0 and work.worth[0, at - 1] > value:
                work.worth[0, at] = work.worth[0, at - 1]
                work.picked[0, at] = work.picked[0, at - 1]
                at -= 1
            work.worth[0, at] = value
            work.picked[0, at] = row
            if found == lack:
                worst = work.worth[0, found - 1]
    if found < lack:
        return np.int64(field.FAR)
    total = np.int64(0)
    for i in range(found):
        total += work.worth[0, i]
    return total


@inner
def way_up(
    state: ShownRows, trees: NodeColumns, constraints: Constraints, work: TryRoom, c: int, g: int, row: int, hides: bool
) -> int:
    """Write in ``vectors[3]`` the cheapest way for a row to leave a class by raising an attribute; return its cost."""
    vector, best = work.vectors[1], work.vectors[3]
    least = np.int64(field.FAR)
    size = state.classes[c, field.SIZE, g]
    for i in range(constraints.start[c], constraints.start[c + 1]):
        a = constraints.attribute[i]
        for b in range(len(vector)):
            vector[b] = state.nodes[row, b]
        while may_rise(state, trees, row, a, vector[a]):
            vector[a] = trees.ints[field.PARENT, trees.at[a] + vector[a]]
            if hides and shows_nothing(trees, vector):
                break
            value = vector_cost(trees, vector) - state.cost[row]
            if value >= least:
                break
            to = class_of(state, constraints, c, vector, False)
            has = state.classes[c, field.SIZE, to] if to >= 0 else 0
            lacking = max(constraints.k[c] - has - size, 0) + strain(state, constraints, row, vector, c)
            value += lacking * state.counts[field.UNIT] // (1 if has else max(size, 1))
            if value < least:
                least = value
                for b in range(len(vector)):
                    best[b] = vector[b]
    return least


@inner
def mend_class(
    state: ShownRows,
    trees: NodeColumns,
    constraints: Constraints,
    work: TryRoom,
    c: int,
    g: int,
    lack: int,
    most: int,
    hides: bool,
) -> bool:
    """Bring rows into a class that lacks some, or its rows up into others, whichever costs less; False for neither."""
    help_cost = find_help(state, trees, constraints, work, c, g, lack, most, hides)
    up_cost = np.int64(0)
    row = state.classes[c, field.HEAD, g]
    state.counts[field.WORK] += field.WAY_UP_LOOKS * state.classes[c, field.SIZE, g]
    while row >= 0:
        up_cost += way_up(state, trees, constraints, work, c, g, row, hides)
        if up_cost > most or up_cost >= help_cost:
            break
        row = state.rows[c, field.AFTER, row]
    if min(help_cost, up_cost) > most:
        return False
    vector = work.vectors[1]
    if help_cost <= up_cost:
        for i in range(lack):
            row = work.picked[0, i]
            show_as(state, constraints, c, g, row, vector)
            if not step(state, trees, constraints, work, row, vector):
                return False
        return True
    row = state.classes[c, field.HEAD, g]
    while row >= 0:
        following = state.rows[c, field.AFTER, row]
        if way_up(state, trees, constraints, work, c, g, row, hides) >= field.FAR:
            return False
        if not step(state, trees, constraints, work, row, work.vectors[3]):
            return False
        row = following
    return True


@inner
def lower_row(state: ShownRows, trees: NodeColumns, constraints: Constraints, work: TryRoom, row: int) -> bool:
    """Let a row show less where classes that are there already allow it; False where the journal is full."""
    vector = work.vectors[1]
    width = len(vector)
    first = draw(state.random, width)
    for turn in range(width):
        a = (first + turn) % width
        node = state.base[row, a]
        shown_depth = trees.ints[field.DEPTH, trees.at[a] + state.nodes[row, a]]
        while trees.ints[field.DEPTH, trees.at[a] + node] > shown_depth:
            for b in range(width):
                vector[b] = state.nodes[row, b]
            vector[a] = node
            if trees.cost[trees.at[a] + node] < trees.cost[trees.at[a] + state.nodes[row, a]] and (
                strain(state, constraints, row, vector, -1) == 0
            ):
                if not step(state, trees, constraints, work, row, vector):
                    return False
                break
            node = trees.ints[field.PARENT, trees.at[a] + node]
    return True


@inner
def attempt(
    state: ShownRows,
    trees: NodeColumns,
    constraints: Constraints,
    models: Models,
    work: TryRoom,
    seed: int,
    hides: bool,
) -> bool:
    """Move a row to something cheaper and mend what that breaks; tell whether all holds and nothing is dearer."""
    before = state.counts[field.TOTAL]
    c = aim(state, trees, constraints, work, seed, work.vectors[0])
    if not begin(state, trees, constraints, work, seed, c, hides):
        return False
    at = 0
    repairs = 0
    while True:
        while at < state.counts[field.QUEUE]:
            c, g = work.queue[0, at], work.queue[1, at]
            at += 1
            state.classes[c, field.WAITS, g] = 0
            if class_holds(state, constraints, models, c, g):
                continue
            repairs += 1
            left = before - state.counts[field.TOTAL]
            if repairs > field.MOST_REPAIRS or left < 0 or state.counts[field.WORK] > field.MOST_WORK:
                return False
            lack = max(constraints.k[c] - state.classes[c, field.SIZE, g], 1)
            if not mend_class(state, trees, constraints, work, c, g, lack, left, hides):
                return False
        number = state.counts[field.JOURNAL]
        for i in range(number):
            row = work.journal[0, i]
            if (
                state.cost[row] > state.least[row]
                and state.out[row] == 0
                and not lower_row(state, trees, constraints, work, row)
            ):
                return False
        if at == state.counts[field.QUEUE]:
            return state.counts[field.TOTAL] <= before


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
    active = work.picked[2]
    number = 0
    dear = np.int64(0)
    for row in range(len(state.base)):
        if state.cost[row] > state.least[row]:
            active[number] = row
            number += 1
            dear += state.cost[row] - state.least[row]
    if number == 0:
        return np.int64(0)
    state.counts[field.UNIT] = dear // number
    state.counts[field.ACTIVE] = number
    for c in range(len(constraints.k)):
        place = 0
        for i in range(len(state.base)):
            row = constraints.order[c, i, 0]
            if state.cost[row] > state.least[row]:
                work.active[c, place] = constraints.order[c, i]
                place += 1
    for _ in range(tries):
        seed = active[draw(state.random, number)]
        state.counts[field.TRIES] += 1
        if state.cost[seed] == state.least[seed]:
            continue
        state.counts[field.JOURNAL] = state.counts[field.WORK] = 0
        if attempt(state, trees, constraints, models, work, seed, hides):
            state.counts[field.KEPT] += 1
        else:
            forget_waiting(state, work)
            take_back(state, trees, constraints, work)
        forget_waiting(state, work)
        purge(state, work)
    return before - state.counts[field.TOTAL]
