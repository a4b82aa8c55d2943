"""Top-down partitioning of tuples. Numba is imported when the first table is split, not before."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, repeat

import numpy as np

from kveil.arrays import Floats, Ints, Longs
from kveil.kernels.models.layout import Needs, SensitiveCodes, new_models
from kveil.kernels.splitting.layout import (
    MOST_CLOSE,
    MOST_NEAR,
    SplitParts,
    SplitTuples,
    Trees,
    new_copies,
    new_order_room,
    new_split_room,
)
from kveil.kernels.threads import each_in_threads, threads
from kveil.stopping import Stop, halting

MANY = 1 << 16  # tuples from which on several threads split them


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
    few: int = 0,
) -> SplitParts:
    """Return the parts of tuples, given by attribute × tuple spans of leaves and how many rows have each.

    ``order`` and ``starts`` give the parts to begin with, each of which satisfies all needs. Parts of at most ``few``
    rows are not split further. O(tuples · attributes) per level of the recursion. Parts do not know of each other: once
    there are enough of them, several threads split them, and come to what one comes to.
    """
    from kveil.kernels.splitting.mondrian_loops import split_parts

    far = _by_tuple(low, high, weight)
    spans = low is not high
    order, shared = order.copy(), new_order_room(len(order))

    def split_run(stop: Stop, run: Longs, small: int) -> SplitParts:
        """Split parts that lie side by side, down to small ones, whose spans are not told."""
        room = new_split_room(len(low), run, trees, shared, stop.flag)
        models = new_models(needs, values)
        near, close = (new_copies(min(most, len(order)), len(low), spans=spans) for most in (MOST_NEAR, MOST_CLOSE))
        number = split_parts(far, near, close, spans, trees, models, order, run, by_gain, small, few, room)
        stop.check_cancelled()
        shown = (np.ascontiguousarray(own[:number].T) for own in (room.final_low, room.final_high))
        return SplitParts(order, room.final[: number + 1].copy(), *shown)

    several = threads() if len(order) >= MANY else 1
    with halting() as stop:
        if several == 1:
            return split_run(stop, starts, 0)
        ends = split_run(stop, starts, len(order) // (2 * several)).ends
        share = len(order) // (8 * several)
        with ThreadPoolExecutor(several) as pool:
            for small in (share, 0):  # into smaller shares first, so that no thread waits long for another one
                made = list(pool.map(split_run, repeat(stop), _runs(ends, share), repeat(small)))
                ends = np.concatenate([*(own.ends[:-1] for own in made), ends[-1:]])
    return SplitParts(order, ends, np.hstack([own.low for own in made]), np.hstack([own.high for own in made]))


def measure_spans(trees: Trees, attribute: Ints, low: Ints, high: Ints, top: Ints) -> tuple[Floats, Floats]:
    """Return how wide spans of leaves are, as `split` compares attributes, and what a cell of each loses.

    ``attribute`` is the one that a span is of, ``top`` its largest leaf that is not missing.
    """
    from kveil.kernels.splitting import mondrian_loops

    width, cost = np.empty((2, len(low)))
    mondrian_loops.measure_spans(trees, attribute, low, high, top, width, cost)
    return width, cost


def _runs(starts: Longs, size: int) -> list[Longs]:
    """Return parts in runs of so many tuples or more, but for the last: each as where its parts start, and the end."""
    runs, begin = [], 0
    for at in range(1, len(starts)):
        if starts[at] - starts[begin] >= size or at == len(starts) - 1:
            runs.append(starts[begin : at + 1].copy())
            begin = at
    return runs


def _by_tuple(low: Ints, high: Ints, weight: Longs) -> SplitTuples:
    """Lay the cells of a tuple side by side: a part is scattered over the table, so every tuple is a cache miss."""
    cells = _turned(low)
    return SplitTuples(
        cells,
        cells if low is high else _turned(high),
        weight,
        np.arange(len(weight), dtype=np.int32),
    )


def _turned(columns: Ints) -> Ints:
    """Return columns with the cells of a row side by side."""
    rows = columns.shape[1]
    turned = np.empty((rows, len(columns)), dtype=np.int32)
    ends = np.linspace(0, rows, threads() + 1, dtype=np.int64).tolist()

    def turn(part: slice) -> None:
        turned[part] = columns[:, part].T

    each_in_threads(turn, [slice(begin, end) for begin, end in pairwise(ends)], rows)
    return turned


def split_nothing() -> None:
    """Split an empty table, which compiles the loops for the types they are called with."""
    none, far, real = np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64), np.zeros(0)
    flat = np.zeros((1, 1))
    trees = Trees(
        np.zeros(1, dtype=np.bool_), far, far, none, none, none, none, far, none, real, real, real, real, none
    )
    measure_spans(trees, none, none, none, none)
    split(
        np.zeros((1, 0), dtype=np.int32),
        np.zeros((1, 0), dtype=np.int32),
        far[:0],
        trees,
        Needs(none, none, far[:0], far[:0], far[:0], real),
        SensitiveCodes(
            np.zeros((1, 1), dtype=np.int64), none, far[:0], none, flat, np.zeros((1, 1, 1), dtype=np.int32), flat, flat
        ),
        none,
        far,
        False,
    )
