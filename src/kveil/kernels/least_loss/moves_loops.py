"""The compiled loops that move, swap, dissolve and merge inside a pool; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.kernels.jit import inner
from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss.groups_layout import Codes, GroupedRows, PoolRoom
from kveil.kernels.least_loss.join_loops import copy_row, cover_cost, cover_vector, vector_cost
from kveil.kernels.least_loss.rebuild_loops import group_allowed
from kveil.kernels.models.layout import Models


@inner
def refresh(state: GroupedRows, codes: Codes, work: PoolRoom, rows: int, group: int) -> None:
    """Reckon again what a group shows, and what it would show without each of its pool rows.

    Of equal rows only the first is looked at when rows are swapped: the others would gain the same.
    """
    ints, longs = work.ints, work.longs
    number = 0
    for at in range(rows):
        if ints[field.OF, at] == group:
            ints[field.MEMBERS, number] = at
            number += 1
    for i in range(number - 1, -1, -1):  # what covers the members from i on
        copy_row(work.run, i, state.base, ints[field.POOL, ints[field.MEMBERS, i]])
        if i < number - 1:
            cover_vector(codes, work.run, i, work.run, i + 1)
    has = ints[field.CORE, group] >= 0
    if has:
        copy_row(work.code, group, state.code, ints[field.CORE, group])
        longs[field.COSTS, group] = state.cost[ints[field.CORE, group]]
    for i in range(number):
        at = ints[field.MEMBERS, i]
        row = ints[field.POOL, at]
        ints[field.ALONE, at] = not has and number == 1
        if has:
            copy_row(work.without, at, work.code, group)
            longs[field.LESS, at] = longs[field.COSTS, group]
            if i < number - 1:
                longs[field.LESS, at] = cover_vector(codes, work.without, at, work.run, i + 1)
            longs[field.COSTS, group] = cover_vector(codes, work.code, group, state.base, row)
        else:
            copy_row(work.without, at, work.run, min(i + 1, number - 1))
            longs[field.LESS, at] = vector_cost(codes, work.without, at)
            copy_row(work.code, group, state.base, row)
            longs[field.COSTS, group] = vector_cost(codes, work.code, group)
        has = True
    cost, size = longs[field.COSTS, group], longs[field.HAS, group]
    last = np.int64(-1)
    for i in range(number):
        at = ints[field.MEMBERS, i]
        same = np.int64(state.rows[field.SAME, ints[field.POOL, at]])
        longs[field.CHANGE, at] = (longs[field.LESS, at] - cost) * size
        if ints[field.ALONE, at] or same == last:
            longs[field.CHANGE, at] = field.SWAPS_NOTHING
        last = same


@inner
def improve(
    state: GroupedRows, codes: Codes, work: PoolRoom, k: int, rows: int, groups: int, at: int
) -> tuple[int, int]:
    """Find the best move of a pool row to another group, or swap with a row of one.

    Returns the group and the row to swap with (-1 for a move), or group -1 where nothing is gained.
    """
    ints, longs, without, base = work.ints, work.longs, work.without, state.base
    i, row = ints[field.OF, at], ints[field.POOL, at]
    size, cost, less = longs[field.HAS, i], longs[field.COSTS, i], longs[field.LESS, at]
    best = np.int64(0)
    to, partner = -1, -1
    if size > k:
        out = less * (size - 1) - cost * size
        for j in range(groups):
            if j != i and longs[field.HAS, j] > 0 and out < best:
                spent = longs[field.COSTS, j] * longs[field.HAS, j]
                most = best - out + spent
                grown = cover_cost(codes, work.code, j, base, row, longs[field.HAS, j] + 1, most)
                if grown < most:
                    best, to = out + grown - spent, j
    gain = (less - cost) * size
    for other in range(rows):
        if longs[field.CHANGE, other] >= best - gain:
            continue
        j = ints[field.OF, other]
        if j == i:
            continue
        theirs = longs[field.HAS, j]
        old = cost * size + longs[field.COSTS, j] * theirs
        most = best + old - longs[field.LESS, other] * theirs
        mine = cover_cost(codes, without, at, base, ints[field.POOL, other], size, most)
        if mine >= most:
            continue
        most = best + old - mine
        new = cover_cost(codes, without, other, base, row, theirs, most)
        if new < most:
            best, to, partner = mine + new - old, j, other
    return to, partner


@inner
def move_rows(state: GroupedRows, codes: Codes, models: Models, work: PoolRoom, k: int, rows: int, groups: int) -> bool:
    """Move and swap every row of the pool once where that lowers the cost; tell whether anything did."""
    ints, longs = work.ints, work.longs
    moved = False
    stuck, stuck_in = np.int64(-1), np.int64(-1)  # rows equal to the last one, in its group, gain no more than it
    for g in range(groups):
        refresh(state, codes, work, rows, g)
    for at in range(rows):
        i = ints[field.OF, at]
        same = np.int64(state.rows[field.SAME, ints[field.POOL, at]])
        if ints[field.ALONE, at] or longs[field.COSTS, i] == 0 or (same == stuck and i == stuck_in):
            continue
        to, partner = improve(state, codes, work, k, rows, groups, at)
        stuck, stuck_in = (same, np.int64(i)) if to < 0 else (np.int64(-1), np.int64(-1))
        if to < 0:
            continue
        if not (
            group_allowed(models, work, k, field.OF, rows, i, at, partner)
            and group_allowed(models, work, k, field.OF, rows, to, partner, at)
        ):
            continue
        ints[field.OF, at] = to
        if partner >= 0:
            ints[field.OF, partner] = i
        else:
            longs[field.HAS, i] -= 1
            longs[field.HAS, to] += 1
        refresh(state, codes, work, rows, i)
        refresh(state, codes, work, rows, to)
        moved = True
    return moved


@inner
def dissolve(
    state: GroupedRows, codes: Codes, models: Models, work: PoolRoom, k: int, rows: int, groups: int, group: int
) -> bool:
    """Give the rows of a group to the others one by one if that costs less in the end."""
    ints, longs = work.ints, work.longs
    before = longs[field.HAS, group] * longs[field.COSTS, group]
    if ints[field.CORE, group] >= 0 or before == 0:
        return False
    for g in range(groups):
        longs[field.TRY_HAS, g], longs[field.TRY_COSTS, g] = longs[field.HAS, g], longs[field.COSTS, g]
        copy_row(work.trial, g, work.code, g)
    grown = np.int64(0)
    for at in range(rows):
        ints[field.OTHER, at] = ints[field.OF, at]
        if ints[field.OF, at] != group:
            continue
        row = ints[field.POOL, at]
        best = -1
        least = before - grown
        for g in range(groups):
            size = longs[field.TRY_HAS, g]
            if g != group and size > 0:
                spent = longs[field.TRY_COSTS, g] * size
                more = cover_cost(codes, work.trial, g, state.base, row, size + 1, least + spent)
                if more < least + spent:
                    best, least = g, more - spent
        if best < 0:
            return False
        longs[field.TRY_COSTS, best] = cover_vector(codes, work.trial, best, state.base, row)
        longs[field.TRY_HAS, best] += 1
        ints[field.OTHER, at] = best
        grown += least
    for g in range(groups):
        changed = g != group and longs[field.TRY_HAS, g] != longs[field.HAS, g]
        if changed and not group_allowed(models, work, k, field.OTHER, rows, g, -1, -1):
            return False
    for at in range(rows):
        ints[field.OF, at] = ints[field.OTHER, at]
    for g in range(groups):
        longs[field.HAS, g], longs[field.COSTS, g] = longs[field.TRY_HAS, g], longs[field.TRY_COSTS, g]
        copy_row(work.code, g, work.trial, g)
    longs[field.HAS, group] = 0
    longs[field.COSTS, group] = 0
    return True


@inner
def merge_equal(work: PoolRoom, rows: int, groups: int) -> None:
    """Merge groups that show the same, which is free; a core is merged into, never away."""
    ints, longs = work.ints, work.longs
    for g in range(groups):
        if longs[field.HAS, g] == 0 or ints[field.CORE, g] >= 0:
            continue
        for h in range(groups):
            if h == g or longs[field.HAS, h] == 0 or (h > g and ints[field.CORE, h] < 0):
                continue
            same = longs[field.COSTS, g] == longs[field.COSTS, h]
            for a in range(work.code.shape[1]):
                same &= work.code[g, a] == work.code[h, a]
            if same:
                for at in range(rows):
                    if ints[field.OF, at] == g:
                        ints[field.OF, at] = h
                longs[field.HAS, h] += longs[field.HAS, g]
                longs[field.HAS, g] = 0
                longs[field.COSTS, g] = 0
                break


@inner
def polish(state: GroupedRows, codes: Codes, models: Models, work: PoolRoom, k: int, rows: int, groups: int) -> None:
    """Move, swap, dissolve and merge, a few passes, while anything is gained."""
    for _ in range(field.PASSES):
        merge_equal(work, rows, groups)
        moved = move_rows(state, codes, models, work, k, rows, groups)
        for g in range(groups):
            if work.longs[field.HAS, g] > 0 and dissolve(state, codes, models, work, k, rows, groups, g):
                moved = True
        if not moved:
            break
    merge_equal(work, rows, groups)
