"""Rows that show nodes under overlapping constraints, laid out as the loops of the search read them."""

from __future__ import annotations

import numpy as np

from kveil.kernels.least_loss import overlaps
from kveil.kernels.models.layout import DISTINCT, Models, Needs, SensitiveCodes, no_models
from naive.shown_rows import ShownCase


def laid_out(case: ShownCase) -> tuple[overlaps.NodeColumns, overlaps.Constraints, Models]:
    """Return a case's trees, constraints and models as the loops read them."""
    sizes = [tree.nodes for tree in case.trees]
    at = np.cumsum([0, *sizes])[:-1].astype(np.int64)
    columns = [
        [tree.first, tree.last, tree.parent, tree.depth, [int(node == 0) for node in range(tree.nodes)]]
        for tree in case.trees
    ]
    ints = np.concatenate([np.array(own, dtype=np.int32) for own in columns], axis=1)
    trees = overlaps.NodeColumns(at, ints, np.concatenate(case.costs).astype(np.int64), case.whole)
    widest = max(len(over) for over, _, _ in case.constraints)
    order = np.zeros((len(case.constraints), len(case.base), 1 + widest), dtype=np.int32)
    for c, (over, _, _) in enumerate(case.constraints):
        leaves = [[case.trees[a].first[row[a]] for a in over] for row in case.base]
        for place, row in enumerate(sorted(range(len(leaves)), key=lambda i: (leaves[i], i))):
            order[c, place, : 1 + len(over)] = [row, *leaves[row]]
    counted = [least for _, _, least in case.constraints if least]
    constraints = overlaps.Constraints(
        np.cumsum([0, *(len(over) for over, _, _ in case.constraints)]).astype(np.int64),
        np.array([a for over, _, _ in case.constraints for a in over], dtype=np.int32),
        np.array([k for _, k, _ in case.constraints], dtype=np.int64),
        np.cumsum([0, *(int(least > 0) for _, _, least in case.constraints)]).astype(np.int64),
        order,
    )
    if not counted:
        return trees, constraints, no_models()
    known = max(case.values) + 1
    ones, rows = np.ones(len(counted), dtype=np.int64), len(case.base)
    needs = Needs(
        np.full(len(counted), DISTINCT, dtype=np.int32), np.zeros(len(counted), dtype=np.int32), ones,
        np.array(counted, dtype=np.int64), ones, np.zeros(len(counted)),
    )  # fmt: skip
    values = SensitiveCodes(
        np.arange(rows + 1, dtype=np.int64)[None, :], np.array(case.values, dtype=np.int32),
        np.ones(rows, dtype=np.int64), np.array([known], dtype=np.int32), np.zeros((1, known + 1)),
        np.full((1, known + 1, 1), -1, dtype=np.int32), np.zeros((1, 1)), np.zeros((1, 1)),
    )  # fmt: skip
    room = np.zeros((1, known + 1), dtype=np.int64)
    zero = np.zeros(1, dtype=np.int32)
    return (
        trees,
        constraints,
        Models(needs, values, room, room.astype(np.int32), zero, np.zeros(2), np.zeros(2, np.int32)),
    )


def state_of(
    case: ShownCase, trees: overlaps.NodeColumns, constraints: overlaps.Constraints, seed: int
) -> overlaps.ShownRows:
    nodes = [own if shown is None else shown for shown, own in zip(case.shown, case.limit, strict=True)]
    out = np.array([shown is None for shown in case.shown], dtype=np.int32)
    base, limit, shown = (np.array(own, dtype=np.int32) for own in (case.base, case.limit, nodes))
    return overlaps.new_overlap_state(base, limit, shown, out, trees, constraints, seed)
