"""The compiled loops behind `overlaps`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np
from numba import njit

from kveil.arrays import Ints
from kveil.kernels.least_loss.neighbours import Models
from kveil.kernels.least_loss.overlaps import (
    AFTER,
    BEFORE,
    DEPTH,
    EMPTIED,
    EMPTY,
    FIRST,
    FREE,
    HEAD,
    LAST,
    MOST_STEPS,
    OF,
    PARENT,
    QUEUE,
    SIZE,
    STAR,
    TOTAL,
    WAITS,
    Rules,
    State,
    Trees,
    Work,
)  # fmt: skip
from kveil.kernels.models.models_loops import clear, holds
from kveil.kernels.splitting.mondrian import Needs

inner = njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


# ---------------------------------------------------------------------------------------------- classes


@inner
def class_of(state: State, rules: Rules, c: int, vector: Ints, make: bool) -> int:
    """Return the class of a vector under a constraint, -1 where there is none and none is to be made."""
    begin, end = rules.start[c], rules.start[c + 1]
    h = np.uint64(c + 1)
    for i in range(begin, end):
        h = (h ^ np.uint64(vector[rules.attribute[i]])) * np.uint64(0x9E3779B97F4A7C15)
        h ^= h >> np.uint64(29)
    mask = np.uint64(state.slots.shape[1] - 1)
    at = h & mask
    while True:
        g = state.slots[c, at]
        if g < 0:
            break
        if state.hashes[c, g] == h:
            same = True
            for i in range(begin, end):
                if state.projection[c, g, i - begin] != vector[rules.attribute[i]]:
                    same = False
                    break
            if same:
                return np.int64(g)
        at = (at + np.uint64(1)) & mask
    if not make:
        return np.int64(-1)
    state.free[c] -= 1
    g = state.classes[c, FREE, state.free[c]]
    state.classes[c, HEAD, g] = -1
    state.classes[c, SIZE, g] = 0
    state.classes[c, WAITS, g] = 0
    state.classes[c, EMPTY, g] = 0
    state.hashes[c, g] = h
    for i in range(begin, end):
        state.projection[c, g, i - begin] = vector[rules.attribute[i]]
    state.slots[c, at] = g
    return np.int64(g)


@inner
def remove_class(state: State, c: int, g: int) -> None:
    """Take an empty class out of the hash table; what stood behind it moves up."""
    mask = state.slots.shape[1] - 1
    at = np.int64(state.hashes[c, g] & np.uint64(mask))
    while state.slots[c, at] != g:
        at = (at + 1) & mask
    hole = at
    while True:
        at = (at + 1) & mask
        other = state.slots[c, at]
        if other < 0:
            break
        home = np.int64(state.hashes[c, other] & np.uint64(mask))
        if ((at - home) & mask) >= ((at - hole) & mask):
            state.slots[c, hole] = other
            hole = at
    state.slots[c, hole] = -1
    state.classes[c, FREE, state.free[c]] = g
    state.free[c] += 1


@inner
def note_empty(state: State, work: Work, c: int, g: int) -> None:
    """Remember a class that may have to be removed."""
    if state.classes[c, EMPTY, g] == 0:
        state.classes[c, EMPTY, g] = 1
        at = state.counts[EMPTIED]
        work.emptied[0, at] = c
        work.emptied[1, at] = g
        state.counts[EMPTIED] += 1


@inner
def purge(state: State, work: Work) -> None:
    """Remove the classes that are empty."""
    for at in range(state.counts[EMPTIED]):
        c, g = work.emptied[0, at], work.emptied[1, at]
        state.classes[c, EMPTY, g] = 0
        if state.classes[c, SIZE, g] == 0:
            remove_class(state, c, g)
    state.counts[EMPTIED] = 0


@inner
def unlink(state: State, c: int, row: int) -> int:
    """Take a row out of its class; return the class."""
    g = state.rows[c, OF, row]
    ahead, behind = state.rows[c, BEFORE, row], state.rows[c, AFTER, row]
    if ahead >= 0:
        state.rows[c, AFTER, ahead] = behind
    else:
        state.classes[c, HEAD, g] = behind
    if behind >= 0:
        state.rows[c, BEFORE, behind] = ahead
    state.classes[c, SIZE, g] -= 1
    state.rows[c, OF, row] = -1
    return g


@inner
def link(state: State, c: int, row: int, g: int) -> None:
    """Put a row into a class."""
    first = state.classes[c, HEAD, g]
    state.rows[c, AFTER, row] = first
    state.rows[c, BEFORE, row] = -1
    if first >= 0:
        state.rows[c, BEFORE, first] = row
    state.classes[c, HEAD, g] = row
    state.classes[c, SIZE, g] += 1
    state.rows[c, OF, row] = g


@inner
def vector_cost(trees: Trees, vector: Ints) -> int:
    """Return what a vector costs a row."""
    total = np.int64(0)
    for a in range(len(vector)):
        total += trees.cost[trees.at[a] + vector[a]]
    return total


@inner
def shows_nothing(trees: Trees, vector: Ints) -> bool:
    """Tell whether a vector shows `*` everywhere."""
    stars = True
    for a in range(len(vector)):
        stars &= trees.ints[STAR, trees.at[a] + vector[a]] == 1
    return stars


@inner
def covers(trees: Trees, a: int, node: int, other: int) -> bool:
    """Tell whether a node of an attribute covers another."""
    at = trees.at[a]
    return (
        trees.ints[FIRST, at + node] <= trees.ints[FIRST, at + other]
        and trees.ints[LAST, at + node] >= trees.ints[LAST, at + other]
    )


@inner
def may_show(state: State, trees: Trees, row: int, a: int, node: int) -> bool:
    """Tell whether a row may show a node: it lies between what the row is and the row's limit."""
    at = trees.at[a]
    depth = trees.ints[DEPTH, at + node]
    return trees.ints[DEPTH, at + state.limit[row, a]] <= depth <= trees.ints[
        DEPTH, at + state.base[row, a]
    ] and covers(trees, a, node, state.base[row, a])


@inner
def may_rise(state: State, trees: Trees, row: int, a: int, node: int) -> bool:
    """Tell whether a row that shows a node may show the parent: not at its limit, nor where it shows more already.

    Every step up makes the depth smaller, so loops that ask this end.
    """
    at = trees.at[a]
    return trees.ints[DEPTH, at + node] > trees.ints[DEPTH, at + state.limit[row, a]]


@njit(cache=True, nogil=True)
def fill_classes(state: State, trees: Trees, rules: Rules) -> None:
    """Put every row that is not out into its classes, and reckon costs."""
    whole = trees.whole
    for row in range(len(state.base) - 1, -1, -1):
        state.least[row] = vector_cost(trees, state.base[row])
        state.cost[row] = whole
        if state.out[row] == 0:
            state.cost[row] = vector_cost(trees, state.nodes[row])
            for c in range(len(rules.k)):
                link(state, c, row, class_of(state, rules, c, state.nodes[row], True))
        state.counts[TOTAL] += state.cost[row]


# ---------------------------------------------------------------------------------------------- models


@inner
def class_holds(state: State, rules: Rules, models: Models, c: int, g: int) -> bool:
    """Tell whether a class is empty, or large enough and satisfies every model of its constraint."""
    size = state.classes[c, SIZE, g]
    if size == 0:
        return True
    if size < rules.k[c]:
        return False
    begin, end = rules.need[c], rules.need[c + 1]
    if begin == end:
        return True
    values = models.values
    row = state.classes[c, HEAD, g]
    while row >= 0:
        for s in range(values.start.shape[0]):
            for p in range(values.start[s, row], values.start[s, row + 1]):
                code = values.code[p]
                if models.tally[s, code] == 0:
                    models.touched[s, models.used[s]] = code
                    models.used[s] += 1
                models.tally[s, code] += values.times[p]
        row = state.rows[c, AFTER, row]
    needs = models.needs
    own = Needs(
        needs.kind[begin:end], needs.sensitive[begin:end], needs.k[begin:end], needs.numerator[begin:end],
        needs.denominator[begin:end], needs.bound[begin:end],
    )  # fmt: skip
    good = holds(own, values, size, models.tally, models.touched, models.used, models.below, models.nodes)
    clear(models.tally, models.touched, models.used)
    return good


@njit(cache=True, nogil=True)
def every_class_holds(state: State, rules: Rules, models: Models) -> bool:
    """Tell whether every class of every constraint satisfies it."""
    for c in range(len(rules.k)):
        for row in range(len(state.base)):
            g = state.rows[c, OF, row]
            if g >= 0 and state.classes[c, HEAD, g] == row and not class_holds(state, rules, models, c, g):
                return False
    return True


# ---------------------------------------------------------------------------------------------- proposals


@inner
def at_depth(state: State, trees: Trees, row: int, a: int, depth: int) -> int:
    """Return what a row shows of an attribute at a depth: its lowest node that lies no deeper, within its limit."""
    at = trees.at[a]
    node = state.base[row, a]
    while trees.ints[DEPTH, at + node] > depth and may_rise(state, trees, row, a, node):
        node = trees.ints[PARENT, at + node]
    return node


@inner
def proposed(state: State, trees: Trees, row: int, depths: Ints, vector: Ints) -> int:
    """Write what a row would show at a vector of depths, -1 for as it is; return what it would gain."""
    total = np.int64(0)
    for a in range(len(vector)):
        vector[a] = state.nodes[row, a] if depths[a] < 0 else at_depth(state, trees, row, a, depths[a])
        total += trees.cost[trees.at[a] + vector[a]]
    return state.cost[row] - total


@inner
def place(state: State, trees: Trees, rules: Rules, work: Work, row: int, vector: Ints) -> None:
    """Let a row show a vector; classes it enters and leaves are updated."""
    cost = vector_cost(trees, vector)
    was_out = state.out[row] == 1
    for c in range(len(rules.k)):
        if not was_out:
            same = True
            for i in range(rules.start[c], rules.start[c + 1]):
                if vector[rules.attribute[i]] != state.nodes[row, rules.attribute[i]]:
                    same = False
                    break
            if same:
                continue
            g = unlink(state, c, row)
            if state.classes[c, SIZE, g] == 0:
                note_empty(state, work, c, g)
            else:
                wait(state, rules, work, c, g)
        g = class_of(state, rules, c, vector, True)
        link(state, c, row, g)
        wait(state, rules, work, c, g)
    for a in range(len(vector)):
        state.nodes[row, a] = vector[a]
    state.out[row] = 0
    state.counts[TOTAL] += cost - state.cost[row]
    state.cost[row] = cost


@inner
def put_out(state: State, trees: Trees, rules: Rules, work: Work, row: int) -> None:
    """Take a row out of all classes: it was out before."""
    for c in range(len(rules.k)):
        g = unlink(state, c, row)
        if state.classes[c, SIZE, g] == 0:
            note_empty(state, work, c, g)
    state.out[row] = 1
    whole = trees.whole
    state.counts[TOTAL] += whole - state.cost[row]
    state.cost[row] = whole


@inner
def wait(state: State, rules: Rules, work: Work, c: int, g: int) -> None:
    """Let a class wait to be looked at where it may have become invalid."""
    if state.classes[c, WAITS, g] == 0 and (
        state.classes[c, SIZE, g] < rules.k[c] or rules.need[c + 1] > rules.need[c]
    ):
        state.classes[c, WAITS, g] = 1
        at = state.counts[QUEUE]
        work.queue[0, at] = c
        work.queue[1, at] = g
        state.counts[QUEUE] += 1


@inner
def forget_waiting(state: State, work: Work) -> None:
    """Let no class wait."""
    for at in range(state.counts[QUEUE]):
        state.classes[work.queue[0, at], WAITS, work.queue[1, at]] = 0
    state.counts[QUEUE] = 0


@inner
def trim(state: State, rules: Rules, work: Work, movers: int) -> int:
    """Refuse movers until every class that is entered or left has members enough; return how many are left.

    Movers stand in ``picked`` by growing gain, their classes to be in ``target``. An entrant of a class that was empty
    and would be too small is refused; a class that would become too small keeps those who gain least by leaving it.
    """
    left = movers
    changed = True
    while changed and left:
        changed = False
        for i in range(movers):
            row = work.picked[0, i]
            if row < 0:
                continue
            refused = False
            for c in range(len(rules.k)):
                to, of = work.target[c, i], state.rows[c, OF, row]
                if to == of:
                    continue
                has = state.classes[c, SIZE, to]
                if has == 0 and work.change[c, to] < rules.k[c]:
                    refused = True
                    break
                if of >= 0:
                    after = state.classes[c, SIZE, of] + work.change[c, of]
                    if 0 < after < rules.k[c]:
                        refused = True
                        break
            if refused:
                work.picked[0, i] = -1
                left -= 1
                changed = True
                for c in range(len(rules.k)):
                    to, of = work.target[c, i], state.rows[c, OF, row]
                    if to != of:
                        work.change[c, to] -= 1
                        if of >= 0:
                            work.change[c, of] += 1
    return left


@njit(cache=True, nogil=True)
def propose(
    state: State, trees: Trees, rules: Rules, models: Models, work: Work, depths: Ints, among: Ints, hides: bool
) -> int:
    """Offer a vector of depths to the rows it makes cheaper; return how many took it, after trimming."""
    movers = 0
    vector = work.vectors[0]
    most = np.int64(1)
    for i in range(len(among)):
        gain = proposed(state, trees, among[i], depths, vector)
        if gain > 0 and not (hides and shows_nothing(trees, vector)):
            work.picked[1, movers] = among[i]
            work.worth[0, movers] = gain
            most = max(most, gain)
            movers += 1
    if movers == 0:
        return 0
    shift = 0
    while most >> shift >= 1 << 31:
        shift += 1
    for i in range(movers):  # gain and place in one word: sorting words compiles in a tenth of argsort
        work.worth[1, i] = ((work.worth[0, i] >> shift) << 32) | i
    keys = np.sort(work.worth[1, :movers])
    for i in range(movers):
        work.picked[0, i] = work.picked[1, keys[i] & 0xFFFFFFFF]
    for i in range(movers):
        row = work.picked[0, i]
        proposed(state, trees, row, depths, vector)
        if state.free.min() <= 2 * MOST_STEPS:  # no room for more classes: the others may move another time
            movers = i
            break
        for c in range(len(rules.k)):
            to, of = class_of(state, rules, c, vector, True), state.rows[c, OF, row]
            work.target[c, i] = to
            if state.classes[c, SIZE, to] == 0:
                note_empty(state, work, c, to)
            if to != of:
                work.change[c, to] += 1
                if of >= 0:
                    work.change[c, of] -= 1
    left = trim(state, rules, work, movers)
    while left and not models_allow(state, rules, models, work, movers):
        left = trim(state, rules, work, movers)
    for i in range(movers):
        row = work.picked[0, i]
        for c in range(len(rules.k)):
            work.change[c, work.target[c, i]] = 0
        if row >= 0:
            for c in range(len(rules.k)):
                if state.rows[c, OF, row] >= 0:
                    work.change[c, state.rows[c, OF, row]] = 0
    for i in range(movers):  # refused rows have given their part back to the classes they stay in
        row = work.picked[0, i]
        if row >= 0:
            proposed(state, trees, row, depths, vector)
            place(state, trees, rules, work, row, vector)
    forget_waiting(state, work)
    purge(state, work)
    return left


@inner
def models_allow(state: State, rules: Rules, models: Models, work: Work, movers: int) -> bool:
    """Tell whether the movers leave every model satisfied; refuse all that enter or leave a class that would not be.

    They are moved in the lists to look at their classes, and moved back.
    """
    if rules.need[len(rules.k)] == 0:
        return True
    good = True
    for c in range(len(rules.k)):
        if rules.need[c] == rules.need[c + 1]:
            continue
        for i in range(movers):
            row = work.picked[0, i]
            work.picked[1, i] = -1
            if row >= 0 and state.rows[c, OF, row] != work.target[c, i]:
                work.picked[1, i] = state.rows[c, OF, row]
                if state.rows[c, OF, row] >= 0:
                    unlink(state, c, row)
                link(state, c, row, work.target[c, i])
                if work.picked[1, i] < 0:
                    work.picked[1, i] = -2
        for i in range(movers):  # 2 is good, 3 is not
            of, to = work.picked[1, i], work.target[c, i]
            if of == -1:
                continue
            for g in (of, to):
                if g >= 0 and state.classes[c, WAITS, g] == 0:
                    state.classes[c, WAITS, g] = 2 if class_holds(state, rules, models, c, g) else 3
        for i in range(movers):
            row, of, to = work.picked[0, i], work.picked[1, i], work.target[c, i]
            if of == -1:
                continue
            unlink(state, c, row)
            if of >= 0:
                link(state, c, row, of)
        for i in range(movers):
            row, of, to = work.picked[0, i], work.picked[1, i], work.target[c, i]
            if of == -1:
                continue
            if state.classes[c, WAITS, to] == 3 or (of >= 0 and state.classes[c, WAITS, of] == 3):
                good = False
                work.picked[0, i] = -1
                for d in range(len(rules.k)):
                    into, out = work.target[d, i], state.rows[d, OF, row]
                    if into != out:
                        work.change[d, into] -= 1
                        if out >= 0:
                            work.change[d, out] += 1
        for i in range(movers):
            of, to = work.picked[1, i], work.target[c, i]
            if of != -1:
                state.classes[c, WAITS, to] = 0
                if of >= 0:
                    state.classes[c, WAITS, of] = 0
    return good
