"""Top-down generalization of sets of items. Numba is imported when the first sets are refined, not before."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.grouping.hash_slots import slots_for
from kveil.kernels.items.layout import Forest, LaidSets, make_room, new_board, new_dividing_room
from kveil.kernels.threads import threads
from kveil.stopping import Stop, halting

MANY = 16_384  # records that are worth a second thread
SHARES = 16  # into which they are then dealt out, at least


def generalize_sets(forest: Forest, sets: LaidSets, order: Ints, k: int, patient: bool = False) -> Ints:
    """Return the node that every item is shown as, so that every shown set is shared by k records.

    ``order`` are the records that take part, in canonical order, all with items under the same roots. The items of
    others stay at their roots, and so do all where there are fewer than k records. ``patient``: no child is taken out
    of a node while any node can be opened, even where that gains more. See `algorithms.people.item_sets` for the rules.
    Parts do not know of each other, so that threads change nothing but the time.
    """
    from kveil.kernels.items.partition_loops import refine_parts

    # Laid out in that order, the items of a part stand near each other.
    items = _items_of(sets.start, order)
    laid = LaidSets(np.concatenate([[0], np.cumsum(np.diff(sets.start)[order])]), sets.leaf[items])
    longest = int(np.diff(laid.start).max(initial=1))
    place, records = forest.way_start[laid.leaf], np.arange(len(order), dtype=np.int32)

    def work(stop: Stop, parts: Longs, small: int = 0) -> Longs:
        sizes = parts[:, 1] - parts[:, 0]
        most, everyone = int(sizes.max(initial=0)), int(sizes.sum())
        dividing = new_dividing_room(most, everyone // max(k, 1) + len(parts) + 1, stop.flag)
        dividing.stack[: len(parts)] = parts
        room, board = make_room(most, longest, len(forest.cost)), new_board(2 * longest + 2)
        asked = (len(parts), k, patient, small)
        left = refine_parts(forest, laid, records, place, *asked, room, board, dividing)
        stop.check_cancelled()
        return dividing.later[:left].copy()

    whole = np.array([[0, len(order)]], dtype=np.int64)
    if len(order) < max(k, 1):
        whole = whole[:0]
    with halting() as stop:
        if threads() == 1 or len(order) < MANY:
            work(stop, whole)
        else:
            parts = work(stop, whole, len(order) // 4)
            with ThreadPoolExecutor(threads()) as pool:
                list(pool.map(lambda share: work(stop, share), _shares(parts)))
    shown = forest.way[forest.way_start[sets.leaf]]
    shown[items] = forest.way[place]
    return np.asarray(shown)


def _items_of(start: Longs, records: Ints) -> Longs:
    """Return the places of some records' items, record after record."""
    length = np.diff(start)[records]
    end = np.cumsum(length)
    return np.asarray(np.repeat(start[records] - end + length, length) + np.arange(end[-1] if len(end) else 0))


def _shares(parts: Longs) -> list[Longs]:
    """Deal out parts, largest first, into shares of about a sixteenth of the records; a large part is one alone."""
    sizes = parts[:, 1] - parts[:, 0]
    parts = parts[np.argsort(-sizes, kind="stable")]
    sizes = np.cumsum(parts[:, 1] - parts[:, 0])
    share = (sizes - 1) * SHARES // max(int(sizes[-1]) if len(sizes) else 0, 1)
    return np.split(parts, np.flatnonzero(np.diff(share)) + 1)


def group_sets(start: Longs, values: Ints) -> tuple[Ints, Ints]:
    """Return every run's group and every group's first run; runs of equal values form a group. O(values)."""
    from kveil.kernels.items.equal_sets_loops import group_runs

    runs = len(start) - 1
    slots, hashes = np.empty(slots_for(runs), dtype=np.int32), np.empty(runs, dtype=np.uint64)
    member, first = (np.empty(runs, dtype=np.int32) for _ in range(2))
    groups = group_runs(start, np.ascontiguousarray(values, dtype=np.int32), slots, hashes, member, first)
    return member, first[:groups].copy()


def refine_nothing() -> None:
    """Refine no sets, which compiles the loops for the types they are called with."""
    none, far = np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64)
    generalize_sets(Forest(none, none, far[:0], far, none, none, none), LaidSets(far, none), none, 1)
    group_sets(far, none)
