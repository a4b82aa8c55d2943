"""The compiled loops that choose a neighbourhood of groups and put their rows into a pool."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints
from kveil.kernels.jit import inner
from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss.groups_layout import Codes, GroupedRows, PoolRoom
from kveil.kernels.least_loss.join_loops import copy_row, cover_cost, draw


@inner
def nearest(state: GroupedRows, codes: Codes, work: PoolRoom, seed: int, wanted: int, k: int, found: Ints) -> int:
    """Find groups near a group or one of its rows; return how many. ``found[0]`` is the group itself."""
    own = state.rows[field.GROUP, seed]
    zone = state.rows[field.ZONE, seed]
    width = state.base.shape[1]
    by_group = draw(state.random, field.CENTRE_OF) < field.CENTRE_IS_GROUP
    credit = field.LEAST_CREDIT + draw(state.random, field.CREDITS)
    skip = np.uint64(draw(state.random, field.MOST_SKIPPED + 1))
    salt = np.uint64(draw(state.random, 1 << 30)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(1)
    every_small = True
    centre, longs = work.run, work.longs
    for a in range(width):
        centre[0, a] = state.code[own, a] if by_group else state.base[seed, a]
        every_small &= codes.about[a, field.KIND] == field.SMALL
        longs[field.OFFSET, a] = codes.about[a, field.LEAF_AT] + np.int64(centre[0, a]) * codes.about[a, field.WIDTH]
    found[0] = own
    number = 1
    for at in range(state.counts[field.IN_USE]):
        g = state.groups[field.ALIVE, at]
        chance = ((np.uint64(g) + np.uint64(1)) * salt) >> np.uint64(field.CHANCE_SHIFT)
        cost = state.cost[g]
        if (
            chance < skip
            or g == own
            or (cost == 0 and chance < np.uint64(field.SKIP_EXACT) and state.groups[field.SIZE, g] <= k)
        ):
            continue
        most = longs[field.SCORE, number - 1] if number == wanted else np.int64(1) << 62
        value = -credit * cost
        if every_small:
            for a in range(width):
                value += codes.longs[longs[field.OFFSET, a] + state.code[g, a]] << field.NOISE_BITS
                if value >= most:
                    break
        else:
            value += cover_cost(codes, centre, 0, state.code, g, 1 << field.NOISE_BITS, most - value)
        if value >= most or state.rows[field.ZONE, state.groups[field.HEAD, g]] != zone:
            continue
        if number < wanted:
            number += 1
        place = number - 1
        while place > 1 and longs[field.SCORE, place - 1] > value:
            longs[field.SCORE, place] = longs[field.SCORE, place - 1]
            found[place] = found[place - 1]
            place -= 1
        longs[field.SCORE, place] = value
        found[place] = g
    return number


@inner
def gather(
    state: GroupedRows, work: PoolRoom, k: int, whole: bool, seed: int, found: Ints, number: int
) -> tuple[int, int]:
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
        size = np.int64(state.groups[field.SIZE, g])
        partly = not whole and ((state.cost[g] == 0 and i > 0) or size > room // field.LARGE_GROUP)
        give = size
        if partly:
            give = max(min(size - k, k + draw(state.random, k + 1), room // field.MOST_GIVEN, room - rows), 0)
        if rows + give > room:
            found[i] = -1
            continue
        if partly:
            ints[field.CORE, cores] = g
            copy_row(work.code, cores, state.code, g)
            longs[field.HAS, cores] = size - give
            longs[field.COSTS, cores] = state.cost[g]
            cores += 1
        seeded = i == 0 and partly
        if seeded:
            if give == 0:
                return 0, 0
            ints[field.POOL, rows] = seed
            rows += 1
            give -= 1
        row = state.groups[field.HEAD, g]
        while give > 0:
            if not seeded or row != seed:
                ints[field.POOL, rows] = row
                rows += 1
                give -= 1
            row = state.rows[field.AFTER, row]
    for i in range(1, rows):  # equal rows have neighbouring numbers
        row = ints[field.POOL, i]
        place = i
        while place > 0 and ints[field.POOL, place - 1] > row:
            ints[field.POOL, place] = ints[field.POOL, place - 1]
            place -= 1
        ints[field.POOL, place] = row
    return rows, cores
