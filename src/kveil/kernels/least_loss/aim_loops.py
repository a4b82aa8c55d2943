"""The compiled loops that choose what a row would rather show; behind the tries of `overlaps`."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints
from kveil.kernels.jit import inner
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.kernels.least_loss.overlaps_layout import Constraints, NodeColumns, ShownRows, TryRoom
from kveil.kernels.least_loss.shown_loops import covers, may_rise, may_show
from kveil.kernels.least_loss.spans_loops import narrower_span, span_over_both
from kveil.kernels.random.draw_loops import draw


@inner
def first_from(cells: Ints, number: int, leaf: int) -> int:
    """Return the first place at which rows have a leaf or one behind it."""
    low, high = 0, number
    while low < high:
        middle = (low + high) // 2
        if cells[middle, field.LEAVES] < leaf:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def lowest_over(trees: NodeColumns, a: int, node: int, other: int) -> int:
    """Return the lowest node over two of an attribute, -1 where there is none: a span may be too wide."""
    if trees.span_at[a] >= 0:
        return span_over_both(trees, a, node, other)
    at = trees.at[a]
    while not covers(trees, a, node, other):
        parent = trees.ints[field.PARENT, at + node]
        if parent == node:
            return -1
        node = parent
    return node


@inner
def look_around(
    state: ShownRows,
    trees: NodeColumns,
    constraints: Constraints,
    work: TryRoom,
    row: int,
    c: int,
    move: int,
    vector: Ints,
) -> None:
    """Write what a row would show like another one: all that one shows, or what covers both under a constraint."""
    own = work.vectors[field.TRIED]
    width = len(vector)
    whole = move == field.ROW_COVERING_ANOTHER or move == field.ROW_LIKE_ANOTHER
    shown = move >= field.ROW_LIKE_ANOTHER
    begin, end = (0, width) if whole else (constraints.start[c], constraints.start[c + 1])
    least = np.int64(0)
    for i in range(begin, end):
        a = i if whole else constraints.attribute[i]
        least += trees.cost[trees.at[a] + state.nodes[row, a]]
    if state.out[row] == 1:
        least = np.int64(field.FAR)
    cells = work.active[c]
    count = state.counts[field.ACTIVE]
    lead = constraints.attribute[constraints.start[c]]
    near = first_from(cells, count, trees.ints[field.FIRST, trees.at[lead] + state.base[row, lead]])
    for turn in range(field.AROUND):
        other = cells[draw(state.random, count) if turn % 2 else (near + turn // 2) % count, field.ROW]
        if other == row or (shown and state.out[other] == 1):
            continue
        value = np.int64(0)
        for i in range(begin, end):
            a = i if whole else constraints.attribute[i]
            node = state.nodes[other, a] if shown else state.base[other, a]
            if not covers(trees, a, node, state.base[row, a]):
                if shown:
                    value = np.int64(field.FAR)
                    break
                node = lowest_over(trees, a, state.base[row, a], node)
                if node < 0:
                    value = np.int64(field.FAR)
                    break
            own[a] = node
            value += trees.cost[trees.at[a] + node]
            if value >= least or not may_show(state, trees, row, a, node):
                value = np.int64(field.FAR)
                break
        if value < least:
            least = value
            for i in range(begin, end):
                a = i if whole else constraints.attribute[i]
                vector[a] = own[a]


@inner
def aim(state: ShownRows, trees: NodeColumns, constraints: Constraints, work: TryRoom, row: int, vector: Ints) -> int:
    """Write a vector that a row would rather show; return a constraint that it changes."""
    width = len(vector)
    for a in range(width):
        vector[a] = state.nodes[row, a]
    sets = len(constraints.k)
    c = draw(state.random, sets)
    for _ in range(sets):  # one whose attributes cost something
        dear = False
        for i in range(constraints.start[c], constraints.start[c + 1]):
            a = constraints.attribute[i]
            if state.nodes[row, a] != state.base[row, a]:
                dear = True
        if dear:
            break
        c = (c + 1) % sets
    move = draw(state.random, field.AIMS)
    if move >= field.ROW_COVERING_ANOTHER:
        look_around(state, trees, constraints, work, row, c, move, vector)
    elif move == field.ROW_AS_IT_IS:
        for a in range(width):
            vector[a] = state.base[row, a]
    elif move <= field.CONSTRAINT_LOWER_TOO:
        for i in range(constraints.start[c], constraints.start[c + 1]):
            a = constraints.attribute[i]
            vector[a] = lower(state, trees, row, a, move != field.CONSTRAINT_AS_IT_IS)
    else:
        number = constraints.start[c + 1] - constraints.start[c]
        i = draw(state.random, number)
        for _ in range(number):
            a = constraints.attribute[constraints.start[c] + i]
            if state.nodes[row, a] != state.base[row, a]:
                break
            i = (i + 1) % number
        a = constraints.attribute[constraints.start[c] + i]
        vector[a] = lower(state, trees, row, a, True)
        if vector[a] == state.nodes[row, a]:
            vector[a] = state.base[row, a]
        if move == field.ONE_LOWER_ONE_HIGHER:
            b = constraints.attribute[constraints.start[c] + draw(state.random, number)]
            if b != a and may_rise(state, trees, row, b, vector[b]):
                vector[b] = trees.ints[field.PARENT, trees.at[b] + vector[b]]
    return c


@inner
def lower(state: ShownRows, trees: NodeColumns, row: int, a: int, by_chance: bool) -> int:
    """Return a node between what a row shows and what it is."""
    at = trees.at[a]
    node, shown = state.base[row, a], state.nodes[row, a]
    if by_chance and trees.span_at[a] >= 0:
        return narrower_span(state, trees, row, a)
    if by_chance:
        steps = trees.ints[field.DEPTH, at + node] - trees.ints[field.DEPTH, at + shown]
        for _ in range(draw(state.random, steps + 1) if steps else 0):
            node = trees.ints[field.PARENT, at + node]
    return node
