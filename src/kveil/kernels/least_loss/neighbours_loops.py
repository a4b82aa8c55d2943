"""The compiled loops behind `neighbours`; importing this module imports Numba.

Few arrays with many fields instead of many arrays: every array that a function takes adds to its compile time.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kveil.arrays import Ints, Longs
from kveil.kernels.least_loss.join_loops import copy_row, cover_cost, draw, inner, shows_nothing, take_in, vector_cost
from kveil.kernels.least_loss.moves_loops import polish
from kveil.kernels.least_loss.neighbourhood_loops import (
    CORE,
    COSTS,
    DROP_ABOVE,
    HAS,
    MOST_GROUPS,
    NOISE,
    OF,
    POOL,
    Work,
    gather,
    group_allowed,
    nearest,
    pool_cost,
    rebuild,
)
from kveil.kernels.least_loss.neighbours import (
    AFTER,
    ALIVE,
    BEFORE,
    FREE,
    GROUP,
    HEAD,
    PLACE,
    SIZE,
    Codes,
    Models,
    State,
)

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
