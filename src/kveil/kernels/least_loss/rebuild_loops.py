"""The compiled loops that make new groups of a pool's rows; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints
from kveil.kernels.jit import inner
from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss.groups_layout import Codes, GroupedRows, PoolRoom
from kveil.kernels.least_loss.join_loops import copy_row, cost_of, cover_cost, cover_vector, vector_cost
from kveil.kernels.least_loss.unit_pairs_loops import best_open, first_pairs, narrow_again, narrow_units, next_pairs
from kveil.kernels.models.layout import Models
from kveil.kernels.models.models_loops import clear, count_values, holds
from kveil.kernels.random.draw_loops import draw


@inner
def models_hold(models: Models, rows: Ints, number: int) -> bool:
    """Tell whether every model holds for the rows laid out."""
    for i in range(number):
        count_values(models, rows[field.ROWS, i])
    good = holds(models, 0, len(models.needs.kind), number)
    clear(models)
    return good


@inner
def unit_allowed(models: Models, work: PoolRoom, k: int, unit: int) -> bool:
    """Tell whether a unit's rows may be a group."""
    if work.longs[field.UNIT_HAS, unit] < k:
        return False
    if len(models.needs.kind) == 0:
        return True
    ints = work.ints
    number = 0
    at = ints[field.FIRST, unit]
    while at >= 0:
        ints[field.ROWS, number] = ints[field.POOL, at]
        number += 1
        at = ints[field.LINK, at]
    return models_hold(models, ints, number)


@inner
def group_allowed(
    models: Models, work: PoolRoom, k: int, trial: int, rows: int, group: int, out: int, into: int
) -> bool:
    """Tell whether a group may lose the pool row ``out`` and take in ``into``, -1 for none."""
    if len(models.needs.kind) == 0:
        return True
    ints = work.ints
    number = 0
    for at in range(rows):
        if (ints[trial, at] == group and at != out) or at == into:
            ints[field.ROWS, number] = ints[field.POOL, at]
            number += 1
    return number == 0 or (number >= k and models_hold(models, ints, number))


@inner
def close(work: PoolRoom, i: int, opened: int) -> int:
    """Take a unit off those that are open; return how many are left."""
    ints = work.ints
    ints[field.OPEN, i] = 0
    place = 0
    while place < opened - 1 and ints[field.QUEUE, place] != i:
        place += 1
    for later in range(place + 1, opened):
        ints[field.QUEUE, later - 1] = ints[field.QUEUE, later]
    return opened - 1


@inner
def noisy_cost(codes: Codes, work: PoolRoom, i: int) -> int:
    """Return what a unit costs per row, attributes weighed by chance."""
    cost = np.int64(0)
    for a in range(work.unit.shape[1]):
        cost += work.longs[field.NOISE, a] * cost_of(codes, a, work.unit[i, a])
    return cost >> field.NOISE_BITS


@inner
def unit_of_stayed(state: GroupedRows, work: PoolRoom, cores: int, stayed: int, row: int, out: int) -> int:
    """Tell whether a row stays with others of its group: -1 if not, else the place of its group among ``stayed``."""
    ints = work.ints
    if out > field.ALL_OUT - 1 or draw(state.random, field.ALL_OUT) < out:
        return -1
    group = state.rows[field.GROUP, row]
    for g in range(cores):
        if ints[field.CORE, g] == group:
            return -1
    place = 0
    while place < stayed and ints[field.STAYED, place] != group:
        place += 1
    return place


@inner
def make_units(
    state: GroupedRows, codes: Codes, models: Models, work: PoolRoom, k: int, rows: int, cores: int, out: int
) -> int:
    """Make units of the pool's rows; those that may be groups are closed.

    So many 1024ths of the rows, drawn by chance, are taken ``out`` of their groups, and equal ones that stand together
    are a unit; the other rows of each old group stay together as a unit. Rows next to a core are all taken out.
    """
    ints, longs = work.ints, work.longs
    units, stayed, last = 0, 0, -1
    for at in range(rows):
        row = ints[field.POOL, at]
        place = unit_of_stayed(state, work, cores, stayed, row, out)
        unit = units
        if place < 0:
            if last >= 0 and state.rows[field.SAME, row] == state.rows[field.SAME, ints[field.POOL, at - 1]]:
                unit = last
            last = unit
        else:
            last = -1
            if place < stayed:
                unit = ints[field.MEMBERS, place]
            else:
                ints[field.STAYED, place] = state.rows[field.GROUP, row]
                ints[field.MEMBERS, place] = unit
                stayed += 1
        if unit < units:
            if place >= 0:
                cover_vector(codes, work.unit, unit, state.base, row)
            longs[field.UNIT_HAS, unit] += 1
            ints[field.LINK, at] = ints[field.FIRST, unit]
        else:
            copy_row(work.unit, unit, state.base, row)
            longs[field.UNIT_HAS, unit] = 1
            ints[field.LINK, at] = -1
            units += 1
        ints[field.FIRST, unit] = at
    for i in range(units):
        longs[field.UNIT_COSTS, i] = noisy_cost(codes, work, i)
        ints[field.OPEN, i] = not unit_allowed(models, work, k, i)
    return units


@inner
def merge_pair(codes: Codes, work: PoolRoom, i: int, j: int) -> None:
    """Merge a unit into another."""
    ints, longs = work.ints, work.longs
    cover_vector(codes, work.unit, i, work.unit, j)
    longs[field.UNIT_COSTS, i] = noisy_cost(codes, work, i)
    longs[field.UNIT_HAS, i] += longs[field.UNIT_HAS, j]
    at = ints[field.FIRST, j]
    while ints[field.LINK, at] >= 0:
        at = ints[field.LINK, at]
    ints[field.LINK, at] = ints[field.FIRST, i]
    ints[field.FIRST, i] = ints[field.FIRST, j]
    longs[field.UNIT_HAS, j] = 0


@inner
def merge_units(codes: Codes, models: Models, work: PoolRoom, k: int, units: int) -> None:
    """Merge the pair of open units that costs least per row, until one is left; what may be a group closes.

    What pairs cost is ``stored`` unless they are too many: the number of units then, by which rows of the table differ.
    """
    ints = work.ints
    opened = 0
    for i in range(units):
        if ints[field.OPEN, i]:
            ints[field.QUEUE, opened] = i
            opened += 1
    if opened < 2:
        return
    stored = units if units * units <= len(work.pairs) else 0
    narrowed = narrow_units(codes, work, opened)
    first_pairs(codes, work, opened, stored, narrowed)
    while opened > 1:
        i = best_open(codes, work, opened, stored)
        if i < 0:
            return
        j = np.int64(ints[field.NEAR, i])
        merge_pair(codes, work, i, j)
        narrow_again(work, i, narrowed)
        opened = close(work, j, opened)
        stays = not unit_allowed(models, work, k, i)
        if not stays:
            opened = close(work, i, opened)
        next_pairs(codes, work, i, j, opened, stored, narrowed, stays)


@inner
def rebuild(
    state: GroupedRows, codes: Codes, models: Models, work: PoolRoom, k: int, rows: int, cores: int, out: int
) -> int:
    """Make new groups of the pool's rows; return how many with those of the cores, 0 where it cannot be done.

    ``out`` says how many rows leave their old groups at first: see `make_units`.
    """
    ints, longs = work.ints, work.longs
    units = make_units(state, codes, models, work, k, rows, cores, out)
    merge_units(codes, models, work, k, units)
    groups = cores
    for i in range(units):
        if ints[field.OPEN, i] or longs[field.UNIT_HAS, i] == 0:
            continue
        ints[field.CORE, groups] = -1
        longs[field.HAS, groups] = longs[field.UNIT_HAS, i]
        copy_row(work.code, groups, work.unit, i)
        longs[field.COSTS, groups] = vector_cost(codes, work.code, groups)
        at = ints[field.FIRST, i]
        while at >= 0:
            ints[field.OF, at] = groups
            at = ints[field.LINK, at]
        groups += 1
    if groups == 0:
        return 0
    for i in range(units):
        at = ints[field.FIRST, i] if ints[field.OPEN, i] else -1
        while at >= 0:
            best = 0
            least = np.int64(1) << 62
            for g in range(groups):
                spent = longs[field.COSTS, g] * longs[field.HAS, g]
                grown = cover_cost(
                    codes, work.code, g, state.base, ints[field.POOL, at], longs[field.HAS, g] + 1, least + spent
                )
                if grown < least + spent:
                    best, least = g, grown - spent
            longs[field.COSTS, best] = cover_vector(codes, work.code, best, state.base, ints[field.POOL, at])
            longs[field.HAS, best] += 1
            ints[field.OF, at] = best
            at = ints[field.LINK, at]
    return groups


@inner
def pool_cost(work: PoolRoom, groups: int) -> int:
    """Return what all groups cost together."""
    total = np.int64(0)
    for g in range(groups):
        total += work.longs[field.HAS, g] * work.longs[field.COSTS, g]
    return total
