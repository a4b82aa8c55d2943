"""The compiled loops that mend a class by merging it with another one: rows of both show what covers the two."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints
from kveil.kernels.jit import inner
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.kernels.least_loss.aim_loops import lowest_over
from kveil.kernels.least_loss.overlaps_layout import Constraints, NodeColumns, ShownRows, TryRoom
from kveil.kernels.least_loss.shown_loops import class_of, is_all_stars, may_show
from kveil.kernels.least_loss.steps_loops import step, strain
from kveil.kernels.random.draw_loops import draw


@inner
def cover_both(
    state: ShownRows, trees: NodeColumns, constraints: Constraints, c: int, g: int, h: int, wide: Ints
) -> bool:
    """Write what covers two classes of a constraint, for its attributes; False where nothing does."""
    start = constraints.start[c]
    for i in range(start, constraints.start[c + 1]):
        a = constraints.attribute[i]
        other = state.projection[c, h, i - start]
        node = lowest_over(trees, a, state.projection[c, g, i - start], other)
        if node < 0:
            return False
        higher = trees.ints[field.DEPTH, trees.at[a] + other] < trees.ints[field.DEPTH, trees.at[a] + node]
        wide[a] = other if higher else node  # then both have the same leaves
    return True


@inner
def raise_vector(state: ShownRows, constraints: Constraints, c: int, row: int, wide: Ints, vector: Ints) -> None:
    """Write what a row would show with the attributes of a constraint as given."""
    for a in range(len(vector)):
        vector[a] = state.nodes[row, a]
    for i in range(constraints.start[c], constraints.start[c + 1]):
        vector[constraints.attribute[i]] = wide[constraints.attribute[i]]


@inner
def projection_cost(state: ShownRows, trees: NodeColumns, constraints: Constraints, c: int, g: int) -> int:
    """Return what a class of a constraint costs each of its rows."""
    start = constraints.start[c]
    total = np.int64(0)
    for i in range(start, constraints.start[c + 1]):
        total += trees.cost[trees.at[constraints.attribute[i]] + state.projection[c, g, i - start]]
    return total


@inner
def rows_needed(state: ShownRows, constraints: Constraints, c: int, g: int, to: int) -> int:
    """Return how many rows a class would lack once its rows are in another one, which is -1 where it is new.

    One at least where nobody else is there: it may be large enough, and fail a model.
    """
    has = np.int64(state.classes[c, field.SIZE, to]) if to >= 0 and to != g else np.int64(0)
    fewest = np.int64(0) if has else np.int64(1)
    return max(constraints.k[c] - np.int64(state.classes[c, field.SIZE, g]) - has, fewest)


@inner
def rows_to_give(state: ShownRows, constraints: Constraints, c: int, h: int, need: int) -> int:
    """Return how many rows class h gives to another that needs so many.

    As many as are needed, if at least k stay behind; otherwise all of them, since fewer than k may not stay.
    """
    size = np.int64(state.classes[c, field.SIZE, h])
    return need if size - need >= constraints.k[c] else size


@inner
def find_merge(
    state: ShownRows, trees: NodeColumns, constraints: Constraints, work: TryRoom, c: int, g: int, most: int
) -> tuple[int, int]:
    """Find the class that a class is merged with at the least cost; return the cost, FAR for none, and the class.

    Classes of the rows next to one of its own are looked at, and those of rows drawn from all that cost something.
    """
    wide, vector = work.vectors[field.WIDE], work.vectors[field.TRIED]
    start, end = constraints.start[c], constraints.start[c + 1]
    least, best = most + 1, np.int64(-1)
    head = state.classes[c, field.HEAD, g]
    size, now = np.int64(state.classes[c, field.SIZE, g]), projection_cost(state, trees, constraints, c, g)
    begin = work.places[c, head] - field.MERGE_LOOKS // 4
    state.counts[field.WORK] += 4 * field.MERGE_LOOKS
    for turn in range(field.MERGE_LOOKS):
        if turn == 0 and state.classes[c, field.LEFT_BY, g] >= 0:
            other = np.int64(state.classes[c, field.LEFT_BY, g])
        elif turn % 2:
            other = work.active[c, draw(state.random, state.counts[field.ACTIVE]), field.ROW]
        else:
            at = begin + turn // 2
            if at < 0 or at >= constraints.order.shape[1]:
                continue
            other = constraints.order[c, at, field.ROW]
        h = state.rows[c, field.OF, other]
        if h < 0 or h == g or not cover_both(state, trees, constraints, c, g, h, wide):
            continue
        price = np.int64(0)
        covered = True  # the other class shows what covers both already
        for i in range(start, end):
            a = constraints.attribute[i]
            price += trees.cost[trees.at[a] + wide[a]]
            covered = covered and wide[a] == state.projection[c, h, i - start]
        value = size * (price - now)
        if value >= least:
            continue
        raise_vector(state, constraints, c, head, wide, vector)
        if not covered:
            need = rows_needed(state, constraints, c, g, class_of(state, constraints, c, vector, False))
            given = rows_to_give(state, constraints, c, h, need)
            value += given * (price - projection_cost(state, trees, constraints, c, h))
            value += max(need - given, np.int64(0)) * state.counts[field.UNIT]
        value += strain(state, constraints, head, vector, c) * state.counts[field.UNIT]
        if value < least:
            least, best = value, np.int64(h)
    return (least if best >= 0 else np.int64(field.FAR)), best


@inner
def merge_classes(
    state: ShownRows, trees: NodeColumns, constraints: Constraints, work: TryRoom, c: int, g: int, h: int, hides: bool
) -> bool:
    """Let all rows of a class, and as many of another as it needs, show what covers both; False where one may not."""
    wide, vector = work.vectors[field.WIDE], work.vectors[field.TRIED]
    start, end = constraints.start[c], constraints.start[c + 1]
    if not cover_both(state, trees, constraints, c, g, h, wide):
        return False
    raise_vector(state, constraints, c, state.classes[c, field.HEAD, g], wide, vector)
    to = class_of(state, constraints, c, vector, False)
    need = np.int64(0)
    if to != h:
        need = rows_to_give(state, constraints, c, h, rows_needed(state, constraints, c, g, to))
    for turn in range(2):
        row = state.classes[c, field.HEAD, g if turn == 0 else h]
        left = np.int64(state.classes[c, field.SIZE, g]) if turn == 0 else need
        if turn == 0 and to == g:
            continue
        while row >= 0 and left > 0:
            following = state.rows[c, field.AFTER, row]
            for i in range(start, end):
                if not may_show(state, trees, row, constraints.attribute[i], wide[constraints.attribute[i]]):
                    return False
            raise_vector(state, constraints, c, row, wide, vector)
            if (hides and is_all_stars(trees, vector)) or not step(state, trees, constraints, work, row, vector):
                return False
            left -= 1
            row = following
    return True
