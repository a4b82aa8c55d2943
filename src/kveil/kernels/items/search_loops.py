"""The compiled loops behind `search`: groups of people near each other are taken apart and put together anew."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Bools
from kveil.kernels.items.search_layout import (
    ALL,
    CANDIDATES,
    CLOSED,
    LEAST_LEAVING,
    LEAST_SPARED,
    LEAVING,
    MERGED,
    MOST_GROUPS,
    MOST_POOLED,
    MOST_SKIPPED,
    NEAR_SETS,
    OF_WORST_TRY,
    OPEN,
    PERCENT,
    PRICES,
    SEEDS,
    SWEEPS,
    TRIES_PER_LIST,
    TRUE,
    WALKS,
    WORST_TRY,
    ItemTree,
    NodeSets,
    SetSearch,
)
from kveil.kernels.items.set_join_loops import copy_set, join_sets, run_cost
from kveil.kernels.jit import door, inner
from kveil.kernels.random.draw_loops import draw


@inner
def list_near(tree: ItemTree, sets: NodeSets, search: SetSearch) -> int:
    """Choose a costly group as seed and list groups that lose little together with it; return how many, the seed first.

    Candidates show something below a node near one that the seed shows. The seed is all of its group, or one person.
    """
    random, groups = search.random, search.groups
    seed = -1
    person = -1
    for _ in range(SEEDS):
        p = draw(random, search.limits.people)
        g = search.people.group[p]
        if seed < 0 or groups.cost[g] * groups.size[seed] > groups.cost[seed] * groups.size[g]:
            seed, person = g, p
    if groups.cost[seed] == 0:
        return 0
    search.counts.stamp[0] += 1
    groups.seen[seed] = search.counts.stamp[0]
    row = search.limits.people + seed
    found = 0
    for _ in range(WALKS):
        node = np.int64(sets.node[sets.start[row] + draw(random, sets.length[row])])
        higher = draw(random, 2)
        while tree.parent[node] >= 0 and (
            higher > 0 or WALKS * (search.below_start[node + 1] - search.below_start[node]) < CANDIDATES
        ):
            node = np.int64(tree.parent[node])
            higher -= 1
        number = search.below_start[node + 1] - search.below_start[node]
        offset = draw(random, max(number, 1))
        for i in range(min(number, CANDIDATES // WALKS)):
            g = np.int64(search.below[search.below_start[node] + (offset + i) % number])
            if groups.seen[g] != search.counts.stamp[0] and groups.size[g] > 0:
                groups.seen[g] = search.counts.stamp[0]
                search.pool.listed[found] = g
                found += 1
    # percent of the cost apart that do not count
    spared = LEAST_SPARED + draw(random, ALL + 1 - LEAST_SPARED)
    one = draw(random, 2) == 0
    scratch = len(sets.length) - 1
    for i in range(found):
        g = search.pool.listed[i]
        centre = person if one else row
        apart = groups.cost[g] + (0 if one else groups.cost[seed])
        size = groups.size[g] + (1 if one else groups.size[seed])
        together = join_sets(tree, sets, centre, search.limits.people + g, scratch, TRUE, search.stack)
        search.score[i] = (together - PERCENT * spared * apart) / size
    search.near[0] = seed
    listed = 1
    while listed < min(NEAR_SETS, found + 1):
        best = -1
        for i in range(found):
            if search.pool.listed[i] >= 0 and (best < 0 or search.score[i] < search.score[best]):
                best = i
        search.near[listed] = search.pool.listed[best]
        search.pool.listed[best] = -1
        listed += 1
    return listed


@inner
def take_apart(tree: ItemTree, sets: NodeSets, search: SetSearch, near: int) -> tuple[int, int, int]:
    """Take some of the groups that are near apart into units: single people, or those of a group who stay together.

    Returns how many groups were taken, how many units there are, and what the groups cost.
    """
    random, pool, groups = search.random, search.pool, search.groups
    wanted = 2 + draw(random, MOST_GROUPS - 1)
    skipped = draw(random, MOST_SKIPPED)
    leaving = ALL
    if draw(random, 2) == 0:
        leaving = LEAST_LEAVING + draw(random, LEAVING)
    units = search.limits.people + search.limits.groups
    scratch = len(sets.length) - 1
    taken, people, number, cost = 0, 0, 0, 0
    for n in range(near):
        g = search.near[n]
        size = groups.size[g]
        if size == 0 or people + size > MOST_POOLED or (n > 0 and draw(random, ALL) < skipped):
            if n == 0:
                break
            continue
        pool.taken[taken] = g
        taken += 1
        cost += groups.cost[g]
        staying = -1
        p = groups.head[g]
        while p >= 0:
            pool.who[people] = p
            if staying >= 0 and draw(random, ALL) >= leaving:
                join_sets(tree, sets, units + staying, p, scratch, TRUE, search.stack)
                copy_set(sets, scratch, units + staying)
                pool.after[people] = pool.first[staying]
                pool.first[staying] = people
                pool.members[staying] += 1
            else:
                copy_set(sets, p, units + number)
                pool.after[people] = -1
                pool.first[number], pool.members[number] = people, 1
                if staying < 0 and leaving < ALL:
                    staying = number
                number += 1
            people += 1
            p = search.people.after[p]
        if taken == wanted:
            break
    return taken, number, cost


@inner
def unite(tree: ItemTree, sets: NodeSets, search: SetSearch, unit: int, other: int, price: int) -> None:
    """Put the members of another unit into a unit; its sets are joined."""
    pool = search.pool
    row = search.limits.people + search.limits.groups
    scratch = len(sets.length) - 1
    cost = join_sets(tree, sets, row + unit, row + other, scratch, price, search.stack)
    copy_set(sets, scratch, row + unit)
    pool.price[unit] = cost
    pool.members[unit] += pool.members[other]
    last = pool.first[other]
    while pool.after[last] >= 0:
        last = pool.after[last]
    pool.after[last] = pool.first[unit]
    pool.first[unit] = pool.first[other]
    pool.kind[other] = MERGED


@inner
def weigh_item_pairs(tree: ItemTree, sets: NodeSets, search: SetSearch, unit: int, end: int) -> None:
    """Write what a unit would lose together with each open one before ``end``, per member."""
    pool = search.pool
    row = search.limits.people + search.limits.groups
    for u in range(end):
        if u != unit and pool.kind[u] == OPEN:
            together = join_sets(tree, sets, row + unit, row + u, len(sets.length) - 1, PRICES, search.stack)
            worse = together - pool.price[unit] - pool.price[u]
            search.value[max(unit, u), min(unit, u)] = worse / (pool.members[unit] + pool.members[u])


@inner
def put_together(tree: ItemTree, sets: NodeSets, search: SetSearch, units: int) -> bool:
    """Merge the units that lose least together until each has k members; tell whether there are groups at all.

    Merging goes by the prices of the round. Who is left joins, one by one, where the true cost rises least.
    """
    pool, k = search.pool, search.limits.k
    row = search.limits.people + search.limits.groups
    scratch = len(sets.length) - 1
    for u in range(units):
        begin = sets.start[row + u]
        pool.price[u] = run_cost(tree, sets, begin, begin + sets.length[row + u], PRICES)
        pool.kind[u] = CLOSED if pool.members[u] >= k else OPEN
        if pool.kind[u] == OPEN:
            weigh_item_pairs(tree, sets, search, u, u)
    left = -1
    for _ in range(units):  # two units become one in every turn but the last
        one = other = -1
        for u in range(units):
            if pool.kind[u] == OPEN:
                left = u
                for v in range(u):
                    if pool.kind[v] == OPEN and (one < 0 or search.value[u, v] < search.value[one, other]):
                        one, other = u, v
        if one < 0:
            break
        unite(tree, sets, search, other, one, PRICES)
        left = -1
        if pool.members[other] >= k:
            pool.kind[other] = CLOSED
        else:
            weigh_item_pairs(tree, sets, search, other, units)
    closed = False
    for u in range(units):
        if pool.kind[u] == CLOSED:
            closed = True
            begin = sets.start[row + u]
            pool.true_cost[u] = run_cost(tree, sets, begin, begin + sets.length[row + u], TRUE)
    if left < 0 or not closed:
        return closed
    pool.kind[left] = MERGED
    place = pool.first[left]
    while place >= 0:
        after = pool.after[place]
        best = cheapest_group(tree, sets, search, units, -1, pool.who[place])
        move_in(tree, sets, search, best, place, scratch)
        place = after
    return True


@inner
def cheapest_group(tree: ItemTree, sets: NodeSets, search: SetSearch, units: int, but: int, person: int) -> int:
    """Return the group of the pool, not ``but``, whose cost rises least with a person; ``PRICE`` is by how much."""
    row = search.limits.people + search.limits.groups
    best = -1
    for u in range(units):
        if u != but and search.pool.kind[u] == CLOSED:
            cost = join_sets(tree, sets, row + u, person, len(sets.length) - 1, TRUE, search.stack)
            search.pool.price[u] = cost - search.pool.true_cost[u]
            if best < 0 or search.pool.price[u] < search.pool.price[best]:
                best = u
    return best


@inner
def move_in(tree: ItemTree, sets: NodeSets, search: SetSearch, unit: int, place: int, scratch: int) -> None:
    """Put the person at a place into a unit."""
    pool = search.pool
    row = search.limits.people + search.limits.groups + unit
    pool.true_cost[unit] = join_sets(tree, sets, row, pool.who[place], scratch, TRUE, search.stack)
    copy_set(sets, scratch, row)
    pool.after[place] = pool.first[unit]
    pool.first[unit] = place
    pool.members[unit] += 1


@inner
def move_best(tree: ItemTree, sets: NodeSets, search: SetSearch, units: int, unit: int) -> bool:
    """Move the member of a unit above k to where that gains most; tell whether any gains.

    What the unit would show without each member is joined from those before it and those behind it.
    """
    pool = search.pool
    row = search.limits.people + search.limits.groups
    behind, scratch = row + MOST_POOLED, len(sets.length) - 1
    before = scratch - 1
    members = 0
    place = pool.first[unit]
    while place >= 0:
        pool.listed[members] = place
        members += 1
        place = pool.after[place]
    copy_set(sets, pool.who[pool.listed[members - 1]], behind + members - 1)
    for m in range(members - 2, 0, -1):
        person = pool.who[pool.listed[m]]
        join_sets(tree, sets, behind + m + 1, person, behind + m, TRUE, search.stack)
    chosen, into, most = -1, -1, 0
    for m in range(members):
        person = pool.who[pool.listed[m]]
        rest = before if m == members - 1 else behind + 1
        if 0 < m < members - 1:
            rest = scratch
            join_sets(tree, sets, before, behind + m + 1, scratch, TRUE, search.stack)
        begin = sets.start[rest]
        spared = pool.true_cost[unit] - run_cost(tree, sets, begin, begin + sets.length[rest], TRUE)
        if spared > most:
            to = cheapest_group(tree, sets, search, units, unit, person)
            if to >= 0 and spared - pool.price[to] > most:
                chosen, into, most = m, to, spared - pool.price[to]
        if m == 0:
            copy_set(sets, person, before)
        else:
            join_sets(tree, sets, before, person, scratch, TRUE, search.stack)
            copy_set(sets, scratch, before)
    if chosen < 0:
        return False
    pool.first[unit] = -1
    pool.members[unit] = 0
    for m in range(members):
        place = pool.listed[m]
        if m == chosen:
            move_in(tree, sets, search, into, place, scratch)
        elif pool.members[unit] == 0:
            copy_set(sets, pool.who[place], row + unit)
            begin = sets.start[row + unit]
            cost = run_cost(tree, sets, begin, begin + sets.length[row + unit], TRUE)
            pool.true_cost[unit] = cost  # also where nobody else is left
            pool.first[unit], pool.after[place], pool.members[unit] = place, -1, 1
        else:
            move_in(tree, sets, search, unit, place, scratch)
    return True


@inner
def items_pool_cost(search: SetSearch, units: int) -> int:
    """Return what the groups of the pool cost."""
    total = 0
    for u in range(units):
        if search.pool.kind[u] == CLOSED:
            total += search.pool.true_cost[u]
    return total


@inner
def keep(sets: NodeSets, search: SetSearch, taken: int, units: int) -> None:
    """Put the groups of the pool in the place of those that were taken apart."""
    pool, groups = search.pool, search.groups
    row = search.limits.people + search.limits.groups
    for t in range(taken):
        groups.size[pool.taken[t]] = 0
        groups.cost[pool.taken[t]] = 0
    used = 0
    for u in range(units):
        if pool.kind[u] != CLOSED:
            continue
        if used < taken:
            g = pool.taken[used]
            used += 1
        else:
            g = search.counts.used[0]
            search.counts.used[0] += 1
        copy_set(sets, row + u, search.limits.people + g)
        groups.head[g], groups.size[g] = -1, pool.members[u]
        groups.cost[g] = pool.true_cost[u]
        place = pool.first[u]
        while place >= 0:
            person = pool.who[place]
            search.people.group[person] = g
            search.people.after[person] = groups.head[g]
            groups.head[g] = person
            place = pool.after[place]


@door
def search_sets(tree: ItemTree, sets: NodeSets, search: SetSearch, tries: int, halt: Bools) -> None:
    """Make so many tries: take groups near each other apart, put them together anew, keep what costs no more."""
    pool = search.pool
    near = 0
    left = 0
    for _ in range(tries):
        if halt[0]:
            break
        if left == 0:
            near = list_near(tree, sets, search)
            left = TRIES_PER_LIST
        left -= 1
        search.counts.tries[0] += 1
        if near < 2:
            left = 0
            continue
        taken, units, before = take_apart(tree, sets, search, near)
        if taken < 2 or not put_together(tree, sets, search, units):
            continue
        if OF_WORST_TRY * items_pool_cost(search, units) > WORST_TRY * before:
            continue
        for _ in range(SWEEPS):
            moved = False
            for u in range(units):
                if pool.kind[u] == CLOSED and pool.members[u] > search.limits.k and pool.true_cost[u] > 0:
                    moved = move_best(tree, sets, search, units, u) or moved
            if not moved:
                break
        after = items_pool_cost(search, units)
        if after <= before and search.counts.used[0] + units <= search.limits.groups:
            keep(sets, search, taken, units)
            if after < before:
                search.counts.kept[0] += 1
                left = 0
