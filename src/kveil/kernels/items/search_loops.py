"""The compiled loops behind `search`: groups of people near each other are taken apart and put together anew."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Bools
from kveil.kernels.items import search_layout as field
from kveil.kernels.items.search_layout import ItemTree, NodeSets, SetSearch
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
    for _ in range(field.SEEDS):
        p = draw(random, search.about[0])
        g = search.people[field.GROUP, p]
        if (
            seed < 0
            or groups[field.COST, g] * groups[field.SIZE, seed] > groups[field.COST, seed] * groups[field.SIZE, g]
        ):
            seed, person = g, p
    if groups[field.COST, seed] == 0:
        return 0
    search.counts[field.STAMP] += 1
    groups[field.SEEN, seed] = search.counts[field.STAMP]
    row = search.about[0] + seed
    found = 0
    for _ in range(field.WALKS):
        node = np.int64(sets.node[sets.start[row] + draw(random, sets.length[row])])
        higher = draw(random, 2)
        while tree.parent[node] >= 0 and (
            higher > 0 or field.WALKS * (search.below_start[node + 1] - search.below_start[node]) < field.CANDIDATES
        ):
            node = np.int64(tree.parent[node])
            higher -= 1
        number = search.below_start[node + 1] - search.below_start[node]
        offset = draw(random, max(number, 1))
        for i in range(min(number, field.CANDIDATES // field.WALKS)):
            g = np.int64(search.below[search.below_start[node] + (offset + i) % number])
            if groups[field.SEEN, g] != search.counts[field.STAMP] and groups[field.SIZE, g] > 0:
                groups[field.SEEN, g] = search.counts[field.STAMP]
                search.pool[field.LIST, found] = g
                found += 1
    # percent of the cost apart that do not count
    spared = field.LEAST_SPARED + draw(random, field.ALL + 1 - field.LEAST_SPARED)
    one = draw(random, 2) == 0
    scratch = len(sets.length) - 1
    for i in range(found):
        g = search.pool[field.LIST, i]
        centre = person if one else row
        apart = groups[field.COST, g] + (0 if one else groups[field.COST, seed])
        size = groups[field.SIZE, g] + (1 if one else groups[field.SIZE, seed])
        together = join_sets(tree, sets, centre, search.about[0] + g, scratch, field.TRUE, search.stack)
        search.score[i] = (together - field.PERCENT * spared * apart) / size
    search.near[0] = seed
    listed = 1
    while listed < min(field.NEAR, found + 1):
        best = -1
        for i in range(found):
            if search.pool[field.LIST, i] >= 0 and (best < 0 or search.score[i] < search.score[best]):
                best = i
        search.near[listed] = search.pool[field.LIST, best]
        search.pool[field.LIST, best] = -1
        listed += 1
    return listed


@inner
def take_apart(tree: ItemTree, sets: NodeSets, search: SetSearch, near: int) -> tuple[int, int, int]:
    """Take some of the groups that are near apart into units: single people, or those of a group who stay together.

    Returns how many groups were taken, how many units there are, and what the groups cost.
    """
    random, pool, groups = search.random, search.pool, search.groups
    wanted = 2 + draw(random, field.MOST_GROUPS - 1)
    skipped = draw(random, field.MOST_SKIPPED)
    leaving = field.ALL
    if draw(random, 2) == 0:
        leaving = field.LEAST_LEAVING + draw(random, field.LEAVING)
    units = search.about[0] + search.about[1]
    scratch = len(sets.length) - 1
    taken, people, number, cost = 0, 0, 0, 0
    for n in range(near):
        g = search.near[n]
        size = groups[field.SIZE, g]
        if size == 0 or people + size > field.MOST_POOLED or (n > 0 and draw(random, field.ALL) < skipped):
            if n == 0:
                break
            continue
        pool[field.TAKEN, taken] = g
        taken += 1
        cost += groups[field.COST, g]
        staying = -1
        p = groups[field.HEAD, g]
        while p >= 0:
            pool[field.WHO, people] = p
            if staying >= 0 and draw(random, field.ALL) >= leaving:
                join_sets(tree, sets, units + staying, p, scratch, field.TRUE, search.stack)
                copy_set(sets, scratch, units + staying)
                pool[field.AFTER, people] = pool[field.FIRST, staying]
                pool[field.FIRST, staying] = people
                pool[field.MEMBERS, staying] += 1
            else:
                copy_set(sets, p, units + number)
                pool[field.AFTER, people] = -1
                pool[field.FIRST, number], pool[field.MEMBERS, number] = people, 1
                if staying < 0 and leaving < field.ALL:
                    staying = number
                number += 1
            people += 1
            p = search.people[field.NEXT, p]
        if taken == wanted:
            break
    return taken, number, cost


@inner
def unite(tree: ItemTree, sets: NodeSets, search: SetSearch, unit: int, other: int, price: int) -> None:
    """Put the members of another unit into a unit; its sets are joined."""
    pool = search.pool
    row = search.about[0] + search.about[1]
    scratch = len(sets.length) - 1
    cost = join_sets(tree, sets, row + unit, row + other, scratch, price, search.stack)
    copy_set(sets, scratch, row + unit)
    pool[field.PRICE, unit] = cost
    pool[field.MEMBERS, unit] += pool[field.MEMBERS, other]
    last = pool[field.FIRST, other]
    while pool[field.AFTER, last] >= 0:
        last = pool[field.AFTER, last]
    pool[field.AFTER, last] = pool[field.FIRST, unit]
    pool[field.FIRST, unit] = pool[field.FIRST, other]
    pool[field.KIND, other] = field.GONE


@inner
def weigh_item_pairs(tree: ItemTree, sets: NodeSets, search: SetSearch, unit: int, end: int) -> None:
    """Write what a unit would lose together with each open one before ``end``, per member."""
    pool = search.pool
    row = search.about[0] + search.about[1]
    for u in range(end):
        if u != unit and pool[field.KIND, u] == field.OPEN:
            together = join_sets(tree, sets, row + unit, row + u, len(sets.length) - 1, field.PRICES, search.stack)
            worse = together - pool[field.PRICE, unit] - pool[field.PRICE, u]
            search.value[max(unit, u), min(unit, u)] = worse / (pool[field.MEMBERS, unit] + pool[field.MEMBERS, u])


@inner
def put_together(tree: ItemTree, sets: NodeSets, search: SetSearch, units: int) -> bool:
    """Merge the units that lose least together until each has k members; tell whether there are groups at all.

    Merging goes by the prices of the round. Who is left joins, one by one, where the true cost rises least.
    """
    pool, k = search.pool, search.about[2]
    row = search.about[0] + search.about[1]
    scratch = len(sets.length) - 1
    for u in range(units):
        begin = sets.start[row + u]
        pool[field.PRICE, u] = run_cost(tree, sets, begin, begin + sets.length[row + u], field.PRICES)
        pool[field.KIND, u] = field.CLOSED if pool[field.MEMBERS, u] >= k else field.OPEN
        if pool[field.KIND, u] == field.OPEN:
            weigh_item_pairs(tree, sets, search, u, u)
    left = -1
    for _ in range(units):  # two units become one in every turn but the last
        one = other = -1
        for u in range(units):
            if pool[field.KIND, u] == field.OPEN:
                left = u
                for v in range(u):
                    if pool[field.KIND, v] == field.OPEN and (one < 0 or search.value[u, v] < search.value[one, other]):
                        one, other = u, v
        if one < 0:
            break
        unite(tree, sets, search, other, one, field.PRICES)
        left = -1
        if pool[field.MEMBERS, other] >= k:
            pool[field.KIND, other] = field.CLOSED
        else:
            weigh_item_pairs(tree, sets, search, other, units)
    closed = False
    for u in range(units):
        if pool[field.KIND, u] == field.CLOSED:
            closed = True
            begin = sets.start[row + u]
            pool[field.TRUE_COST, u] = run_cost(tree, sets, begin, begin + sets.length[row + u], field.TRUE)
    if left < 0 or not closed:
        return closed
    pool[field.KIND, left] = field.GONE
    place = pool[field.FIRST, left]
    while place >= 0:
        after = pool[field.AFTER, place]
        best = cheapest_group(tree, sets, search, units, -1, pool[field.WHO, place])
        move_in(tree, sets, search, best, place, scratch)
        place = after
    return True


@inner
def cheapest_group(tree: ItemTree, sets: NodeSets, search: SetSearch, units: int, but: int, person: int) -> int:
    """Return the group of the pool, not ``but``, whose cost rises least with a person; ``PRICE`` is by how much."""
    row = search.about[0] + search.about[1]
    best = -1
    for u in range(units):
        if u != but and search.pool[field.KIND, u] == field.CLOSED:
            cost = join_sets(tree, sets, row + u, person, len(sets.length) - 1, field.TRUE, search.stack)
            search.pool[field.PRICE, u] = cost - search.pool[field.TRUE_COST, u]
            if best < 0 or search.pool[field.PRICE, u] < search.pool[field.PRICE, best]:
                best = u
    return best


@inner
def move_in(tree: ItemTree, sets: NodeSets, search: SetSearch, unit: int, place: int, scratch: int) -> None:
    """Put the person at a place into a unit."""
    pool = search.pool
    row = search.about[0] + search.about[1] + unit
    pool[field.TRUE_COST, unit] = join_sets(tree, sets, row, pool[field.WHO, place], scratch, field.TRUE, search.stack)
    copy_set(sets, scratch, row)
    pool[field.AFTER, place] = pool[field.FIRST, unit]
    pool[field.FIRST, unit] = place
    pool[field.MEMBERS, unit] += 1


@inner
def move_best(tree: ItemTree, sets: NodeSets, search: SetSearch, units: int, unit: int) -> bool:
    """Move the member of a unit above k to where that gains most; tell whether any gains.

    What the unit would show without each member is joined from those before it and those behind it.
    """
    pool = search.pool
    row = search.about[0] + search.about[1]
    behind, scratch = row + field.MOST_POOLED, len(sets.length) - 1
    before = scratch - 1
    members = 0
    place = pool[field.FIRST, unit]
    while place >= 0:
        pool[field.LIST, members] = place
        members += 1
        place = pool[field.AFTER, place]
    copy_set(sets, pool[field.WHO, pool[field.LIST, members - 1]], behind + members - 1)
    for m in range(members - 2, 0, -1):
        person = pool[field.WHO, pool[field.LIST, m]]
        join_sets(tree, sets, behind + m + 1, person, behind + m, field.TRUE, search.stack)
    chosen, into, most = -1, -1, 0
    for m in range(members):
        person = pool[field.WHO, pool[field.LIST, m]]
        rest = before if m == members - 1 else behind + 1
        if 0 < m < members - 1:
            rest = scratch
            join_sets(tree, sets, before, behind + m + 1, scratch, field.TRUE, search.stack)
        begin = sets.start[rest]
        spared = pool[field.TRUE_COST, unit] - run_cost(tree, sets, begin, begin + sets.length[rest], field.TRUE)
        if spared > most:
            to = cheapest_group(tree, sets, search, units, unit, person)
            if to >= 0 and spared - pool[field.PRICE, to] > most:
                chosen, into, most = m, to, spared - pool[field.PRICE, to]
        if m == 0:
            copy_set(sets, person, before)
        else:
            join_sets(tree, sets, before, person, scratch, field.TRUE, search.stack)
            copy_set(sets, scratch, before)
    if chosen < 0:
        return False
    pool[field.FIRST, unit] = -1
    pool[field.MEMBERS, unit] = 0
    for m in range(members):
        place = pool[field.LIST, m]
        if m == chosen:
            move_in(tree, sets, search, into, place, scratch)
        elif pool[field.MEMBERS, unit] == 0:
            copy_set(sets, pool[field.WHO, place], row + unit)
            begin = sets.start[row + unit]
            cost = run_cost(tree, sets, begin, begin + sets.length[row + unit], field.TRUE)
            pool[field.TRUE_COST, unit] = cost  # also where nobody else is left
            pool[field.FIRST, unit], pool[field.AFTER, place], pool[field.MEMBERS, unit] = place, -1, 1
        else:
            move_in(tree, sets, search, unit, place, scratch)
    return True


@inner
def items_pool_cost(search: SetSearch, units: int) -> int:
    """Return what the groups of the pool cost."""
    total = 0
    for u in range(units):
        if search.pool[field.KIND, u] == field.CLOSED:
            total += search.pool[field.TRUE_COST, u]
    return total


@inner
def keep(sets: NodeSets, search: SetSearch, taken: int, units: int) -> None:
    """Put the groups of the pool in the place of those that were taken apart."""
    pool, groups = search.pool, search.groups
    row = search.about[0] + search.about[1]
    for t in range(taken):
        groups[field.SIZE, pool[field.TAKEN, t]] = 0
        groups[field.COST, pool[field.TAKEN, t]] = 0
    used = 0
    for u in range(units):
        if pool[field.KIND, u] != field.CLOSED:
            continue
        if used < taken:
            g = pool[field.TAKEN, used]
            used += 1
        else:
            g = search.counts[field.USED]
            search.counts[field.USED] += 1
        copy_set(sets, row + u, search.about[0] + g)
        groups[field.HEAD, g], groups[field.SIZE, g] = -1, pool[field.MEMBERS, u]
        groups[field.COST, g] = pool[field.TRUE_COST, u]
        place = pool[field.FIRST, u]
        while place >= 0:
            person = pool[field.WHO, place]
            search.people[field.GROUP, person] = g
            search.people[field.NEXT, person] = groups[field.HEAD, g]
            groups[field.HEAD, g] = person
            place = pool[field.AFTER, place]


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
            left = field.TRIES_PER_LIST
        left -= 1
        search.counts[field.TRIES] += 1
        if near < 2:
            left = 0
            continue
        taken, units, before = take_apart(tree, sets, search, near)
        if taken < 2 or not put_together(tree, sets, search, units):
            continue
        if field.OF_WORST * items_pool_cost(search, units) > field.WORST * before:
            continue
        for _ in range(field.SWEEPS):
            moved = False
            for u in range(units):
                if (
                    pool[field.KIND, u] == field.CLOSED
                    and pool[field.MEMBERS, u] > search.about[2]
                    and pool[field.TRUE_COST, u] > 0
                ):
                    moved = move_best(tree, sets, search, units, u) or moved
            if not moved:
                break
        after = items_pool_cost(search, units)
        if after <= before and search.counts[field.USED] + units <= search.about[1]:
            keep(sets, search, taken, units)
            if after < before:
                search.counts[field.KEPT] += 1
                left = 0
