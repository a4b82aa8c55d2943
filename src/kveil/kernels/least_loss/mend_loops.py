"""The compiled loops that mend a class which a try has left with too few rows: others join it, or its rows leave."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints
from kveil.kernels.jit import inner
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.kernels.least_loss.aim_loops import first_from
from kveil.kernels.least_loss.merge_loops import find_merge, merge_classes
from kveil.kernels.least_loss.overlaps_layout import Constraints, NodeColumns, ShownRows, TryRoom
from kveil.kernels.least_loss.shown_loops import (
    class_of,
    is_all_stars,
    may_rise,
    may_show,
    shown_cost,
)
from kveil.kernels.least_loss.steps_loops import step, strain
from kveil.kernels.random.draw_loops import draw


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

    They stand in ``picked[MOVERS]``, the cheapest first.
    """
    vector = work.vectors[field.TRIED]
    found = 0
    worst = most + 1
    least = np.int64(0)  # what the class costs a row that costs nothing yet
    first, last = work.vectors[field.FIRST_LEAVES], work.vectors[field.LAST_LEAVES]
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
                if cells[at, field.LEAVES + i] < first[i] or cells[at, field.LEAVES + i] > last[i]:
                    inside = False
                    break
            if not inside:
                continue
            row = cells[at, field.ROW]
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
            if value >= worst or (hides and is_all_stars(trees, vector)):
                continue
            if found < lack:
                found += 1
            at = found - 1
            while at > 0 and work.worth[field.VALUE, at - 1] > value:
                work.worth[field.VALUE, at] = work.worth[field.VALUE, at - 1]
                work.picked[field.MOVERS, at] = work.picked[field.MOVERS, at - 1]
                at -= 1
            work.worth[field.VALUE, at] = value
            work.picked[field.MOVERS, at] = row
            if found == lack:
                worst = work.worth[field.VALUE, found - 1]
    if found < lack:
        return np.int64(field.FAR)
    total = np.int64(0)
    for i in range(found):
        total += work.worth[field.VALUE, i]
    return total


@inner
def cheapest_way_up(
    state: ShownRows, trees: NodeColumns, constraints: Constraints, work: TryRoom, c: int, g: int, row: int, hides: bool
) -> int:
    """Write in ``vectors[UPWARD]`` a row's cheapest way out of a class by raising an attribute; return its cost."""
    vector, best = work.vectors[field.TRIED], work.vectors[field.UPWARD]
    least = np.int64(field.FAR)
    size = state.classes[c, field.SIZE, g]
    for i in range(constraints.start[c], constraints.start[c + 1]):
        a = constraints.attribute[i]
        for b in range(len(vector)):
            vector[b] = state.nodes[row, b]
        while may_rise(state, trees, row, a, vector[a]):
            vector[a] = trees.ints[field.PARENT, trees.at[a] + vector[a]]
            if hides and is_all_stars(trees, vector):
                break
            value = shown_cost(trees, vector) - state.cost[row]
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
    """Bring rows into a class that lacks some, its rows up into others, or merge it; False where all cost too much."""
    help_cost = find_help(state, trees, constraints, work, c, g, lack, most, hides)
    up_cost = np.int64(0)
    row = state.classes[c, field.HEAD, g]
    state.counts[field.WORK] += field.WAY_UP_LOOKS * state.classes[c, field.SIZE, g]
    while row >= 0:
        up_cost += cheapest_way_up(state, trees, constraints, work, c, g, row, hides)
        if up_cost > most or up_cost >= help_cost:
            break
        row = state.rows[c, field.AFTER, row]
    merge_cost, h = find_merge(state, trees, constraints, work, c, g, min(most, help_cost - 1, up_cost - 1))
    if merge_cost < field.FAR:
        return bool(merge_classes(state, trees, constraints, work, c, g, h, hides))
    if min(help_cost, up_cost) > most:
        return False
    vector = work.vectors[field.TRIED]
    if help_cost <= up_cost:
        for i in range(lack):
            row = work.picked[field.MOVERS, i]
            show_as(state, constraints, c, g, row, vector)
            if not step(state, trees, constraints, work, row, vector):
                return False
        return True
    row = state.classes[c, field.HEAD, g]
    while row >= 0:
        following = state.rows[c, field.AFTER, row]
        if cheapest_way_up(state, trees, constraints, work, c, g, row, hides) >= field.FAR:
            return False
        if not step(state, trees, constraints, work, row, work.vectors[field.UPWARD]):
            return False
        row = following
    return True
