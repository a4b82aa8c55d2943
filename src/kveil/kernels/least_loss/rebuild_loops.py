"""The compiled loops that make new groups of a pool's rows; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints
from kveil.kernels.jit import inner
from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss.groups_layout import Codes, GroupedRows, PoolRoom
from kveil.kernels.least_loss.join_loops import (
    copy_row,
    cost_of,
    cover_cost,
    cover_vector,
    joined_cost,
    vector_cost,
)
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
def narrow_units(codes: Codes, work: PoolRoom, opened: int) -> int:
    """Lay the attributes in which open units differ side by side; return how many, one of weight 0 making them even.

    What units agree in they agree in once they are merged: its cost is reckoned once. Returns -1 where some attribute's
    costs stand in no table.
    """
    ints, longs, unit, narrow = work.ints, work.longs, work.unit, work.narrow
    rest = np.int64(0)
    number = 0
    for a in range(unit.shape[1]):
        if codes.about[a, field.KIND] != field.SMALL:
            return -1
        first = np.int64(unit[ints[field.QUEUE, 0], a])
        differs = False
        for place in range(1, opened):
            differs |= unit[np.uint64(ints[field.QUEUE, place]), a] != first
        if not differs:
            rest += longs[field.NOISE, a] * joined_cost(codes, a, first, first)
            continue
        for place in range(opened):
            j = np.uint64(ints[field.QUEUE, place])
            narrow[j, number] = unit[j, a]
        ints[field.VARIES, number], longs[field.WEIGHT, number] = a, longs[field.NOISE, a]
        number += 1
    if number % 2:
        ints[field.VARIES, number], longs[field.WEIGHT, number] = ints[field.VARIES, number - 1], 0
        for place in range(opened):
            narrow[np.uint64(ints[field.QUEUE, place]), number] = 0
        number += 1
    longs[field.WEIGHT, number] = rest
    return number


@inner
def narrow_again(work: PoolRoom, i: int, narrowed: int) -> None:
    """Lay side by side what a unit shows since another one was merged into it."""
    for b in range(narrowed):
        if work.longs[field.WEIGHT, b] > 0:
            work.narrow[i, b] = work.unit[i, work.ints[field.VARIES, b]]


@inner
def sum_narrow(codes: Codes, work: PoolRoom, i: int, start: int, opened: int, narrowed: int) -> None:
    """Sum up what merging a unit with each open one, from a place on, costs per row, attributes weighed by chance.

    Four attributes at a time, and then two: where their costs stand and what they weigh stays in registers meanwhile.
    """
    longs, narrow, table = work.longs, work.narrow, codes.longs
    queue, sums, weight = work.ints[field.QUEUE], work.longs[field.SUM], work.longs[field.WEIGHT]
    for b in range(narrowed):
        a = work.ints[field.VARIES, b]
        longs[field.OFFSET, b] = codes.about[a, field.LEAF_AT] + np.int64(narrow[i, b]) * codes.about[a, field.WIDTH]
    for place in range(start, opened):
        sums[np.uint64(place)] = weight[narrowed]
    for four in range(0, narrowed - 3, 4):
        w0, w1, w2, w3 = weight[four], weight[four + 1], weight[four + 2], weight[four + 3]
        at = longs[field.OFFSET]
        t0, t1, t2, t3 = at[four], at[four + 1], at[four + 2], at[four + 3]
        b0 = np.uint64(four)
        b1, b2, b3 = b0 + np.uint64(1), b0 + np.uint64(2), b0 + np.uint64(3)
        for place in range(start, opened):
            j = np.uint64(queue[np.uint64(place)])
            sums[np.uint64(place)] += (
                w0 * table[np.uint64(t0 + narrow[j, b0])]
                + w1 * table[np.uint64(t1 + narrow[j, b1])]
                + w2 * table[np.uint64(t2 + narrow[j, b2])]
                + w3 * table[np.uint64(t3 + narrow[j, b3])]
            )
    if narrowed % 4:
        two = narrowed - 2
        w0, w1, t0, t1 = weight[two], weight[two + 1], longs[field.OFFSET, two], longs[field.OFFSET, two + 1]
        b0, b1 = np.uint64(two), np.uint64(two) + np.uint64(1)
        for place in range(start, opened):
            j = np.uint64(queue[np.uint64(place)])
            sums[np.uint64(place)] += (
                w0 * table[np.uint64(t0 + narrow[j, b0])] + w1 * table[np.uint64(t1 + narrow[j, b1])]
            )


@inner
def weigh_pairs(codes: Codes, work: PoolRoom, i: int, start: int, opened: int, narrowed: int) -> None:
    """Reckon by how much the cost of a unit and each open one, from a place on, grows per row when they are merged.

    Attributes are weighed by chance. What comes of it stands in `PoolRoom.grown`, by places among open units.
    """
    longs, unit, grown = work.longs, work.unit, work.grown
    queue, sums = work.ints[field.QUEUE], work.longs[field.SUM]
    if narrowed >= 0:
        sum_narrow(codes, work, i, start, opened, narrowed)
    else:
        for place in range(start, opened):
            cost = np.int64(0)
            for a in range(unit.shape[1]):
                cost += longs[field.NOISE, a] * joined_cost(codes, a, unit[i, a], unit[queue[place], a])
            sums[place] = cost
    mine = longs[field.UNIT_HAS, i]
    spent = longs[field.UNIT_COSTS, i] * mine
    for place in range(start, opened):
        j = np.uint64(queue[np.uint64(place)])
        theirs = longs[field.UNIT_HAS, j]
        more = (sums[np.uint64(place)] >> field.NOISE_BITS) * (mine + theirs) - spent
        grown[np.uint64(place)] = (more - longs[field.UNIT_COSTS, j] * theirs) / (mine + theirs)


@inner
def pair_value(codes: Codes, work: PoolRoom, i: int, j: int) -> float:
    """Return by how much the cost of two units grows per row when they are merged, as `weigh_pairs` stores it."""
    longs = work.longs
    cost = np.int64(0)
    for a in range(work.unit.shape[1]):
        cost += longs[field.NOISE, a] * joined_cost(codes, a, work.unit[i, a], work.unit[j, a])
    mine, theirs = longs[field.UNIT_HAS, i], longs[field.UNIT_HAS, j]
    spent = longs[field.UNIT_COSTS, i] * mine
    grown = (cost >> field.NOISE_BITS) * (mine + theirs) - spent - longs[field.UNIT_COSTS, j] * theirs
    return grown / (mine + theirs)


@inner
def find_near(codes: Codes, work: PoolRoom, i: int, opened: int, stored: int) -> None:
    """Find the unit that merges best with a unit; of equals the first. ``stored``: see `merge_units`."""
    ints, pairs = work.ints, work.pairs
    at = i * stored
    near = -1
    least = np.inf
    for place in range(opened):
        j = ints[field.QUEUE, place]
        if j == i:
            continue
        value = pairs[np.uint64(at + j)] if stored else pair_value(codes, work, i, j)
        if value < least:
            near, least = np.int64(j), value
    ints[field.NEAR, i] = near
    work.value[i] = least


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
def first_pairs(codes: Codes, work: PoolRoom, opened: int, stored: int, narrowed: int) -> None:
    """Weigh all pairs of open units, and find the unit that merges best with each, of equals the first."""
    ints, values, pairs, grown, queue = work.ints, work.value, work.pairs, work.grown, work.ints[field.QUEUE]
    for place in range(opened):
        ints[field.NEAR, queue[place]], values[queue[place]] = -1, np.inf
    for place in range(opened):
        i = np.int64(queue[place])
        weigh_pairs(codes, work, i, place + 1, opened, narrowed)
        near, least = np.int64(ints[field.NEAR, i]), values[i]
        for later in range(place + 1, opened):
            j = np.int64(queue[np.uint64(later)])
            value = grown[np.uint64(later)]
            if stored:
                pairs[np.uint64(i * stored + j)] = pairs[np.uint64(j * stored + i)] = value
            if value < least:
                near, least = j, value
            if value < values[np.uint64(j)]:
                ints[field.NEAR, j], values[np.uint64(j)] = i, value
        ints[field.NEAR, i], values[i] = near, least


@inner
def best_open(codes: Codes, work: PoolRoom, opened: int, stored: int) -> int:
    """Return the open unit that merges best with another one, of equals the first, or -1.

    What a unit merges best with may be unknown, and `PoolRoom.value` then no more than that value: it is looked for only
    where that decides.
    """
    ints, values, queue = work.ints, work.value, work.ints[field.QUEUE]
    best = np.int64(-1)
    for _ in range(opened + 1):  # every turn but the last finds what one unit merges best with
        best, least = np.int64(-1), np.inf
        for place in range(opened):
            u = np.int64(queue[place])
            if values[np.uint64(u)] < least:
                best, least = u, values[np.uint64(u)]
        if best < 0 or ints[field.NEAR, best] >= 0:
            break
        find_near(codes, work, best, opened, stored)
    return best


@inner
def next_pairs(
    codes: Codes, work: PoolRoom, i: int, j: int, opened: int, stored: int, narrowed: int, stays: bool
) -> None:
    """Reckon what open units merge best with now that ``i`` has taken in ``j``.

    Where that was one of the two, it is unknown (-1) unless ``i`` is still the best; no other unit comes below the old
    value.
    """
    ints, values, pairs, grown, queue = work.ints, work.value, work.pairs, work.grown, work.ints[field.QUEUE]
    if stays:
        weigh_pairs(codes, work, i, 0, opened, narrowed)
    near, nearest = np.int64(-1), np.inf
    for place in range(opened):
        u = np.int64(queue[place])
        if u == i:
            continue
        last = np.int64(ints[field.NEAR, np.uint64(u)])
        if last == i or last == j:
            last = -1
        if stays:
            value = grown[place]
            if stored:
                pairs[np.uint64(i * stored + u)] = pairs[np.uint64(u * stored + i)] = value
            if value < nearest:
                near, nearest = u, value
            if value < values[np.uint64(u)] or (value == values[np.uint64(u)] and i < last):
                last, values[np.uint64(u)] = i, value
        ints[field.NEAR, np.uint64(u)] = last
    if stays:
        ints[field.NEAR, i], values[i] = near, nearest


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
