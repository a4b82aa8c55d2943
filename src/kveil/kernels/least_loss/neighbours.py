"""Groups of rows, taken apart and put together again at a lower loss. Numba is imported with the first search."""

from __future__ import annotations

from functools import cache

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss.groups_layout import ChildTable, Codes, GroupedRows, PoolRoom, TopDownRoom
from kveil.kernels.models.layout import Models, no_models
from kveil.stopping import current


@cache
def noise_table() -> Longs:
    """Return what chance takes from a table, in 1024ths: factors exp(spread · z), and slacks, whose mean is 1.

    They stand at the middles of equal parts of distributions: z of the normal one, slacks of the exponential one.
    """
    from math import exp, log
    from statistics import NormalDist

    normal, number = NormalDist(), field.NOISE_FACTORS
    factors = [exp(field.NOISE_SPREAD * normal.inv_cdf((i + 0.5) / number)) for i in range(number)]
    slacks = [-log((i + 0.5) / number) for i in range(number)]
    whole = [[round(value * (1 << field.NOISE_BITS)) for value in own] for own in (factors, slacks)]
    return np.array(whole, dtype=np.int64)


def new_state(base: Ints, zone: Ints, part: Ints, codes: Codes, seed: int) -> tuple[GroupedRows, int]:
    """Return rows in the groups of their parts, and what these cost together; equal rows must stand together."""
    from kveil.kernels.least_loss.neighbours_loops import fill_groups

    rows, width = base.shape
    differs = (base[1:] != base[:-1]).any(axis=1)
    about = np.full((5, rows), -1, dtype=np.int32)
    about[field.SAME] = np.concatenate([[0], np.cumsum(differs)])[:rows]
    about[field.ZONE] = zone
    groups = np.zeros((5, rows), dtype=np.int32)
    groups[field.FREE] = np.arange(rows - 1, -1, -1)
    state = GroupedRows(
        base, about, groups, np.zeros((rows, width), dtype=base.dtype), np.zeros(rows, dtype=np.int64),
        np.zeros(field.COUNTS, dtype=np.int64), np.array([seed], dtype=np.uint64),
    )  # fmt: skip
    state.counts[field.UNUSED] = rows
    return state, int(fill_groups(state, codes, part.astype(np.int32), int(part.max(initial=-1)) + 1))


def pool_room(state: GroupedRows, rows: int) -> PoolRoom:
    """Return room for pools of so many rows; its memory is linear in them."""
    width = state.base.shape[1]
    wide = np.zeros((rows + field.MOST_GROUPS, width), dtype=state.base.dtype)
    spots = rows + max(field.NEAR_GROUPS, width + 2)
    narrow = np.zeros((rows, width + 1), dtype=np.int32)
    stored = min(rows, field.MOST_STORED)
    return PoolRoom(
        np.zeros((field.POOL_INTS, spots), dtype=np.int32), np.zeros((field.POOL_LONGS, spots), dtype=np.int64),
        np.zeros(rows), np.zeros(rows), np.zeros(stored * stored),
        wide.copy(), wide.copy(), wide.copy(), wide.copy(), narrow, wide,
    )  # fmt: skip


def search(
    state: GroupedRows, codes: Codes, models: Models | None, room: PoolRoom, k: int, tries: int, *, hides: bool,
    most_groups: int = field.MOST_GROUPS,
) -> int:  # fmt: skip
    """Take neighbourhoods apart ``tries`` times, as many rows as there is room for; keep what is not worse.

    With some heat in the state's counts, what is a little worse is kept, too, while all of it together costs no more
    than may be spared. Returns how much the total cost fell. Every group has k rows or more and satisfies the models;
    with ``hides`` none shows `*` in every attribute. A try costs O(groups · attributes + rows of the pool squared ·
    attributes).
    """
    from kveil.kernels.least_loss.neighbours_loops import search_groups

    asked = no_models() if models is None else models
    near = np.zeros((2, field.NEAR_GROUPS), dtype=np.int32)
    return int(search_groups(state, codes, asked, room, noise_table(), k, hides, tries, most_groups, near))


def top_down(base: Ints, starts: Longs, codes: Codes, children: ChildTable, k: int) -> Ints:
    """Return every row's part: zones, which start at ``starts``, are split where the loss falls most.

    A part is split into the children of what it shows in one attribute; see `start_loops`. Trees only.
    """
    from kveil.kernels.least_loss.start_loops import split_down

    rows, most = len(base), int(np.diff(children.start).max(initial=1))
    stop = current()
    room = TopDownRoom(
        np.arange(rows, dtype=np.int32),
        np.empty((3, rows), dtype=np.int32),
        np.empty((4, most + 1), dtype=np.int64),
        np.empty((rows + len(starts) + 1, 2), dtype=np.int64),
        stop.flag,
    )
    part = np.empty(rows, dtype=np.int32)
    split_down(base, starts, codes, children, k, room, part)
    stop.check_cancelled()
    return part


def place_rows(base: Ints, zone: Ints, group_zone: Ints, code: Ints, longs: Longs, most: int, codes: Codes) -> Ints:
    """Return for every row the group of its zone whose cost grows least by it, -1 where that is ``most`` or more.

    Groups grow as rows come in, one after another. ``code`` and ``longs`` (sizes, costs) are updated.
    """
    from kveil.kernels.least_loss.neighbours_loops import place_each

    joined = np.full(len(base), -1, dtype=np.int32)
    place_each(base, zone, group_zone, code, longs, most, codes, joined)
    return joined


def search_nothing() -> None:
    """Search in one row, which compiles the loops for the types they are called with."""
    about = np.zeros((1, field.ABOUT), dtype=np.int64)
    about[0, [field.WIDTH, field.WIDEST, field.MISSING, field.STAR]] = 1, -1, -1, -1
    none, far = np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64)
    codes = Codes(about, np.zeros(1, dtype=np.int32), np.zeros(2, dtype=np.int64), np.zeros(1))
    base, zone = np.zeros((1, 1), dtype=np.int32), np.zeros(1, dtype=np.int32)
    state, _ = new_state(base, zone, zone, codes, 0)
    search(state, codes, None, pool_room(state, 8), 1, 1, hides=False)
    place_rows(base, zone, zone, base.copy(), np.ones((2, 1), dtype=np.int64), 1, codes)
    children = ChildTable(far, np.zeros(2, dtype=np.int64), none, zone, zone)
    top_down(base, np.array([0, 1]), codes, children, 1)
