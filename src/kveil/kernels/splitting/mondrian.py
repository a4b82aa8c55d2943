"""Top-down partitioning of tuples. Numba is imported when the first table is split, not before."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.models.layout import Needs, SensitiveCodes, new_models
from kveil.kernels.splitting.layout import SplitParts, SplitTuples, Trees, new_split_room


def split(
    low: Ints,
    high: Ints,
    weight: Longs,
    trees: Trees,
    needs: Needs,
    values: SensitiveCodes,
    order: Ints,
    starts: Longs,
    by_gain: bool,
) -> SplitParts:
    """Return the parts of tuples, given by attribute × tuple spans of leaves and how many rows have each.

    ``order`` and ``starts`` give the parts to begin with, each of which satisfies all needs. O(tuples ·
    attributes) a level of the recursion.
    """
    from kveil.kernels.splitting.mondrian_loops import spans_of, split_parts

    far = _by_tuple(low, high, weight)
    near = SplitTuples(np.empty_like(far.low), far.high, np.empty_like(weight), np.empty_like(far.tuple))
    near = near._replace(high=near.low if low is high else np.empty_like(far.high))
    order, room = order.copy(), new_split_room(len(low), len(order), len(starts), trees)
    models = new_models(needs, values)
    number = split_parts(far, near, low is not high, trees, models, order, starts, by_gain, room)
    ends = room.final[: number + 1].copy()
    spans = np.empty((2, len(low), len(ends) - 1), dtype=np.int32)
    spans_of(far, order, ends, spans[0], spans[1])
    return SplitParts(order, ends, spans[0], spans[1])


def _by_tuple(low: Ints, high: Ints, weight: Longs) -> SplitTuples:
    """Lay the cells of a tuple side by side: a part is scattered over the table, so every tuple is a cache miss."""
    cells = np.ascontiguousarray(low.T)
    return SplitTuples(
        cells,
        cells if low is high else np.ascontiguousarray(high.T),
        weight,
        np.arange(len(weight), dtype=np.int32),
    )


def split_nothing() -> None:
    """Split an empty table, which compiles the loops for the types they are called with."""
    none, far, real = np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64), np.zeros(0)
    flat = np.zeros((1, 1))
    split(
        np.zeros((1, 0), dtype=np.int32),
        np.zeros((1, 0), dtype=np.int32),
        far[:0],
        Trees(np.zeros(1, dtype=np.bool_), far, far, none, none, none, none, far, none, real, real, real, real, none),
        Needs(none, none, far[:0], far[:0], far[:0], real),
        SensitiveCodes(
            np.zeros((1, 1), dtype=np.int64), none, far[:0], none, flat, np.zeros((1, 1, 1), dtype=np.int32), flat, flat
        ),
        none,
        far,
        False,
    )
