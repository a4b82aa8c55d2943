"""The compiled loops that find what each unit of a pool merges best with; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.kernels.jit import inner
from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss.groups_layout import Codes, PoolRoom
from kveil.kernels.least_loss.join_loops import joined_cost


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

    What a unit merges best with may be unknown, and `PoolRoom.value` then no more than that value: it is looked for
    only where that decides.
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
        last = -1 if last == i or last == j else last  # noqa: SIM109  `in` makes loading import all that lists can do
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
