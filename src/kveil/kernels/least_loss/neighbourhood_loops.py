"""The compiled loops that choose a neighbourhood of groups and put their rows into a pool."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints
from kveil.kernels.jit import inner
from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss.groups_layout import Codes, GroupedRows, PoolRoom
from kveil.kernels.least_loss.join_loops import copy_row, cover_cost
from kveil.kernels.random.draw_loops import draw


@inner
def costly_row(state: GroupedRows) -> int:
    """Draw rows whose groups cost something, and return the one whose group costs most; -1 where none is found."""
    costly = -1
    for _ in range(field.SEEDS):
        row = -1
        for _ in range(field.SEED_DRAWS):
            row = draw(state.random, state.base.shape[0])
            if state.cost[state.rows[field.GROUP, row]] > 0:
                break
        if state.cost[state.rows[field.GROUP, row]] == 0:
            break
        if costly < 0 or state.cost[state.rows[field.GROUP, row]] > state.cost[state.rows[field.GROUP, costly]]:
            costly = row
    return costly


@inner
def nearest(state: GroupedRows, codes: Codes, work: PoolRoom, costly: int, k: int, near: Ints) -> int:
    """List the groups nearest to a row or to its group, which is not among them; return how many."""
    own = state.rows[field.GROUP, costly]
    zone = state.rows[field.ZONE, costly]
    width = state.base.shape[1]
    by_group = draw(state.random, field.CENTRE_OF) < field.CENTRE_IS_GROUP
    credit = field.LEAST_CREDIT + draw(state.random, field.CREDITS)
    salt = np.uint64(draw(state.random, 1 << 30)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(1)
    every_small = True
    centre, longs, groups, code, table = work.run, work.longs, state.groups, state.code, codes.longs
    for a in range(width):
        centre[0, a] = code[own, a] if by_group else state.base[costly, a]
        every_small &= codes.about[a, field.KIND] == field.SMALL
        longs[field.OFFSET, a] = codes.about[a, field.LEAF_AT] + np.int64(centre[0, a]) * codes.about[a, field.WIDTH]
    number = 0
    most = np.int64(1) << 62
    costs, in_use = state.cost, state.counts[field.IN_USE]
    for at in range(in_use):
        g = groups[field.ALIVE, at]
        cost = costs[np.uint64(g)]
        if g == own:
            continue
        if cost == 0 and groups[field.SIZE, g] <= k:
            chance = ((np.uint64(g) + np.uint64(1)) * salt) >> np.uint64(field.CHANCE_SHIFT)
            if chance < np.uint64(field.SKIP_EXACT):
                continue
        value = -credit * cost
        if every_small:
            covered = np.int64(0)  # of all attributes: to stop in between costs more than it saves
            for a in range(width):
                covered += table[np.uint64(longs[field.OFFSET, a] + code[np.uint64(g), a])]
            value += covered << field.NOISE_BITS
        else:
            value += cover_cost(codes, centre, 0, code, g, 1 << field.NOISE_BITS, most - value)
        if value >= most or state.rows[field.ZONE, groups[field.HEAD, g]] != zone:
            continue
        if number < field.NEAR_GROUPS:
            number += 1
        place = number - 1
        while place > 0 and longs[field.SCORE, place - 1] > value:
            longs[field.SCORE, place] = longs[field.SCORE, place - 1]
            near[field.LISTED, place] = near[field.LISTED, place - 1]
            place -= 1
        longs[field.SCORE, place] = value
        near[field.LISTED, place] = g
        if number == field.NEAR_GROUPS:
            most = longs[field.SCORE, number - 1]
    return number


@inner
def choose(state: GroupedRows, costly: int, listed: int, most: int, near: Ints) -> int:
    """Choose the row's group and some of the groups listed, ``most`` together; return how many.

    They come in their order, nearest first, some passed over for variety.
    Groups that are gone since they were listed are left out.
    """
    wanted = 2 + draw(state.random, most - 1)
    skip = draw(state.random, field.MOST_SKIPPED + 1)
    chosen = near[field.CHOSEN]
    chosen[0] = state.rows[field.GROUP, costly]
    number = 1
    for i in range(listed):
        g = near[field.LISTED, i]
        if number == wanted:
            break
        if state.groups[field.SIZE, g] > 0 and g != chosen[0] and draw(state.random, field.CHANCES) >= skip:
            chosen[number] = g
            number += 1
    return number


@inner
def gather(
    state: GroupedRows, work: PoolRoom, k: int, whole: bool, costly: int, found: Ints, number: int
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
        with_costly = i == 0 and partly
        if with_costly:
            if give == 0:
                return 0, 0
            ints[field.POOL, rows] = costly
            rows += 1
            give -= 1
        row = state.groups[field.HEAD, g]
        while give > 0:
            if not with_costly or row != costly:
                ints[field.POOL, rows] = row
                rows += 1
                give -= 1
            row = state.rows[field.AFTER, row]
    # Equal rows have neighbouring numbers. `sort_pairs` takes about twice as long for as few as a pool has: of 12 rows
    # 46 ns for 24, of 60 about 1,100 for 460, of 120 about 3,000 for 1,750.
    for i in range(1, rows):
        row = ints[field.POOL, i]
        place = i
        while place > 0 and ints[field.POOL, place - 1] > row:
            ints[field.POOL, place] = ints[field.POOL, place - 1]
            place -= 1
        ints[field.POOL, place] = row
    return rows, cores
