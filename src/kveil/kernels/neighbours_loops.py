"""The compiled loops behind `neighbours`; importing this module imports Numba.

Few arrays with many fields instead of many arrays: every array that a function takes adds to its compile time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from kveil.kernels.models_loops import clear, holds
from kveil.kernels.mondrian import Floats, Ints, Longs
from kveil.kernels.neighbours import (
    AFTER,
    ALIVE,
    BEFORE,
    COST_AT,
    FORBIDDEN,
    FREE,
    GROUP,
    HEAD,
    KIND,
    LARGE,
    LEAF_AT,
    MISSING,
    NODE_AT,
    PAIR_AT,
    PLACE,
    SAME,
    SIZE,
    SMALL,
    SPAN,
    SPAN_AT,
    STAR,
    WHOLE,
    WIDEST,
    WIDTH,
    ZONE,
    Codes,
    Models,
    State,
    Words,
)  # fmt: skip

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

# What only loops call gets no door to Python: making those takes most of the compile time. Nor does it count references
# to arrays, which whoever calls it holds: counting took half the time, and threads waited for each other's counts.
inner = njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)


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
def draw(random: Words, below: int) -> int:
    """Return a number from 0 to below − 1 (splitmix64)."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.int64((z >> np.uint64(33)) % np.uint64(below))


@inner
def join(codes: Codes, a: int, u: int, v: int) -> int:
    """Return what covers two codes of an attribute."""
    u, v = np.int64(u), np.int64(v)
    if u == v:
        return u
    kind = codes.about[a, KIND]
    size = codes.about[a, WIDTH]
    if kind == SMALL:
        return np.int64(codes.ints[codes.about[a, PAIR_AT] + u * size + v])
    if kind == LARGE:
        first, last = codes.about[a, NODE_AT], codes.about[a, NODE_AT] + size
        parent = last + size
        while codes.ints[first + u] > codes.ints[first + v] or codes.ints[last + u] < codes.ints[last + v]:
            u = np.int64(codes.ints[parent + u])
        return u
    return min(u // size, v // size) * size + max(u % size, v % size)


@inner
def cost_of(codes: Codes, a: int, u: int) -> int:
    """Return what showing a code costs a row."""
    u = np.int64(u)
    if codes.about[a, KIND] != SPAN:
        return codes.longs[codes.about[a, COST_AT] + u]
    size = codes.about[a, WIDTH]
    low, high = u // size, u % size
    if low == high:
        return np.int64(0)
    widest = codes.about[a, WIDEST]
    if high == codes.about[a, MISSING]:
        return codes.about[a, WHOLE] if widest < 0 else np.int64(FORBIDDEN)
    at = codes.about[a, SPAN_AT]
    width = codes.longs[at + size + high] - codes.longs[at + low]
    if widest >= 0 and width > widest:
        return np.int64(FORBIDDEN)
    return min(np.int64(width * codes.factor[a] + 0.5), codes.about[a, WHOLE])


@inner
def joined_cost(codes: Codes, a: int, u: int, v: int) -> int:
    """Return what showing the cover of two codes costs a row."""
    if codes.about[a, KIND] == SMALL:
        return codes.longs[codes.about[a, LEAF_AT] + u * codes.about[a, WIDTH] + v]
    return cost_of(codes, a, join(codes, a, u, v))


@inner
def cover_cost(codes: Codes, ones: Ints, one: int, others: Ints, other: int, rows: int, most: int) -> int:
    """Return what the cover of two vectors of codes costs so many rows; ``most`` or more where it is not below that."""
    about, longs = codes.about, codes.longs
    total = np.int64(0)
    for a in range(ones.shape[1]):
        u, v = np.int64(ones[one, a]), np.int64(others[other, a])
        if about[a, KIND] == SMALL:
            total += longs[about[a, LEAF_AT] + u * about[a, WIDTH] + v] * rows
        else:
            total += cost_of(codes, a, join(codes, a, u, v)) * rows
        if total >= most:
            break
    return total


@inner
def vector_cost(codes: Codes, ones: Ints, one: int) -> int:
    """Return what a vector of codes costs a row."""
    total = np.int64(0)
    for a in range(ones.shape[1]):
        total += cost_of(codes, a, ones[one, a])
    return total


@inner
def take_in(codes: Codes, into: Ints, one: int, others: Ints, other: int) -> int:
    """Let a vector of codes cover another; return what it then costs."""
    about, longs = codes.about, codes.longs
    total = np.int64(0)
    for a in range(into.shape[1]):
        u, v = np.int64(into[one, a]), np.int64(others[other, a])
        if about[a, KIND] == SMALL:
            at = u * about[a, WIDTH] + v
            into[one, a] = codes.ints[about[a, PAIR_AT] + at]
            total += longs[about[a, LEAF_AT] + at]
        else:
            code = join(codes, a, u, v)
            into[one, a] = code
            total += cost_of(codes, a, code)
    return total


@inner
def copy_row(into: Ints, one: int, others: Ints, other: int) -> None:
    """Copy a vector of codes."""
    for a in range(into.shape[1]):
        into[one, a] = others[other, a]


@inner
def shows_nothing(codes: Codes, ones: Ints, one: int) -> bool:
    """Tell whether a vector of codes shows `*` everywhere."""
    for a in range(ones.shape[1]):
        u = np.int64(ones[one, a])
        if codes.about[a, KIND] != SPAN:
            if u != codes.about[a, STAR]:
                return False
        else:
            low, high = u // codes.about[a, WIDTH], u % codes.about[a, WIDTH]
            if low == high or high != codes.about[a, MISSING]:
                return False
    return True


# ---------------------------------------------------------------------------------------------- groups


@inner
def unlink(state: State, row: int) -> None:
    """Take a row out of its group; an empty group's number becomes free."""
    g = state.rows[GROUP, row]
    ahead, behind = state.rows[BEFORE, row], state.rows[AFTER, row]
    if ahead >= 0:
        state.rows[AFTER, ahead] = behind
    else:
        state.groups[HEAD, g] = behind
    if behind >= 0:
        state.rows[BEFORE, behind] = ahead
    state.groups[SIZE, g] -= 1
    if state.groups[SIZE, g] == 0:
        last = state.groups[ALIVE, state.counts[0] - 1]
        state.groups[ALIVE, state.groups[PLACE, g]] = last
        state.groups[PLACE, last] = state.groups[PLACE, g]
        state.counts[0] -= 1
        state.groups[FREE, state.counts[1]] = g
        state.counts[1] += 1


@inner
def link(state: State, row: int, g: int) -> None:
    """Put a row into a group."""
    first = state.groups[HEAD, g]
    state.rows[AFTER, row] = first
    state.rows[BEFORE, row] = -1
    if first >= 0:
        state.rows[BEFORE, first] = row
    state.groups[HEAD, g] = row
    state.rows[GROUP, row] = g
    state.groups[SIZE, g] += 1


@inner
def new_group(state: State) -> int:
    """Return the number of a new empty group."""
    state.counts[1] -= 1
    g = state.groups[FREE, state.counts[1]]
    state.groups[HEAD, g] = -1
    state.groups[SIZE, g] = 0
    state.groups[PLACE, g] = state.counts[0]
    state.groups[ALIVE, state.counts[0]] = g
    state.counts[0] += 1
    return g


@inner
def tighten(state: State, codes: Codes, g: int) -> int:
    """Let a group show what covers its rows and no more; return by how much its cost fell."""
    row = state.groups[HEAD, g]
    before = state.cost[g]
    copy_row(state.code, g, state.base, row)
    cost = vector_cost(codes, state.code, g)
    row = state.rows[AFTER, row]
    while row >= 0:
        cost = take_in(codes, state.code, g, state.base, row)
        row = state.rows[AFTER, row]
    state.cost[g] = cost
    return (before - cost) * state.groups[SIZE, g]


@njit(cache=True, nogil=True)
def fill_groups(state: State, codes: Codes, part: Ints, groups: int) -> int:
    """Put every row into its part's group; return what all cost together."""
    for _ in range(groups):
        new_group(state)
    for row in range(len(part) - 1, -1, -1):
        link(state, row, part[row])
    total = np.int64(0)
    for g in range(groups):
        tighten(state, codes, g)
        total += state.cost[g] * state.groups[SIZE, g]
    return total


# ---------------------------------------------------------------------------------------------- a pool


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


# ---------------------------------------------------------------------------------------------- polish


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


# ---------------------------------------------------------------------------------------------- the search


@inner
def splice(state: State, codes: Codes, work: Work, rows: int, groups: int) -> int:
    """Put the pool's new groups in the place of the old ones; return what tightening them gained on top."""
    ints, longs = work.ints, work.longs
    for at in range(rows):
        unlink(state, ints[POOL, at])
    for g in range(groups):
        if longs[HAS, g] == 0:
            continue
        if ints[CORE, g] < 0:
            ints[CORE, g] = new_group(state)
        copy_row(state.code, ints[CORE, g], work.code, g)
        state.cost[ints[CORE, g]] = longs[COSTS, g]
    for at in range(rows):
        link(state, ints[POOL, at], ints[CORE, ints[OF, at]])
    gained = np.int64(0)
    for g in range(groups):
        if longs[HAS, g] > 0 and longs[COSTS, g] > 0:
            gained += tighten(state, codes, ints[CORE, g])
    return gained


@inner
def hidden(codes: Codes, work: Work, groups: int) -> bool:
    """Tell whether some group would show `*` everywhere."""
    found = False
    for g in range(groups):
        found |= work.longs[HAS, g] > 0 and shows_nothing(codes, work.code, g)
    return found


@inner
def try_once(
    state: State, codes: Codes, models: Models, work: Work, noise: Longs, k: int, hides: bool, found: Ints
) -> int:
    """Take one neighbourhood apart and put it together again; return how much was gained, -1 where dropped."""
    seed = -1
    for _ in range(64):
        seed = draw(state.random, state.base.shape[0])
        if state.cost[state.rows[GROUP, seed]] > 0:
            break
    if state.cost[state.rows[GROUP, seed]] == 0:
        return -1
    number = nearest(state, codes, work, seed, 2 + draw(state.random, MOST_GROUPS - 1), k, found)
    rows, cores = gather(state, work, k, len(models.needs.kind) > 0, seed, found, number)
    if rows < 2:
        return -1
    old = np.int64(0)
    for i in range(number):
        if found[i] >= 0:
            old += state.groups[SIZE, found[i]] * state.cost[found[i]]
    for a in range(state.base.shape[1]):
        work.longs[NOISE, a] = noise[draw(state.random, len(noise))]
    groups = rebuild(state, codes, models, work, k, rows, cores)
    if groups == 0 or pool_cost(work, groups) * 5 > old * DROP_ABOVE:
        return -1
    for g in range(groups):
        if not group_allowed(models, work, k, OF, rows, g, -1, -1):
            return -1
    polish(state, codes, models, work, k, rows, groups)
    new = pool_cost(work, groups)
    if new > old or (hides and hidden(codes, work, groups)):
        return -1
    return old - new + splice(state, codes, work, rows, groups)


@njit(cache=True, nogil=True)
def search_groups(
    state: State, codes: Codes, models: Models, noise: Longs, k: int, hides: bool, tries: int, room: int
) -> int:
    """Search; see `neighbours.search`."""
    wide = np.zeros((room + MOST_GROUPS, state.base.shape[1]), dtype=state.base.dtype)
    spots = room + max(MOST_GROUPS, state.base.shape[1])
    work = Work(
        np.zeros((12, spots), dtype=np.int32), np.zeros((10, spots), dtype=np.int64), np.zeros(room),
        np.zeros((room, room)),
        wide.copy(), wide.copy(), wide.copy(), wide.copy(), wide,
    )  # fmt: skip
    found = np.zeros(MOST_GROUPS, dtype=np.int32)
    gained = np.int64(0)
    for _ in range(tries):
        more = try_once(state, codes, models, work, noise, k, hides, found)
        state.counts[3] += 1
        if more >= 0:
            gained += more
            state.counts[2] += 1
    return gained


@njit(cache=True, nogil=True)
def place_each(base: Ints, zone: Ints, state_zone: Ints, code: Ints, longs: Longs, most: int, codes: Codes) -> Ints:
    """Place rows; see `neighbours.place_rows`. ``longs`` has the groups' sizes and costs."""
    found = np.full(base.shape[0], -1, dtype=np.int32)
    for row in range(base.shape[0]):
        best = -1
        least = np.int64(most)
        for g in range(code.shape[0]):
            if state_zone[g] == zone[row]:
                spent = longs[1, g] * longs[0, g]
                more = cover_cost(codes, code, g, base, row, longs[0, g] + 1, least + spent)
                if more < least + spent:
                    best, least = g, more - spent
        if best >= 0:
            longs[1, best] = take_in(codes, code, best, base, row)
            longs[0, best] += 1
            found[row] = best
    return found
