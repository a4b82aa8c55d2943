"""The compiled loops behind `partition`; importing this module imports Numba."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.items.by_children_loops import (
    SHORT,
    children_below,
    first_below,
    group_children,
    merge_small_groups,
    regroup,
)
from kveil.kernels.items.layout import Board, DividingRoom, Forest, LaidSets, RecordRun, Room
from kveil.kernels.jit import door, inner


@inner
def weigh_small(forest: Forest, sets: LaidSets, part: RecordRun, node: int, room: Room) -> tuple[int, int, int]:
    """Weigh a node of a part too small to be divided: it moves as a whole or not at all.

    Returns what opening the node gains (-1: cannot), the child whose taking out gains most (-1: none), and its gain.
    """
    number = children_below(forest, sets, part.place, part.order[part.begin], node, room.other)
    # The different children of the first record: ``found``; how many items each has in all records: ``size``.
    children = 0
    for i in range(number):
        if i == 0 or room.other[i] != room.other[i - 1]:
            room.found[children] = room.other[i]
            room.size[children] = 0
            children += 1
        room.size[children - 1] += 1
    alone = children == 1
    equal = True
    left = children
    for p in range(part.begin + 1, part.end):
        number = children_below(forest, sets, part.place, part.order[p], node, room.one)
        if (room.one[0] == room.one[number - 1]) != alone:
            return -1, -1, 0
        i = 0
        different = 0
        for c in range(children):
            child = room.found[c]
            while i < number and room.one[i] < child:
                if i == 0 or room.one[i] != room.one[i - 1]:
                    different += 1
                i += 1
            mine = 0
            while i < number and room.one[i] == child:
                mine += 1
                i += 1
            different += mine > 0
            if mine == 0:
                equal = False
                left -= room.size[c] > 0
                room.size[c] = 0
            elif room.size[c] > 0:
                room.size[c] += mine
        equal = equal and i == number and different == children
        if left == 0:
            return -1, -1, 0
    opened = np.int64(-1)
    if equal:
        opened = np.int64(0)
        for c in range(children):
            opened += room.size[c] * (forest.cost[node] - forest.cost[room.found[c]])
    best, best_gain = -1, np.int64(0)
    for c in range(children):
        gain = room.size[c] * (forest.cost[node] - forest.cost[room.found[c]])
        if gain > best_gain:
            best, best_gain = room.found[c], gain
    return opened, best, best_gain


@inner
def best_child(
    forest: Forest, sets: LaidSets, part: RecordRun, node: int, children: int, k: int, room: Room
) -> tuple[int, int]:
    """Return the child of a node whose taking out gains most, and the gain; -1 where none can be taken out.

    ``room`` has the children and their tally, which is emptied.
    """
    tally = room.tally
    best, best_gain = -1, np.int64(0)
    for c in range(children):
        child = np.int64(room.found[c])  # one type everywhere: each function is compiled once
        fall = forest.cost[node] - forest.cost[child]
        gain = np.int64(0)
        left = part.end - part.begin
        for at in range(0, 4, 2):
            if tally[child, at] >= k:
                gain += tally[child, at + 1] * fall
                left -= tally[child, at]
            tally[child, at] = 0
            tally[child, at + 1] = 0
        if gain < best_gain or gain == 0 or (gain == best_gain and child > best):
            continue
        if 0 < left < k:
            gain = regroup(forest, sets, part, node, child, k, room)
        if gain > best_gain or (gain == best_gain and child < best):
            best, best_gain = child, gain
    return best, best_gain


@inner
def weigh_nodes(
    forest: Forest,
    sets: LaidSets,
    part: RecordRun,
    k: int,
    board: Board,
    known: int,
    shown: int,
    saved: int,
    room: Room,
) -> int:
    """Weigh the nodes of the board from ``known`` on; return the node whose groups ``room.kept`` has, -1 for none."""
    records = part.end - part.begin
    most = np.int64(-1)
    if saved >= 0:
        for s in range(known):
            if board.nodes[s] == saved:
                most = board.opened[s]
    for s in range(known, shown):
        node = np.int64(board.nodes[s])
        if records < 2 * k:
            board.opened[s], board.child[s], board.taken[s] = weigh_small(forest, sets, part, node, room)
            continue
        groups, children = group_children(forest, sets, part, node, True, room)
        gain = merge_small_groups(forest, sets, part, node, k, groups, room)
        if gain > most or (gain >= 0 and gain == most and node < saved):
            saved, most = node, gain
            copy_groups(room.kept, room.group, records)
        board.opened[s] = gain
        board.child[s], board.taken[s] = best_child(forest, sets, part, node, children, k, room)
    return saved


@inner
def choose_node(board: Board, shown: int, patient: bool) -> tuple[int, bool]:
    """Return the place of the node that gains most, and whether to open it or to take out its child; -1 for none.

    Ties: opening before taking out, then leaf order. ``patient``: nothing is taken out while a node can be opened.
    """
    nodes, opened, taken, child = board.nodes, board.opened, board.taken, board.child
    best = -1
    for s in range(shown):
        if opened[s] >= 0 and (
            best < 0 or opened[s] > opened[best] or (opened[s] == opened[best] and nodes[s] < nodes[best])
        ):
            best = s
    out = -1
    for s in range(shown):
        if child[s] >= 0 and (out < 0 or taken[s] > taken[out] or (taken[s] == taken[out] and child[s] < child[out])):
            out = s
    if out >= 0 and (best < 0 or (not patient and taken[out] > opened[best])):
        return out, False
    return best, True


@inner
def move_down(forest: Forest, sets: LaidSets, part: RecordRun, node: int, child: int, group: Ints) -> None:
    """Show the items below a node as its children, or only those below one child, in records that are not left."""
    for p in range(part.end - part.begin):
        if group[p] < 0:
            continue
        record = part.order[part.begin + p]
        begin, end = sets.start[record], sets.start[record + 1]
        if end - begin > SHORT:
            begin = first_below(forest, sets.start, sets.leaf, record, node)
        for i in range(begin, end):
            at = part.place[i]
            if forest.way[at] == node:
                if child < 0 or forest.way[at + 1] == child:
                    part.place[i] += 1
            elif sets.leaf[i] > forest.last[node]:
                break


@inner
def divide(part: RecordRun, group: Ints, room: DividingRoom) -> int:
    """Sort a part's records by group, those left over last, and keep their order; return how many groups there are.

    ``bounds[g]`` is where group g starts, with the end as last entry. ``number`` renumbers the groups that are left.
    """
    number, place, into = room.number, room.bounds, room.into
    records = part.end - part.begin
    groups = 0
    left = 0
    for p in range(records):
        if group[p] < 0:
            left = 1
        else:
            number[group[p]] = -1
    for p in range(records):
        if group[p] >= 0 and number[group[p]] < 0:
            number[group[p]] = groups
            groups += 1
    rest = groups
    groups += left
    for g in range(groups + 1):
        place[g] = 0
    for p in range(records):
        place[(rest if group[p] < 0 else number[group[p]]) + 1] += 1
    place[0] = part.begin
    for g in range(groups):
        place[g + 1] += place[g]
    for p in range(records):
        g = rest if group[p] < 0 else number[group[p]]
        into[place[g] - part.begin] = part.order[part.begin + p]
        place[g] += 1
    for p in range(records):
        part.order[part.begin + p] = into[p]
    for g in range(groups, 0, -1):
        place[g] = place[g - 1]
    place[0] = part.begin
    return groups


@inner
def list_nodes(forest: Forest, sets: LaidSets, place: Longs, record: int, nodes: Ints, known: int, under: int) -> int:
    """Append the inner nodes at or below ``under`` (-1: all) that a record's items show and the list lacks."""
    shown = known
    for i in range(sets.start[record], sets.start[record + 1]):
        leaf = sets.leaf[i]
        if under >= 0 and (leaf < forest.first[under] or leaf > forest.last[under]):
            continue
        if place[i] + 1 == forest.way_start[leaf + 1]:
            continue
        node = forest.way[place[i]]
        s = shown - 1
        while s >= 0 and nodes[s] != node:
            s -= 1
        if s < 0:
            nodes[shown] = node
            shown += 1
    return shown


@inner
def copy_groups(into: Ints, groups: Ints, number: int) -> None:
    """Copy the groups of so many records."""
    for p in range(number):
        into[p] = groups[p]


@door
def refine_parts(
    forest: Forest, sets: LaidSets, order: Ints, place: Longs, parts: int, k: int, patient: bool, small: int,
    room: Room, board: Board, dividing: DividingRoom,
) -> int:  # fmt: skip
    """Open nodes part by part until none can be; return how many parts of at most ``small`` records are left as is.

    ``dividing.stack`` has the parts to begin with: the first record of each and the one behind its last; those that are
    left stand in ``dividing.later``. It ends where the flag ``dividing.halt`` is raised. See
    `partition.generalize_sets`.
    """
    stack, later = dividing.stack, dividing.later
    height = parts
    waiting = 0
    while height > 0 and not dividing.halt[0]:
        height -= 1
        part = RecordRun(order, stack[height, 0], stack[height, 1], place)
        if part.end - part.begin <= small:
            later[waiting, 0], later[waiting, 1] = part.begin, part.end
            waiting += 1
            continue
        known = 0
        saved = np.int64(-1)
        shown = list_nodes(forest, sets, place, order[part.begin], board.nodes, np.int64(0), np.int64(-1))
        while not dividing.halt[0]:
            saved = weigh_nodes(forest, sets, part, k, board, known, shown, saved, room)
            known = shown
            best, whole = choose_node(board, shown, patient)
            if best < 0:
                break
            node = np.int64(board.nodes[best])
            child = np.int64(-1) if whole else np.int64(board.child[best])
            if part.end - part.begin < 2 * k:
                for p in range(part.end - part.begin):
                    room.group[p] = 0  # it moves as a whole
            elif whole and node == saved:
                copy_groups(room.group, room.kept, part.end - part.begin)
            else:
                regroup(forest, sets, part, node, child, k, room)
            move_down(forest, sets, part, node, child, room.group)
            divided = divide(part, room.group, dividing)
            if divided > 1:
                for g in range(divided):
                    stack[height, 0], stack[height, 1] = dividing.bounds[g], dividing.bounds[g + 1]
                    height += 1
                break
            # Everyone moved: what the other nodes would gain is as before.
            if node == saved:
                saved = np.int64(-1)
            known = shown - 1
            board.nodes[best], board.opened[best] = board.nodes[known], board.opened[known]
            board.taken[best], board.child[best] = board.taken[known], board.child[known]
            shown = list_nodes(forest, sets, place, order[part.begin], board.nodes, known, node)
    return waiting
