"""What rows show under constraints that overlap, and moves from valid to valid. The first call imports Numba."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.kernels.grouping.hash_slots import slots_for
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.kernels.least_loss.overlaps_layout import Climbs, Constraints, NodeColumns, ShownRows, TryRoom
from kveil.kernels.models.layout import Models, no_models


class InvalidStart(ValueError):
    """Rows that the loops cannot begin with: a class is too small, or a row shows what does not cover it."""


def check_start(base: Ints, nodes: Ints, out: Ints, trees: NodeColumns, constraints: Constraints) -> None:
    """Raise InvalidStart for rows that the loops cannot begin with: these look at nothing a second time.

    Room for classes is reckoned from their least size, and every way up ends at what covers the row. O(rows ·
    constraints).
    """
    inside = out == 0
    first, last, depth = trees.ints[field.FIRST], trees.ints[field.LAST], trees.ints[field.DEPTH]
    shown, own = trees.at + nodes[inside], trees.at + base[inside]
    if ((first[shown] > first[own]) | (last[shown] < last[own]) | (depth[shown] > depth[own])).any():
        raise InvalidStart("a row shows what does not cover it.")
    for c, k in enumerate(constraints.k.tolist()):
        over = constraints.attribute[constraints.start[c] : constraints.start[c + 1]]
        group, number = group_rows(np.ascontiguousarray(nodes[inside][:, over].T))
        if len(number) and np.bincount(group).min() < k:
            raise InvalidStart("a class has too few rows.")


def new_overlap_state(
    base: Ints, limit: Ints, nodes: Ints, out: Ints, trees: NodeColumns, constraints: Constraints, seed: int
) -> ShownRows:
    """Return rows with what they show, in their classes; arrays are row × attribute. Raises InvalidStart."""
    from kveil.kernels.least_loss.shown_loops import fill_classes

    check_start(base, nodes, out, trees, constraints)
    rows = len(base)
    sets = len(constraints.k)
    room = room_for(rows, constraints.k)
    widest = int(np.diff(constraints.start).max(initial=1))
    state = ShownRows(
        base, limit, nodes.copy(), out.copy(), np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64),
        np.full((sets, 3, rows), -1, dtype=np.int32), np.zeros((sets, field.CLASS_FIELDS, room), dtype=np.int32),
        np.zeros((sets, room, widest), dtype=np.int32), np.zeros((sets, room), dtype=np.uint64),
        np.full((sets, slots_for(room)), -1, dtype=np.int32), np.full(sets, room, dtype=np.int64),
        np.zeros(field.COUNTS, dtype=np.int64), np.array([seed], dtype=np.uint64),
    )  # fmt: skip
    state.classes[:, field.FREE] = np.arange(room - 1, -1, -1)
    fill_classes(state, trees, constraints)
    return state


def holds_everywhere(state: ShownRows, constraints: Constraints, models: Models) -> bool:
    """Tell whether every class of every constraint satisfies it. O(rows · constraints)."""
    from kveil.kernels.least_loss.shown_loops import every_class_holds

    return bool(every_class_holds(state, constraints, models))


def climbs_of(base: Ints, limit: Ints, trees: NodeColumns) -> Climbs:
    """Return what rows show at every depth, from the root down to the deepest node that any of them is.

    O(rows · attributes), and O(depths) for each different pair of a lowest and a highest node.
    """
    depth, parent = trees.ints[field.DEPTH], trees.ints[field.PARENT]
    at = np.zeros(base.shape, dtype=np.int32)
    nodes: list[Ints] = []
    cost: list[Longs] = []
    begin = 0
    for a, first in enumerate(trees.at.tolist()):
        pair, kind = np.unique(base[:, a].astype(np.int64) << 32 | limit[:, a], return_inverse=True)
        node, end = first + (pair >> 32), first + (pair & 0xFFFFFFFF)
        way = np.zeros((len(pair), int(depth[node].max(initial=0)) + 1), dtype=np.int64)
        for level in range(way.shape[1] - 1, -1, -1):
            rises = (depth[node] > level) & (depth[node] > depth[end])
            node = np.where(rises, first + parent[node], node)
            way[:, level] = node
        at[:, a] = begin + kind * way.shape[1]
        begin += way.size
        nodes.append((way - first).reshape(-1))
        cost.append(trees.cost[way].reshape(-1))
    return Climbs(at, np.concatenate(nodes).astype(np.int32), np.concatenate(cost))


@dataclass(frozen=True)
class OverlapLayouts:
    """What moves of rows are handed: what rows show, in which trees, under which constraints and models, and room."""

    state: ShownRows
    trees: NodeColumns
    constraints: Constraints
    models: Models
    work: TryRoom


def offer(laid: OverlapLayouts, climbs: Climbs, proposals: Ints, among: Ints, *, hides: bool) -> int:
    """Offer vectors of depths one after another to the rows each makes cheaper; return how many took one.

    ``climbs`` are those of the state's rows; no depth lies below theirs, -1 leaves an attribute as it is. With
    ``hides`` no row may show `*` in every attribute. O(rows · constraints) per proposal and pass of trimming.
    """
    from kveil.kernels.least_loss.descent_loops import propose_each

    state, trees = laid.state, laid.trees
    return int(propose_each(state, trees, climbs, laid.constraints, laid.models, laid.work, proposals, among, hides))


def try_moves(laid: OverlapLayouts, tries: int, *, hides: bool) -> int:
    """Try so many times to move a row that costs something, and repair what that breaks; return how much was gained.

    What is not dearer and holds is kept. A try looks at a bounded number of rows.
    """
    from kveil.kernels.least_loss.repair_loops import search_shown

    return int(search_shown(laid.state, laid.trees, laid.constraints, laid.models, laid.work, tries, hides))


def try_no_moves() -> None:
    """Search in one row, which compiles the loops for the types they are called with."""
    one = np.zeros((1, 1), dtype=np.int32)
    zero = np.zeros(1, dtype=np.int64)
    trees = NodeColumns(zero, np.zeros((5, 1), dtype=np.int32), zero, 1, one[0], zero - 1)
    ends = np.array([0, 1], dtype=np.int64)
    constraints = Constraints(ends, one[0], ends[1:], np.zeros(2, dtype=np.int64), np.zeros((1, 1, 2), dtype=np.int32))
    state = new_overlap_state(one, one, one, one[0], trees, constraints, 0)
    laid = OverlapLayouts(state, trees, constraints, no_models(), new_work(1, constraints))
    holds_everywhere(state, constraints, laid.models)
    offer(laid, climbs_of(one, one, trees), one, one[0], hides=False)
    try_moves(laid, 1, hides=False)


def room_for(rows: int, k: Longs) -> int:
    """Return how many classes a constraint may have at a time: those that hold, and those that a try makes."""
    return rows // max(int(k.min(initial=rows)), 1) + 4 * field.MOST_STEPS


def new_work(width: int, constraints: Constraints) -> TryRoom:
    """Return room for tries over so many rows."""
    rows, sets = constraints.order.shape[1], len(constraints.k)
    room = room_for(rows, constraints.k)
    places = np.argsort(constraints.order[:, :, field.ROW], axis=1).astype(np.int32)
    return TryRoom(
        np.zeros((5, width), dtype=np.int32), np.zeros((2, field.MOST_STEPS), dtype=np.int32),
        np.zeros((field.MOST_STEPS, width), dtype=np.int32), np.zeros((2, sets * room), dtype=np.int32),
        np.zeros((2, sets * room), dtype=np.int32), np.zeros((3, rows), dtype=np.int32),
        np.zeros((2, rows), dtype=np.int64), np.zeros((sets, rows), dtype=np.int32),
        np.zeros((sets, room), dtype=np.int64), np.zeros_like(constraints.order),
        np.zeros((sets, 1 << int(2 * rows - 1).bit_length()), dtype=np.int32), places,
    )  # fmt: skip
