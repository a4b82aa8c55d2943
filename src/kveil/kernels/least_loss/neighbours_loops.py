"""The compiled loops behind `neighbours`; importing this module imports Numba.

Few arrays with many fields instead of many arrays: every array that a function takes adds to its compile time.
"""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.jit import door, inner
from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss.groups_layout import Codes, GroupedRows, PoolRoom
from kveil.kernels.least_loss.join_loops import copy_row, cover_cost, cover_vector, shows_nothing, vector_cost
from kveil.kernels.least_loss.moves_loops import polish
from kveil.kernels.least_loss.neighbourhood_loops import choose, costly_row, gather, nearest
from kveil.kernels.least_loss.rebuild_loops import group_allowed, pool_cost, rebuild
from kveil.kernels.models.layout import Models
from kveil.kernels.random.draw_loops import draw


@inner
def leave_group(state: GroupedRows, row: int) -> None:
    """Take a row out of its group; an empty group's number becomes free."""
    g = state.rows[field.GROUP, row]
    ahead, behind = state.rows[field.BEFORE, row], state.rows[field.AFTER, row]
    if ahead >= 0:
        state.rows[field.AFTER, ahead] = behind
    else:
        state.groups[field.HEAD, g] = behind
    if behind >= 0:
        state.rows[field.BEFORE, behind] = ahead
    state.groups[field.SIZE, g] -= 1
    if state.groups[field.SIZE, g] == 0:
        last = state.groups[field.ALIVE, state.counts[field.IN_USE] - 1]
        state.groups[field.ALIVE, state.groups[field.PLACE, g]] = last
        state.groups[field.PLACE, last] = state.groups[field.PLACE, g]
        state.counts[field.IN_USE] -= 1
        state.groups[field.FREE, state.counts[field.UNUSED]] = g
        state.counts[field.UNUSED] += 1


@inner
def enter_group(state: GroupedRows, row: int, g: int) -> None:
    """Put a row into a group."""
    first = state.groups[field.HEAD, g]
    state.rows[field.AFTER, row] = first
    state.rows[field.BEFORE, row] = -1
    if first >= 0:
        state.rows[field.BEFORE, first] = row
    state.groups[field.HEAD, g] = row
    state.rows[field.GROUP, row] = g
    state.groups[field.SIZE, g] += 1


@inner
def new_group(state: GroupedRows) -> int:
    """Return the number of a new empty group."""
    state.counts[field.UNUSED] -= 1
    g = state.groups[field.FREE, state.counts[field.UNUSED]]
    state.groups[field.HEAD, g] = -1
    state.groups[field.SIZE, g] = 0
    state.groups[field.PLACE, g] = state.counts[field.IN_USE]
    state.groups[field.ALIVE, state.counts[field.IN_USE]] = g
    state.counts[field.IN_USE] += 1
    return g


@inner
def tighten(state: GroupedRows, codes: Codes, g: int) -> int:
    """Let a group show what covers its rows and no more; return by how much its cost fell."""
    row = state.groups[field.HEAD, g]
    before = state.cost[g]
    copy_row(state.code, g, state.base, row)
    cost = vector_cost(codes, state.code, g)
    row = state.rows[field.AFTER, row]
    while row >= 0:
        cost = cover_vector(codes, state.code, g, state.base, row)
        row = state.rows[field.AFTER, row]
    state.cost[g] = cost
    return (before - cost) * state.groups[field.SIZE, g]


@door
def fill_groups(state: GroupedRows, codes: Codes, part: Ints, groups: int) -> int:
    """Put every row into its part's group; return what all cost together."""
    for _ in range(groups):
        new_group(state)
    for row in range(len(part) - 1, -1, -1):
        enter_group(state, row, part[row])
    total = np.int64(0)
    for g in range(groups):
        tighten(state, codes, g)
        total += state.cost[g] * state.groups[field.SIZE, g]
    return total


@inner
def splice(state: GroupedRows, codes: Codes, work: PoolRoom, rows: int, groups: int) -> int:
    """Put the pool's new groups in the place of the old ones; return what tightening them gained on top."""
    ints, longs = work.ints, work.longs
    for at in range(rows):
        leave_group(state, ints[field.POOL, at])
    for g in range(groups):
        if longs[field.HAS, g] == 0:
            continue
        if ints[field.CORE, g] < 0:
            ints[field.CORE, g] = new_group(state)
        copy_row(state.code, ints[field.CORE, g], work.code, g)
        state.cost[ints[field.CORE, g]] = longs[field.COSTS, g]
    for at in range(rows):
        enter_group(state, ints[field.POOL, at], ints[field.CORE, ints[field.OF, at]])
    gained = np.int64(0)
    for g in range(groups):
        if longs[field.HAS, g] > 0 and longs[field.COSTS, g] > 0:
            gained += tighten(state, codes, ints[field.CORE, g])
    return gained


@inner
def hides_a_group(codes: Codes, work: PoolRoom, groups: int) -> bool:
    """Tell whether some group would show `*` everywhere."""
    found = False
    for g in range(groups):
        found |= work.longs[field.HAS, g] > 0 and shows_nothing(codes, work.code, g)
    return found


@inner
def may_cost(state: GroupedRows, noise: Longs) -> int:
    """Draw how much dearer a try may end: mostly little, sometimes a few times the heat, never more than is spared."""
    heat, spare = state.counts[field.HEAT], state.counts[field.SPARE]
    if heat == 0 or spare <= 0:
        return 0
    slack = noise[field.SLACKS, draw(state.random, noise.shape[1])]
    return min((heat * slack) >> field.NOISE_BITS, spare)


@inner
def try_once(
    state: GroupedRows, codes: Codes, models: Models, work: PoolRoom, noise: Longs, k: int, hides: bool, costly: int,
    chosen: Ints, number: int,
) -> int:  # fmt: skip
    """Take chosen groups apart and put them together again; return how much was gained, `DROPPED` where not kept."""
    rows, cores = gather(state, work, k, len(models.needs.kind) > 0, costly, chosen, number)
    if rows < 2:
        return field.DROPPED
    old = np.int64(0)
    for i in range(number):
        if chosen[i] >= 0:
            old += state.groups[field.SIZE, chosen[i]] * state.cost[chosen[i]]
    for a in range(state.base.shape[1]):
        work.longs[field.NOISE, a] = noise[field.FACTORS, draw(state.random, noise.shape[1])]
    out = field.ALL_OUT
    if draw(state.random, field.WHOLLY_OF) >= field.WHOLLY:
        out = field.LEAST_OUT + draw(state.random, field.OUTS)
    groups = rebuild(state, codes, models, work, k, rows, cores, out)
    if groups == 0 or pool_cost(work, groups) * field.DROP_PARTS > old * field.DROP_ABOVE:
        return field.DROPPED
    for g in range(groups):
        if not group_allowed(models, work, k, field.OF, rows, g, -1, -1):
            return field.DROPPED
    polish(state, codes, models, work, k, rows, groups)
    new = pool_cost(work, groups)
    if (new > old and new - old > may_cost(state, noise)) or (hides and hides_a_group(codes, work, groups)):
        return field.DROPPED
    return old - new + splice(state, codes, work, rows, groups)


@door
def search_groups(
    state: GroupedRows, codes: Codes, models: Models, work: PoolRoom, noise: Longs, k: int, hides: bool, tries: int,
    most: int, near: Ints,
) -> int:  # fmt: skip
    """Search; see `neighbours.search`. A list of near groups serves a few tries, or until one of them gains."""
    gained = np.int64(0)
    costly, listed, left = -1, 0, 0
    for _ in range(tries):
        state.counts[field.TRIES] += 1
        if left == 0 or state.cost[state.rows[field.GROUP, costly]] == 0:
            costly = costly_row(state)
            if costly < 0:
                continue
            listed = nearest(state, codes, work, costly, k, near)
            left = field.LIST_TRIES
        left -= 1
        number = choose(state, costly, listed, most, near)
        more = try_once(state, codes, models, work, noise, k, hides, costly, near[field.CHOSEN], number)
        if more > field.DROPPED:
            gained += more
            state.counts[field.SPARE] += more
            state.counts[field.KEPT] += 1
        if more > 0:
            left = 0
    return gained


@door
def place_each(
    base: Ints, zone: Ints, state_zone: Ints, code: Ints, longs: Longs, most: int, codes: Codes, joined: Ints
) -> None:
    """Place rows; see `neighbours.place_rows`. ``longs`` has the groups' sizes and costs."""
    for row in range(base.shape[0]):
        best = -1
        least = np.int64(most)
        for g in range(code.shape[0]):
            if state_zone[g] == zone[row]:
                spent = longs[field.PLACED_COST, g] * longs[field.PLACED_SIZE, g]
                more = cover_cost(codes, code, g, base, row, longs[field.PLACED_SIZE, g] + 1, least + spent)
                if more < least + spent:
                    best, least = g, more - spent
        if best >= 0:
            longs[field.PLACED_COST, best] = cover_vector(codes, code, best, base, row)
            longs[field.PLACED_SIZE, best] += 1
            joined[row] = best
