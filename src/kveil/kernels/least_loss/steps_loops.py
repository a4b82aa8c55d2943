"""The compiled loops that move a row in a try, and say what that would strain; behind tries of `overlaps`."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints
from kveil.kernels.jit import inner
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.kernels.least_loss.overlaps_layout import Constraints, NodeColumns, ShownRows, TryRoom
from kveil.kernels.least_loss.shown_loops import class_of, place


@inner
def step(state: ShownRows, trees: NodeColumns, constraints: Constraints, work: TryRoom, row: int, vector: Ints) -> bool:
    """Let a row show a vector, and write that down; False where the journal is full."""
    at = state.counts[field.JOURNAL]
    if at >= field.MOST_STEPS:
        return False
    work.journal[field.MOVED, at] = row
    work.journal[field.WAS_OUT, at] = state.out[row]
    for a in range(len(vector)):
        work.before[at, a] = state.nodes[row, a]
    state.counts[field.JOURNAL] += 1
    place(state, trees, constraints, work, row, vector)
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
