"""The compiled loops that take a neighbourhood of groups apart and make new ones; importing this imports Numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kveil.arrays import Floats, Ints, Longs
from kveil.kernels.least_loss.join_loops import (
    copy_row,
    cost_of,
    cover_cost,
    draw,
    inner,
    joined_cost,
    take_in,
    vector_cost,
)
from kveil.kernels.least_loss.neighbours import (
    AFTER,
    ALIVE,
    GROUP,
    HEAD,
    KIND,
    LEAF_AT,
    SAME,
    SIZE,
    SMALL,
    WIDTH,
    ZONE,
    Codes,
    Models,
    State,
)
from kveil.kernels.models.models_loops import clear, holds

MOST_GROUPS = 8  # in a pool
PASSES = 3  # of moves and swaps over a pool
DROP_ABOVE = 6  # fifths of the old cost: a rebuilt pool above that is not worth polishing
NOISE_BITS = 10

# What a pool's rows are: itself, the group they are in, another such group, the unit's list, who is alone; of a unit:
# its first row, its nearest unit, whether it is open; of a group: the old group it keeps rows of; lists of rows; the
# open units in order.
POOL, OF, OTHER, LINK, ALONE, FIRST, NEAR, OPEN, CORE, MEMBERS, ROWS, QUEUE = range(12)
# What a row's group would cost without it; sizes and costs of groups, of a trial of them, of units; noise;
# where an attribute's costs begin; how near a group is.
LESS, HAS, COSTS, TRY_HAS, TRY_COSTS, UNIT_HAS, UNIT_COSTS, NOISE, OFFSET, SCORE = range(10)


class Work(NamedTuple):
    """Room for one pool: its rows, the units they are merged into, the groups they become.

    ``without`` is what a row's group would show without it; ``code``, ``trial`` and ``unit`` what groups and units
    show; ``run`` what covers the members from one on; ``pairs`` what merging two units costs, ``value`` with the
    nearest.
    """

    ints: Ints
    longs: Longs
    value: Floats
    pairs: Floats
    without: Ints
    code: Ints
    trial: Ints
    unit: Ints
    run: Ints


@inner
def nearest(state: State, codes: Codes, work: Work, seed: int, wanted: int, k: int, found: Ints) -> int:
    """Find groups near a group or one of its rows; return how many. ``found[0]`` is the group itself."""
    own = state.rows[GROUP, seed]
    zone = state.rows[ZONE, seed]
    width = state.base.shape[1]
    by_group = draw(state.random, 5) < 2
    fine = 614 + draw(state.random, 411)
    skip = np.uint64(draw(state.random, 513))
    salt = np.uint64(draw(state.random, 1 << 30)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(1)
    every_small = True
    centre, longs = work.run, work.longs
    for a in range(width):
        centre[0, a] = state.code[own, a] if by_group else state.base[seed, a]
        every_small &= codes.about[a, KIND] == SMALL
        longs[OFFSET, a] = codes.about[a, LEAF_AT] + np.int64(centre[0, a]) * codes.about[a, WIDTH]
    found[0] = own
    number = 1
    for at in range(state.counts[0]):
        g = state.groups[ALIVE, at]
        chance = ((np.uint64(g) + np.uint64(1)) * salt) >> np.uint64(54)
        cost = state.cost[g]
        if chance < skip or g == own or (cost == 0 and chance < np.uint64(896) and state.groups[SIZE, g] <= k):
            continue
        most = longs[SCORE, number - 1] if number == wanted else np.int64(1) << 62
        value = -fine * cost
        if every_small:
            for a in range(width):
                value += codes.longs[longs[OFFSET, a] + state.code[g, a]] << NOISE_BITS
                if value >= most:
                    break
        else:
            value += cover_cost(codes, centre, 0, state.code, g, 1 << NOISE_BITS, most - value)
        if value >= most or state.rows[ZONE, state.groups[HEAD, g]] != zone:
            continue
        if number < wanted:
            number += 1
        place = number - 1
        while place > 1 and longs[SCORE, place - 1] > value:
            longs[SCORE, place] = longs[SCORE, place - 1]
            found[place] = found[place - 1]
            place -= 1
        longs[SCORE, place] = value
        found[place] = g
    return number


@inner
def gather(state: State, work: Work, k: int, whole: bool, seed: int, found: Ints, number: int) -> tuple[int, int]:
    """Put the rows of near groups into the pool; return how many rows, and how many groups leave a core behind.

    Unless groups are to be taken ``whole``, one of equal rows gives what it has above k, and one that is too large
    some rows; the core stays and may receive. Groups that are left out are taken off ``found``.
    """
    room = len(work.value)
    ints, longs = work.ints, work.longs
    rows = 0
    cores = 0
    for i in range(number):
        g = found[i]
        size = np.int64(state.groups[SIZE, g])
        partly = not whole and ((state.cost[g] == 0 and i > 0) or size > room // 2)
        give = size
        if partly:
            give = max(min(size - k, k + draw(state.random, k + 1), room // 4, room - rows), 0)
        if rows + give > room:
            found[i] = -1
            continue
        if partly:
            ints[CORE, cores] = g
            copy_row(work.code, cores, state.code, g)
            longs[HAS, cores] = size - give
            longs[COSTS, cores] = state.cost[g]
            cores += 1
        seeded = i == 0 and partly
        if seeded:
            if give == 0:
                return 0, 0
            ints[POOL, rows] = seed
            rows += 1
            give -= 1
        row = state.groups[HEAD, g]
        while give > 0:
            if not seeded or row != seed:
                ints[POOL, rows] = row
                rows += 1
                give -= 1
            row = state.rows[AFTER, row]
    for i in range(1, rows):  # equal rows have neighbouring numbers
        row = ints[POOL, i]
        place = i
        while place > 0 and ints[POOL, place - 1] > row:
            ints[POOL, place] = ints[POOL, place - 1]
            place -= 1
        ints[POOL, place] = row
    return rows, cores


@inner
def models_hold(models: Models, rows: Ints, number: int) -> bool:
    """Tell whether every model holds for the rows laid out."""
    values = models.values
    for i in range(number):
        row = rows[ROWS, i]
        for s in range(values.start.shape[0]):
            for p in range(values.start[s, row], values.start[s, row + 1]):
                code = values.code[p]
                if models.tally[s, code] == 0:
                    models.touched[s, models.used[s]] = code
                    models.used[s] += 1
                models.tally[s, code] += values.times[p]
    good = holds(models.needs, values, number, models.tally, models.touched, models.used, models.below, models.nodes)
    clear(models.tally, models.touched, models.used)
    return good


@inner
def unit_allowed(models: Models, work: Work, k: int, unit: int) -> bool:
    """Tell whether a unit's rows may be a group."""
    if work.longs[UNIT_HAS, unit] < k:
        return False
    if len(models.needs.kind) == 0:
        return True
    ints = work.ints
    number = 0
    at = ints[FIRST, unit]
    while at >= 0:
        ints[ROWS, number] = ints[POOL, at]
        number += 1
        at = ints[LINK, at]
    return models_hold(models, ints, number)


@inner
def group_allowed(models: Models, work: Work, k: int, trial: int, rows: int, group: int, out: int, into: int) -> bool:
    """Tell whether a group may lose the pool row ``out`` and take in ``into``, -1 for none."""
    if len(models.needs.kind) == 0:
        return True
    ints = work.ints
    number = 0
    for at in range(rows):
        if (ints[trial, at] == group and at != out) or at == into:
            ints[ROWS, number] = ints[POOL, at]
            number += 1
    return number == 0 or (number >= k and models_hold(models, ints, number))


@inner
def weigh_pairs(codes: Codes, work: Work, i: int, start: int, opened: int) -> None:
    """Reckon by how much the cost of a unit and each open one, from a place on, grows a row when they are merged.

    Attributes are weighed by chance.
    """
    ints, longs = work.ints, work.longs
    width = work.unit.shape[1]
    every_small = True
    for a in range(width):
        every_small &= codes.about[a, KIND] == SMALL
        longs[OFFSET, a] = codes.about[a, LEAF_AT] + np.int64(work.unit[i, a]) * codes.about[a, WIDTH]
    mine = longs[UNIT_HAS, i]
    spent = longs[UNIT_COSTS, i] * mine
    for place in range(start, opened):
        j = ints[QUEUE, place]
        if j == i:
            continue
        cost = np.int64(0)
        if every_small:
            for a in range(width):
                cost += longs[NOISE, a] * codes.longs[longs[OFFSET, a] + work.unit[j, a]]
        else:
            for a in range(width):
                cost += longs[NOISE, a] * joined_cost(codes, a, work.unit[i, a], work.unit[j, a])
        theirs = longs[UNIT_HAS, j]
        grown = (cost >> NOISE_BITS) * (mine + theirs) - spent - longs[UNIT_COSTS, j] * theirs
        work.pairs[i, j] = work.pairs[j, i] = grown / (mine + theirs)


@inner
def find_near(work: Work, i: int, opened: int) -> None:
    """Find the unit that merges best with a unit; of equals the first."""
    near = -1
    least = np.inf
    for place in range(opened):
        j = work.ints[QUEUE, place]
        if work.pairs[i, j] < least and j != i:
            near, least = j, work.pairs[i, j]
    work.ints[NEAR, i] = near
    work.value[i] = least


@inner
def close(work: Work, i: int, opened: int) -> int:
    """Take a unit off those that are open; return how many are left."""
    ints = work.ints
    ints[OPEN, i] = 0
    place = 0
    while ints[QUEUE, place] != i:
        place += 1
    for later in range(place + 1, opened):
        ints[QUEUE, later - 1] = ints[QUEUE, later]
    return opened - 1


@inner
def noisy_cost(codes: Codes, work: Work, i: int) -> int:
    """Return what a unit costs a row, attributes weighed by chance."""
    cost = np.int64(0)
    for a in range(work.unit.shape[1]):
        cost += work.longs[NOISE, a] * cost_of(codes, a, work.unit[i, a])
    return cost >> NOISE_BITS


@inner
def make_units(state: State, codes: Codes, models: Models, work: Work, k: int, rows: int) -> int:
    """Make a unit of every set of equal rows of the pool; those that may be groups are closed."""
    ints, longs = work.ints, work.longs
    units = 0
    for at in range(rows):
        row = ints[POOL, at]
        if at > 0 and state.rows[SAME, row] == state.rows[SAME, ints[POOL, at - 1]]:
            longs[UNIT_HAS, units - 1] += 1
            ints[LINK, at] = ints[FIRST, units - 1]
            ints[FIRST, units - 1] = at
            continue
        copy_row(work.unit, units, state.base, row)
        longs[UNIT_COSTS, units] = noisy_cost(codes, work, units)
        longs[UNIT_HAS, units] = 1
        ints[FIRST, units] = at
        ints[LINK, at] = -1
        units += 1
    for i in range(units):
        ints[OPEN, i] = not unit_allowed(models, work, k, i)
    return units


@inner
def merge_pair(codes: Codes, work: Work, i: int, j: int) -> None:
    """Merge a unit into another."""
    ints, longs = work.ints, work.longs
    take_in(codes, work.unit, i, work.unit, j)
    longs[UNIT_COSTS, i] = noisy_cost(codes, work, i)
    longs[UNIT_HAS, i] += longs[UNIT_HAS, j]
    at = ints[FIRST, j]
    while ints[LINK, at] >= 0:
        at = ints[LINK, at]
    ints[LINK, at] = ints[FIRST, i]
    ints[FIRST, i] = ints[FIRST, j]
    longs[UNIT_HAS, j] = 0


@inner
def merge_units(codes: Codes, models: Models, work: Work, k: int, units: int) -> None:
    """Merge the pair of open units that costs least a row, until one is left open; what may be a group closes."""
    ints = work.ints
    opened = 0
    for i in range(units):
        if ints[OPEN, i]:
            ints[QUEUE, opened] = i
            opened += 1
    for place in range(opened):
        weigh_pairs(codes, work, ints[QUEUE, place], place + 1, opened)
    for place in range(opened):
        find_near(work, ints[QUEUE, place], opened)
    while opened > 1:
        i = -1
        least = np.inf
        for place in range(opened):
            u = ints[QUEUE, place]
            if work.value[u] < least:
                i, least = u, work.value[u]
        if i < 0:
            return
        j = ints[NEAR, i]
        merge_pair(codes, work, i, j)
        opened = close(work, j, opened)
        stays = not unit_allowed(models, work, k, i)
        if stays:
            weigh_pairs(codes, work, i, 0, opened)
        else:
            opened = close(work, i, opened)
        for place in range(opened):
            u = ints[QUEUE, place]
            if u == i or ints[NEAR, u] == i or ints[NEAR, u] == j:
                find_near(work, u, opened)
            elif stays and work.pairs[u, i] < work.value[u]:
                ints[NEAR, u], work.value[u] = i, work.pairs[u, i]


@inner
def rebuild(state: State, codes: Codes, models: Models, work: Work, k: int, rows: int, cores: int) -> int:
    """Make new groups of the pool's rows; return how many with those of the cores, 0 where it cannot be done."""
    ints, longs = work.ints, work.longs
    units = make_units(state, codes, models, work, k, rows)
    merge_units(codes, models, work, k, units)
    groups = cores
    for i in range(units):
        if ints[OPEN, i] or longs[UNIT_HAS, i] == 0:
            continue
        ints[CORE, groups] = -1
        longs[HAS, groups] = longs[UNIT_HAS, i]
        copy_row(work.code, groups, work.unit, i)
        longs[COSTS, groups] = vector_cost(codes, work.code, groups)
        at = ints[FIRST, i]
        while at >= 0:
            ints[OF, at] = groups
            at = ints[LINK, at]
        groups += 1
    if groups == 0:
        return 0
    for i in range(units):
        at = ints[FIRST, i] if ints[OPEN, i] else -1
        while at >= 0:
            best = 0
            least = np.int64(1) << 62
            for g in range(groups):
                spent = longs[COSTS, g] * longs[HAS, g]
                grown = cover_cost(codes, work.code, g, state.base, ints[POOL, at], longs[HAS, g] + 1, least + spent)
                if grown < least + spent:
                    best, least = g, grown - spent
            longs[COSTS, best] = take_in(codes, work.code, best, state.base, ints[POOL, at])
            longs[HAS, best] += 1
            ints[OF, at] = best
            at = ints[LINK, at]
    return groups


@inner
def pool_cost(work: Work, groups: int) -> int:
    """Return what all groups cost together."""
    total = np.int64(0)
    for g in range(groups):
        total += work.longs[HAS, g] * work.longs[COSTS, g]
    return total
