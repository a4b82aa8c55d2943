"""The compiled loops that move, swap, dissolve and merge inside a pool; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.kernels.least_loss.join_loops import copy_row, cover_cost, inner, take_in, vector_cost
from kveil.kernels.least_loss.neighbourhood_loops import (
    ALONE,
    CORE,
    COSTS,
    HAS,
    LESS,
    MEMBERS,
    OF,
    OTHER,
    PASSES,
    POOL,
    TRY_COSTS,
    TRY_HAS,
    Work,
    group_allowed,
)
from kveil.kernels.least_loss.neighbours import Codes, Models, State


@inner
def refresh(state: State, codes: Codes, work: Work, rows: int, group: int) -> None:
    """Reckon again what a group shows, and what it would show without each of its pool rows."""
    ints, longs = work.ints, work.longs
    number = 0
    for at in range(rows):
        if ints[OF, at] == group:
            ints[MEMBERS, number] = at
            number += 1
    for i in range(number - 1, -1, -1):  # what covers the members from i on
        copy_row(work.run, i, state.base, ints[POOL, ints[MEMBERS, i]])
        if i < number - 1:
            take_in(codes, work.run, i, work.run, i + 1)
    has = ints[CORE, group] >= 0
    if has:
        copy_row(work.code, group, state.code, ints[CORE, group])
        longs[COSTS, group] = state.cost[ints[CORE, group]]
    for i in range(number):
        at = ints[MEMBERS, i]
        row = ints[POOL, at]
        ints[ALONE, at] = not has and number == 1
        if has:
            copy_row(work.without, at, work.code, group)
            longs[LESS, at] = longs[COSTS, group]
            if i < number - 1:
                longs[LESS, at] = take_in(codes, work.without, at, work.run, i + 1)
            longs[COSTS, group] = take_in(codes, work.code, group, state.base, row)
        else:
            copy_row(work.without, at, work.run, min(i + 1, number - 1))
            longs[LESS, at] = vector_cost(codes, work.without, at)
            copy_row(work.code, group, state.base, row)
            longs[COSTS, group] = vector_cost(codes, work.code, group)
        has = True


@inner
def improve(state: State, codes: Codes, work: Work, k: int, rows: int, groups: int, at: int) -> tuple[int, int]:
    """Find the best move of a pool row to another group, or swap with a row of one.

    Returns the group and the row to swap with (-1 for a move), or group -1 where nothing is gained.
    """
    ints, longs = work.ints, work.longs
    i, row = ints[OF, at], ints[POOL, at]
    size, cost, less = longs[HAS, i], longs[COSTS, i], longs[LESS, at]
    best = np.int64(0)
    to, partner = -1, -1
    if size > k:
        out = less * (size - 1) - cost * size
        for j in range(groups):
            if j != i and longs[HAS, j] > 0 and out < best:
                spent = longs[COSTS, j] * longs[HAS, j]
                most = best - out + spent
                grown = cover_cost(codes, work.code, j, state.base, row, longs[HAS, j] + 1, most)
                if grown < most:
                    best, to = out + grown - spent, j
    gain = (less - cost) * size
    for other in range(rows):
        j = ints[OF, other]
        if j == i or ints[ALONE, other]:
            continue
        theirs = longs[HAS, j]
        if gain + (longs[LESS, other] - longs[COSTS, j]) * theirs >= best:
            continue
        old = cost * size + longs[COSTS, j] * theirs
        most = best + old - longs[LESS, other] * theirs
        mine = cover_cost(codes, work.without, at, state.base, ints[POOL, other], size, most)
        if mine >= most:
            continue
        most = best + old - mine
        new = cover_cost(codes, work.without, other, state.base, row, theirs, most)
        if new < most:
            best, to, partner = mine + new - old, j, other
    return to, partner


@inner
def move_rows(state: State, codes: Codes, models: Models, work: Work, k: int, rows: int, groups: int) -> bool:
    """Move and swap every row of the pool once where that lowers the cost; tell whether anything did."""
    ints, longs = work.ints, work.longs
    moved = False
    for g in range(groups):
        refresh(state, codes, work, rows, g)
    for at in range(rows):
        i = ints[OF, at]
        if ints[ALONE, at] or longs[COSTS, i] == 0:
            continue
        to, partner = improve(state, codes, work, k, rows, groups, at)
        if to < 0:
            continue
        if not (
            group_allowed(models, work, k, OF, rows, i, at, partner)
            and group_allowed(models, work, k, OF, rows, to, partner, at)
        ):
            continue
        ints[OF, at] = to
        if partner >= 0:
            ints[OF, partner] = i
        else:
            longs[HAS, i] -= 1
            longs[HAS, to] += 1
        refresh(state, codes, work, rows, i)
        refresh(state, codes, work, rows, to)
        moved = True
    return moved


@inner
def dissolve(
    state: State, codes: Codes, models: Models, work: Work, k: int, rows: int, groups: int, group: int
) -> bool:
    """Give the rows of a group to the others one by one if that costs less in the end."""
    ints, longs = work.ints, work.longs
    before = longs[HAS, group] * longs[COSTS, group]
    if ints[CORE, group] >= 0 or before == 0:
        return False
    for g in range(groups):
        longs[TRY_HAS, g], longs[TRY_COSTS, g] = longs[HAS, g], longs[COSTS, g]
        copy_row(work.trial, g, work.code, g)
    grown = np.int64(0)
    for at in range(rows):
        ints[OTHER, at] = ints[OF, at]
        if ints[OF, at] != group:
            continue
        row = ints[POOL, at]
        best = -1
        least = before - grown
        for g in range(groups):
            size = longs[TRY_HAS, g]
            if g != group and size > 0:
                spent = longs[TRY_COSTS, g] * size
                more = cover_cost(codes, work.trial, g, state.base, row, size + 1, least + spent)
                if more < least + spent:
                    best, least = g, more - spent
        if best < 0:
            return False
        longs[TRY_COSTS, best] = take_in(codes, work.trial, best, state.base, row)
        longs[TRY_HAS, best] += 1
        ints[OTHER, at] = best
        grown += least
    for g in range(groups):
        changed = g != group and longs[TRY_HAS, g] != longs[HAS, g]
        if changed and not group_allowed(models, work, k, OTHER, rows, g, -1, -1):
            return False
    for at in range(rows):
        ints[OF, at] = ints[OTHER, at]
    for g in range(groups):
        longs[HAS, g], longs[COSTS, g] = longs[TRY_HAS, g], longs[TRY_COSTS, g]
        copy_row(work.code, g, work.trial, g)
    longs[HAS, group] = 0
    longs[COSTS, group] = 0
    return True


@inner
def merge_equal(work: Work, rows: int, groups: int) -> None:
    """Merge groups that show the same, which is free; a core is merged into, never away."""
    ints, longs = work.ints, work.longs
    for g in range(groups):
        if longs[HAS, g] == 0 or ints[CORE, g] >= 0:
            continue
        for h in range(groups):
            if h == g or longs[HAS, h] == 0 or (h > g and ints[CORE, h] < 0):
                continue
            same = longs[COSTS, g] == longs[COSTS, h]
            for a in range(work.code.shape[1]):
                same &= work.code[g, a] == work.code[h, a]
            if same:
                for at in range(rows):
                    if ints[OF, at] == g:
                        ints[OF, at] = h
                longs[HAS, h] += longs[HAS, g]
                longs[HAS, g] = 0
                longs[COSTS, g] = 0
                break


@inner
def polish(state: State, codes: Codes, models: Models, work: Work, k: int, rows: int, groups: int) -> None:
    """Move, swap, dissolve and merge, a few passes, while anything is gained."""
    for _ in range(PASSES):
        merge_equal(work, rows, groups)
        moved = move_rows(state, codes, models, work, k, rows, groups)
        for g in range(groups):
            if work.longs[HAS, g] > 0 and dissolve(state, codes, models, work, k, rows, groups, g):
                moved = True
        if not moved:
            break
    merge_equal(work, rows, groups)
