"""The compiled loops that offer vectors of depths to rows, trimmed to what every constraint allows."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.jit import door, inner
from kveil.kernels.least_loss import overlaps_layout as field
from kveil.kernels.least_loss.overlaps_layout import Climbs, Constraints, NodeColumns, ShownRows, TryRoom
from kveil.kernels.least_loss.shown_loops import (
    class_holds,
    class_of,
    enter_class,
    forget_waiting,
    hash_of,
    is_all_stars,
    leave_class,
    note_empty,
    place,
    purge,
)
from kveil.kernels.models.layout import Models
from kveil.kernels.sorting.sorting_loops import sort_pairs


@inner
def lowest(numbers: Longs) -> int:
    """Return the lowest of some numbers."""
    least = numbers[0]
    for number in numbers:
        least = min(least, number)
    return least


@inner
def write_proposal(state: ShownRows, trees: NodeColumns, climbs: Climbs, row: int, depths: Ints, vector: Ints) -> int:
    """Write what a row would show at a vector of depths, -1 for as it is; return what it would gain."""
    total = np.int64(0)
    for a in range(len(vector)):
        if depths[a] < 0:
            vector[a] = state.nodes[row, a]
            total += trees.cost[trees.at[a] + vector[a]]
        else:
            at = climbs.at[row, a] + depths[a]
            vector[a] = climbs.nodes[at]
            total += climbs.cost[at]
    return state.cost[row] - total


@inner
def note_entrant(state: ShownRows, constraints: Constraints, work: TryRoom, i: int, vector: Ints) -> None:
    """Write to ``target`` the classes that a mover would enter, those that are new as -1 - the place of their tally."""
    for c in range(len(constraints.k)):
        to = class_of(state, constraints, c, vector, False)
        if to < 0:
            at = np.int64(hash_of(constraints, c, vector) >> np.uint64(32)) & (work.tally.shape[1] - 1)
            work.tally[c, at] += 1
            to = -1 - at
        work.target[c, i] = to


@inner
def any_may_enter(constraints: Constraints, work: TryRoom, movers: int) -> bool:
    """Tell whether trimming may leave anybody of the movers, as far as classes that are new need members.

    Whoever is left after trimming has enough others with it in each new class. Here movers without them are taken
    out until that is so, whatever the classes they leave; where nobody is left, nobody is left after trimming either.
    Classes that share a tally only make it say yes in vain.
    """
    left = movers
    changed = True
    while changed and left:
        changed = False
        for i in range(movers):
            lacks = False
            for c in range(len(constraints.k)):
                at = -1 - work.target[c, i]
                lacks |= at >= 0 and work.tally[c, at] < constraints.k[c]
            if lacks:
                uncount_mover(constraints, work, i)
                left -= 1
                changed = True
    for i in range(movers):
        uncount_mover(constraints, work, i)
    return left > 0


@inner
def uncount_mover(constraints: Constraints, work: TryRoom, i: int) -> None:
    """Count a mover no longer among those that would enter new classes."""
    for c in range(len(constraints.k)):
        at = -1 - work.target[c, i]
        if at >= 0:
            work.tally[c, at] -= 1
            work.target[c, i] = 0


@inner
def refuse_mover(state: ShownRows, constraints: Constraints, work: TryRoom, i: int, row: int) -> None:
    """Leave a mover where it is: the classes it would enter and leave do not change by it."""
    work.picked[field.MOVERS, i] = -1
    for c in range(len(constraints.k)):
        to, of = work.target[c, i], state.rows[c, field.OF, row]
        if to != of:
            work.change[c, to] -= 1
            if of >= 0:
                work.change[c, of] += 1


@inner
def refuse_movers(state: ShownRows, constraints: Constraints, work: TryRoom, movers: int) -> int:
    """Refuse movers until every class that is entered or left has members enough; return how many are left.

    Movers stand in ``picked`` by growing gain, their classes to be in ``target``. An entrant of a class that was empty
    and would be too small is refused; a class that would become too small keeps those who gain least by leaving it.
    """
    left = 0
    for i in range(movers):
        left += work.picked[field.MOVERS, i] >= 0  # models may have refused some before
    changed = True
    while changed and left:
        changed = False
        for i in range(movers):
            row = work.picked[field.MOVERS, i]
            if row < 0:
                continue
            refused = False
            for c in range(len(constraints.k)):
                to, of = work.target[c, i], state.rows[c, field.OF, row]
                if to == of:
                    continue
                has = state.classes[c, field.SIZE, to]
                if has == 0 and work.change[c, to] < constraints.k[c]:
                    refused = True
                    break
                if of >= 0:
                    after = state.classes[c, field.SIZE, of] + work.change[c, of]
                    if 0 < after < constraints.k[c]:
                        refused = True
                        break
            if refused:
                refuse_mover(state, constraints, work, i, row)
                left -= 1
                changed = True
    return left


@inner
def models_allow(state: ShownRows, constraints: Constraints, models: Models, work: TryRoom, movers: int) -> bool:
    """Tell whether the movers leave every model satisfied; refuse all that enter or leave a class that would not be.

    They are moved in the lists to look at their classes, and moved back.
    """
    if constraints.need[len(constraints.k)] == 0:
        return True
    good = True
    for c in range(len(constraints.k)):
        if constraints.need[c] == constraints.need[c + 1]:
            continue
        for i in range(movers):
            row = work.picked[field.MOVERS, i]
            work.picked[field.CAME_FROM, i] = field.STAYS
            if row >= 0 and state.rows[c, field.OF, row] != work.target[c, i]:
                work.picked[field.CAME_FROM, i] = state.rows[c, field.OF, row]
                if state.rows[c, field.OF, row] >= 0:
                    leave_class(state, c, row)
                enter_class(state, c, row, work.target[c, i])
                if work.picked[field.CAME_FROM, i] < 0:
                    work.picked[field.CAME_FROM, i] = field.FROM_OUTSIDE
        for i in range(movers):
            of, to = work.picked[field.CAME_FROM, i], work.target[c, i]
            if of == field.STAYS:
                continue
            for g in (of, to):
                if g >= 0 and state.classes[c, field.VERDICT, g] == field.UNJUDGED:
                    state.classes[c, field.VERDICT, g] = (
                        field.GOOD if class_holds(state, constraints, models, c, g) else field.BAD
                    )
        for i in range(movers):
            row, of, to = work.picked[field.MOVERS, i], work.picked[field.CAME_FROM, i], work.target[c, i]
            if of == field.STAYS:
                continue
            leave_class(state, c, row)
            if of >= 0:
                enter_class(state, c, row, of)
        for i in range(movers):
            row, of, to = work.picked[field.MOVERS, i], work.picked[field.CAME_FROM, i], work.target[c, i]
            if of == field.STAYS:
                continue
            if state.classes[c, field.VERDICT, to] == field.BAD or (
                of >= 0 and state.classes[c, field.VERDICT, of] == field.BAD
            ):
                good = False
                refuse_mover(state, constraints, work, i, row)
        for i in range(movers):
            of, to = work.picked[field.CAME_FROM, i], work.target[c, i]
            if of != field.STAYS:
                state.classes[c, field.VERDICT, to] = field.UNJUDGED
                if of >= 0:
                    state.classes[c, field.VERDICT, of] = field.UNJUDGED
    return good


@inner
def propose(
    state: ShownRows,
    trees: NodeColumns,
    climbs: Climbs,
    constraints: Constraints,
    models: Models,
    work: TryRoom,
    depths: Ints,
    among: Ints,
    hides: bool,
) -> int:
    """Offer a vector of depths to the rows it makes cheaper; return how many took it, after trimming."""
    movers = 0
    vector = work.vectors[field.WISHED]
    most = np.int64(1)
    for i in range(len(among)):
        gain = write_proposal(state, trees, climbs, among[i], depths, vector)
        if gain > 0 and not (hides and is_all_stars(trees, vector)):
            work.picked[field.UNSORTED, movers] = among[i]
            work.worth[field.VALUE, movers] = gain
            most = max(most, gain)
            note_entrant(state, constraints, work, movers, vector)
            movers += 1
    if not any_may_enter(constraints, work, movers):
        return 0
    shift = 0
    while most >> shift >= 1 << 31:
        shift += 1
    for i in range(movers):
        work.worth[field.VALUE, i] >>= shift
        work.worth[field.INDEX, i] = i
    sort_pairs(work.worth[field.VALUE], work.worth[field.INDEX], movers)
    for i in range(movers):
        work.picked[field.MOVERS, i] = work.picked[field.UNSORTED, work.worth[field.INDEX, i]]
    for i in range(movers):
        row = work.picked[field.MOVERS, i]
        write_proposal(state, trees, climbs, row, depths, vector)
        if lowest(state.free) <= 2 * field.MOST_STEPS:  # no room for more classes: the others may move another time
            movers = i
            break
        for c in range(len(constraints.k)):
            to, of = class_of(state, constraints, c, vector, True), state.rows[c, field.OF, row]
            work.target[c, i] = to
            if state.classes[c, field.SIZE, to] == 0:
                note_empty(state, work, c, to)
            if to != of:
                work.change[c, to] += 1
                if of >= 0:
                    work.change[c, of] -= 1
    left = refuse_movers(state, constraints, work, movers)
    while left and not models_allow(state, constraints, models, work, movers):
        left = refuse_movers(state, constraints, work, movers)
    for i in range(movers):
        row = work.picked[field.MOVERS, i]
        for c in range(len(constraints.k)):
            work.change[c, work.target[c, i]] = 0
        if row >= 0:
            for c in range(len(constraints.k)):
                if state.rows[c, field.OF, row] >= 0:
                    work.change[c, state.rows[c, field.OF, row]] = 0
    for i in range(movers):  # refused rows have given their part back to the classes they stay in
        row = work.picked[field.MOVERS, i]
        if row >= 0:
            write_proposal(state, trees, climbs, row, depths, vector)
            place(state, trees, constraints, work, row, vector)
    forget_waiting(state, work)
    purge(state, work)
    return left


@door
def propose_each(
    state: ShownRows,
    trees: NodeColumns,
    climbs: Climbs,
    constraints: Constraints,
    models: Models,
    work: TryRoom,
    proposals: Ints,
    among: Ints,
    hides: bool,
) -> int:
    """Offer vectors of depths one after another to the rows each makes cheaper; return how many took one."""
    took = 0
    for number in range(len(proposals)):
        took += propose(state, trees, climbs, constraints, models, work, proposals[number], among, hides)
    return took
