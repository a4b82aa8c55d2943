"""The compiled loops behind tries of `overlaps`: a row aims at something cheaper, what that breaks is repaired."""

from __future__ import annotations

import numpy as np
from numba import njit

from kveil.arrays import Ints
from kveil.kernels.least_loss.join_loops import draw
from kveil.kernels.least_loss.neighbours import Models
from kveil.kernels.least_loss.overlaps import (
    ACTIVE,
    AFTER,
    DEPTH,
    FIRST,
    HEAD,
    JOURNAL,
    KEPT,
    LAST,
    MOST_STEPS,
    OF,
    PARENT,
    QUEUE,
    SIZE,
    TOTAL,
    TRIES,
    UNIT,
    WAITS,
    WORK,
    Rules,
    State,
    Trees,
    Work,
)
from kveil.kernels.least_loss.overlaps_loops import (
    class_holds,
    class_of,
    covers,
    forget_waiting,
    inner,
    may_rise,
    may_show,
    place,
    purge,
    put_out,
    shows_nothing,
    vector_cost,
)

FAR = 1 << 60
MOST_SEEN = 1_000  # rows that are looked at for one that could help
AROUND = 200  # rows that are looked at for one to be like
KINDS = 12
MOST_REPAIRS = 20  # classes that one try may repair
MOST_WORK = 50_000  # looks at rows that one try may take


@inner
def step(state: State, trees: Trees, rules: Rules, work: Work, row: int, vector: Ints) -> bool:
    """Let a row show a vector, and write that down; False where the journal is full."""
    at = state.counts[JOURNAL]
    if at >= MOST_STEPS:
        return False
    work.journal[0, at] = row
    work.journal[1, at] = state.out[row]
    for a in range(len(vector)):
        work.before[at, a] = state.nodes[row, a]
    state.counts[JOURNAL] += 1
    place(state, trees, rules, work, row, vector)
    return True


@inner
def take_back(state: State, trees: Trees, rules: Rules, work: Work) -> None:
    """Undo everything in the journal."""
    for at in range(state.counts[JOURNAL] - 1, -1, -1):
        row = work.journal[0, at]
        if work.journal[1, at] == 1:
            put_out(state, trees, rules, work, row)
            for a in range(state.nodes.shape[1]):
                state.nodes[row, a] = work.before[at, a]
        else:
            place(state, trees, rules, work, row, work.before[at])


@inner
def first_from(cells: Ints, number: int, leaf: int) -> int:
    """Return the first place at which rows have a leaf or one behind it."""
    low, high = 0, number
    while low < high:
        middle = (low + high) // 2
        if cells[middle, 1] < leaf:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def cover(trees: Trees, a: int, node: int, other: int) -> int:
    """Return the lowest node over two of an attribute, -1 where there is none: spans have nothing above them."""
    at = trees.at[a]
    while not covers(trees, a, node, other):
        parent = trees.ints[PARENT, at + node]
        if parent == node:
            return -1
        node = parent
    return node


@inner
def look_around(
    state: State, trees: Trees, rules: Rules, work: Work, row: int, c: int, kind: int, vector: Ints
) -> None:
    """Write what a row would show like another one: all that one shows, or what covers both under a constraint."""
    own = work.vectors[1]
    width = len(vector)
    whole = kind % 2 == 0
    shown = kind >= 10
    begin, end = (0, width) if whole else (rules.start[c], rules.start[c + 1])
    least = np.int64(0)
    for i in range(begin, end):
        a = i if whole else rules.attribute[i]
        least += trees.cost[trees.at[a] + state.nodes[row, a]]
    if state.out[row] == 1:
        least = np.int64(FAR)
    cells = work.active[c]
    count = state.counts[ACTIVE]
    lead = rules.attribute[rules.start[c]]
    near = first_from(cells, count, trees.ints[FIRST, trees.at[lead] + state.base[row, lead]])
    for turn in range(AROUND):
        other = cells[draw(state.random, count) if turn % 2 else (near + turn // 2) % count, 0]
        if other == row or (shown and state.out[other] == 1):
            continue
        value = np.int64(0)
        for i in range(begin, end):
            a = i if whole else rules.attribute[i]
            node = state.nodes[other, a] if shown else state.base[other, a]
            if not covers(trees, a, node, state.base[row, a]):
                if shown:
                    value = np.int64(FAR)
                    break
                node = cover(trees, a, state.base[row, a], node)
                if node < 0:
                    value = np.int64(FAR)
                    break
            own[a] = node
            value += trees.cost[trees.at[a] + node]
            if value >= least or not may_show(state, trees, row, a, node):
                value = np.int64(FAR)
                break
        if value < least:
            least = value
            for i in range(begin, end):
                a = i if whole else rules.attribute[i]
                vector[a] = own[a]


@inner
def aim(state: State, trees: Trees, rules: Rules, work: Work, row: int, vector: Ints) -> int:
    """Write a vector that a row would rather show; return a constraint that it changes."""
    width = len(vector)
    for a in range(width):
        vector[a] = state.nodes[row, a]
    sets = len(rules.k)
    c = draw(state.random, sets)
    for _ in range(sets):  # one whose attributes cost something
        dear = False
        for i in range(rules.start[c], rules.start[c + 1]):
            a = rules.attribute[i]
            if state.nodes[row, a] != state.base[row, a]:
                dear = True
        if dear:
            break
        c = (c + 1) % sets
    kind = draw(state.random, KINDS)
    if kind >= 8:
        look_around(state, trees, rules, work, row, c, kind, vector)
    elif kind == 0:  # everything as it is
        for a in range(width):
            vector[a] = state.base[row, a]
    elif kind <= 3:  # all attributes of a constraint, each somewhere lower
        for i in range(rules.start[c], rules.start[c + 1]):
            a = rules.attribute[i]
            vector[a] = lower(state, trees, row, a, kind != 1)
    else:
        number = rules.start[c + 1] - rules.start[c]
        i = draw(state.random, number)
        for _ in range(number):
            a = rules.attribute[rules.start[c] + i]
            if state.nodes[row, a] != state.base[row, a]:
                break
            i = (i + 1) % number
        a = rules.attribute[rules.start[c] + i]
        vector[a] = lower(state, trees, row, a, True)
        if vector[a] == state.nodes[row, a]:
            vector[a] = state.base[row, a]
        if kind == 7:  # and another one higher
            b = rules.attribute[rules.start[c] + draw(state.random, number)]
            if b != a and may_rise(state, trees, row, b, vector[b]):
                vector[b] = trees.ints[PARENT, trees.at[b] + vector[b]]
    return c


@inner
def lower(state: State, trees: Trees, row: int, a: int, by_chance: bool) -> int:
    """Return a node between what a row shows and what it is."""
    at = trees.at[a]
    node, shown = state.base[row, a], state.nodes[row, a]
    if by_chance:
        steps = trees.ints[DEPTH, at + node] - trees.ints[DEPTH, at + shown]
        for _ in range(draw(state.random, steps + 1) if steps else 0):
            node = trees.ints[PARENT, at + node]
    return node


@inner
def begin(state: State, trees: Trees, rules: Rules, work: Work, seed: int, c: int, hides: bool) -> bool:
    """Move a row to what it aims at, with all of its class that can show the same; tell whether that is possible."""
    vector, own = work.vectors[0], work.vectors[1]
    if hides and shows_nothing(trees, vector):
        return False
    width = len(vector)
    was = work.vectors[2]
    same = state.out[seed] == 0
    for a in range(width):
        was[a] = state.nodes[seed, a]
        same = same and was[a] == vector[a]
    if same:
        return False
    g = state.rows[c, OF, seed]
    if not step(state, trees, rules, work, seed, vector):
        return False
    if g < 0:
        return True
    row = state.classes[c, HEAD, g]
    seen = 0
    while row >= 0 and seen < MOST_STEPS:
        following = state.rows[c, AFTER, row]
        seen += 1
        able = True
        for a in range(width):
            own[a] = state.nodes[row, a]
            if vector[a] != was[a]:
                if own[a] != was[a] or not may_show(state, trees, row, a, vector[a]):
                    able = False
                    break
                own[a] = vector[a]
        if able and not (hides and shows_nothing(trees, own)) and not step(state, trees, rules, work, row, own):
            return False
        row = following
    state.counts[WORK] += seen
    return True


@inner
def strain(state: State, rules: Rules, row: int, vector: Ints, besides: int) -> int:
    """Return how many rows would be lacking elsewhere if a row showed a vector: in what it enters and leaves."""
    lacking = np.int64(0)
    for c in range(len(rules.k)):
        if c == besides:
            continue
        of = state.rows[c, OF, row]
        to = class_of(state, rules, c, vector, False)
        if to == of and of >= 0:
            continue
        has = state.classes[c, SIZE, to] if to >= 0 else 0
        lacking += max(rules.k[c] - has - 1, 0)
        if of >= 0 and state.classes[c, SIZE, of] <= rules.k[c] and state.classes[c, SIZE, of] > 1:
            lacking += 1
    return lacking


@inner
def extra_cost(state: State, trees: Trees, rules: Rules, c: int, g: int, row: int) -> int:
    """Return what a row would cost more in a class of a constraint, FAR where it may not show what that shows."""
    start = rules.start[c]
    value = np.int64(0)
    for i in range(start, rules.start[c + 1]):
        a = rules.attribute[i]
        at = trees.at[a]
        node = state.projection[c, g, i - start]
        if not may_show(state, trees, row, a, node):
            return np.int64(FAR)
        value += trees.cost[at + node] - trees.cost[at + state.nodes[row, a]]
    if state.out[row] == 1:
        for a in range(len(trees.at)):
            value += trees.cost[trees.at[a] + state.nodes[row, a]]
        value -= state.cost[row]
    return value


@inner
def join(state: State, rules: Rules, c: int, g: int, row: int, vector: Ints) -> None:
    """Write what a row would show in a class of a constraint."""
    start = rules.start[c]
    for a in range(len(vector)):
        vector[a] = state.nodes[row, a]
    for i in range(start, rules.start[c + 1]):
        vector[rules.attribute[i]] = state.projection[c, g, i - start]


@inner
def find_help(
    state: State, trees: Trees, rules: Rules, work: Work, c: int, g: int, lack: int, most: int, hides: bool
) -> int:
    """Find rows that could join a class at the least cost; return what they cost, FAR where there are too few.

    They stand in ``picked[0]``, the cheapest first.
    """
    vector = work.vectors[1]
    found = 0
    worst = most + 1
    least = np.int64(0)  # what the class costs a row that costs nothing yet
    first, last = work.vectors[2], work.vectors[3]
    own = rules.start[c + 1] - rules.start[c]
    for i in range(own):
        node = trees.at[rules.attribute[rules.start[c] + i]] + state.projection[c, g, i]
        first[i], last[i] = trees.ints[FIRST, node], trees.ints[LAST, node]
        least += trees.cost[node]
    for turn in range(2):  # rows that cost something, then all
        cells = work.active[c] if turn == 0 else rules.order[c]
        count = state.counts[ACTIVE] if turn == 0 else len(cells)
        left, right = first_from(cells, count, first[0]), first_from(cells, count, last[0] + 1)
        number = right - left
        if number == 0:
            continue
        spot = left + draw(state.random, number)
        state.counts[WORK] += min(number, MOST_SEEN)
        for _ in range(min(number, MOST_SEEN)):
            if turn == 1 and found == lack and worst <= least:
                break
            at = spot
            spot = spot + 1 if spot + 1 < right else left
            inside = True
            for i in range(1, own):
                if cells[at, 1 + i] < first[i] or cells[at, 1 + i] > last[i]:
                    inside = False
                    break
            if not inside:
                continue
            row = cells[at, 0]
            value = extra_cost(state, trees, rules, c, g, row)
            if value >= worst:
                continue
            of = state.rows[c, OF, row]
            if of == g or (turn == 1 and state.cost[row] > state.least[row]):
                continue
            if of >= 0 and state.classes[c, SIZE, of] <= rules.k[c]:
                value += state.counts[UNIT]
                if value >= worst:
                    continue
            join(state, rules, c, g, row, vector)
            value += strain(state, rules, row, vector, c) * state.counts[UNIT]
            if value >= worst or (hides and shows_nothing(trees, vector)):
                continue
            if found < lack:
                found += 1
            at = found - 1
            while at > 0 and work.worth[0, at - 1] > value:
                work.worth[0, at] = work.worth[0, at - 1]
                work.picked[0, at] = work.picked[0, at - 1]
                at -= 1
            work.worth[0, at] = value
            work.picked[0, at] = row
            if found == lack:
                worst = work.worth[0, found - 1]
    if found < lack:
        return np.int64(FAR)
    total = np.int64(0)
    for i in range(found):
        total += work.worth[0, i]
    return total


@inner
def way_up(state: State, trees: Trees, rules: Rules, work: Work, c: int, g: int, row: int, hides: bool) -> int:
    """Write in ``vectors[3]`` the cheapest way for a row to leave a class by raising an attribute; return its cost."""
    vector, best = work.vectors[1], work.vectors[3]
    least = np.int64(FAR)
    size = state.classes[c, SIZE, g]
    for i in range(rules.start[c], rules.start[c + 1]):
        a = rules.attribute[i]
        for b in range(len(vector)):
            vector[b] = state.nodes[row, b]
        while may_rise(state, trees, row, a, vector[a]):
            vector[a] = trees.ints[PARENT, trees.at[a] + vector[a]]
            if hides and shows_nothing(trees, vector):
                break
            value = vector_cost(trees, vector) - state.cost[row]
            if value >= least:
                break
            to = class_of(state, rules, c, vector, False)
            has = state.classes[c, SIZE, to] if to >= 0 else 0
            lacking = max(rules.k[c] - has - size, 0) + strain(state, rules, row, vector, c)
            value += lacking * state.counts[UNIT] // (1 if has else max(size, 1))
            if value < least:
                least = value
                for b in range(len(vector)):
                    best[b] = vector[b]
    return least


@inner
def repair(
    state: State, trees: Trees, rules: Rules, work: Work, c: int, g: int, lack: int, most: int, hides: bool
) -> bool:
    """Bring rows into a class that lacks some, or its rows up into others, whichever costs less; False for neither."""
    help_cost = find_help(state, trees, rules, work, c, g, lack, most, hides)
    up_cost = np.int64(0)
    row = state.classes[c, HEAD, g]
    state.counts[WORK] += 60 * state.classes[c, SIZE, g]  # a way up takes as long as so many looks
    while row >= 0:
        up_cost += way_up(state, trees, rules, work, c, g, row, hides)
        if up_cost > most or up_cost >= help_cost:
            break
        row = state.rows[c, AFTER, row]
    if min(help_cost, up_cost) > most:
        return False
    vector = work.vectors[1]
    if help_cost <= up_cost:
        for i in range(lack):
            row = work.picked[0, i]
            join(state, rules, c, g, row, vector)
            if not step(state, trees, rules, work, row, vector):
                return False
        return True
    row = state.classes[c, HEAD, g]
    while row >= 0:
        following = state.rows[c, AFTER, row]
        if way_up(state, trees, rules, work, c, g, row, hides) >= FAR:
            return False
        if not step(state, trees, rules, work, row, work.vectors[3]):
            return False
        row = following
    return True


@inner
def settle(state: State, trees: Trees, rules: Rules, work: Work, row: int) -> bool:
    """Let a row show less where classes that are there already allow it; False where the journal is full."""
    vector = work.vectors[1]
    width = len(vector)
    first = draw(state.random, width)
    for turn in range(width):
        a = (first + turn) % width
        node = state.base[row, a]
        shown_depth = trees.ints[DEPTH, trees.at[a] + state.nodes[row, a]]
        while trees.ints[DEPTH, trees.at[a] + node] > shown_depth:
            for b in range(width):
                vector[b] = state.nodes[row, b]
            vector[a] = node
            if trees.cost[trees.at[a] + node] < trees.cost[trees.at[a] + state.nodes[row, a]] and (
                strain(state, rules, row, vector, -1) == 0
            ):
                if not step(state, trees, rules, work, row, vector):
                    return False
                break
            node = trees.ints[PARENT, trees.at[a] + node]
    return True


@inner
def attempt(state: State, trees: Trees, rules: Rules, models: Models, work: Work, seed: int, hides: bool) -> bool:
    """Move a row to something cheaper and repair what that breaks; tell whether all holds and nothing is dearer."""
    before = state.counts[TOTAL]
    c = aim(state, trees, rules, work, seed, work.vectors[0])
    if not begin(state, trees, rules, work, seed, c, hides):
        return False
    at = 0
    repairs = 0
    while True:
        while at < state.counts[QUEUE]:
            c, g = work.queue[0, at], work.queue[1, at]
            at += 1
            state.classes[c, WAITS, g] = 0
            if class_holds(state, rules, models, c, g):
                continue
            repairs += 1
            left = before - state.counts[TOTAL]
            if repairs > MOST_REPAIRS or left < 0 or state.counts[WORK] > MOST_WORK:
                return False
            lack = max(rules.k[c] - state.classes[c, SIZE, g], 1)
            if not repair(state, trees, rules, work, c, g, lack, left, hides):
                return False
        number = state.counts[JOURNAL]
        for i in range(number):
            row = work.journal[0, i]
            if (
                state.cost[row] > state.least[row]
                and state.out[row] == 0
                and not settle(state, trees, rules, work, row)
            ):
                return False
        if at == state.counts[QUEUE]:
            return state.counts[TOTAL] <= before


@njit(cache=True, nogil=True)
def search_shown(state: State, trees: Trees, rules: Rules, models: Models, work: Work, tries: int, hides: bool) -> int:
    """Try to move rows that cost something, keep what is not dearer; return how much the total fell."""
    before = state.counts[TOTAL]
    active = work.picked[2]
    number = 0
    dear = np.int64(0)
    for row in range(len(state.base)):
        if state.cost[row] > state.least[row]:
            active[number] = row
            number += 1
            dear += state.cost[row] - state.least[row]
    if number == 0:
        return np.int64(0)
    state.counts[UNIT] = dear // number
    state.counts[ACTIVE] = number
    for c in range(len(rules.k)):
        place = 0
        for i in range(len(state.base)):
            row = rules.order[c, i, 0]
            if state.cost[row] > state.least[row]:
                work.active[c, place] = rules.order[c, i]
                place += 1
    for _ in range(tries):
        seed = active[draw(state.random, number)]
        state.counts[TRIES] += 1
        if state.cost[seed] == state.least[seed]:
            continue
        state.counts[JOURNAL] = state.counts[WORK] = 0
        if attempt(state, trees, rules, models, work, seed, hides):
            state.counts[KEPT] += 1
        else:
            forget_waiting(state, work)
            take_back(state, trees, rules, work)
        forget_waiting(state, work)
        purge(state, work)
    return before - state.counts[TOTAL]
