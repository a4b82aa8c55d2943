"""The compiled loops behind `partition`; importing this module imports Numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from kveil.kernels.partition import Forest, Hashes, Ints, Longs, Sets

ABSENT, ALONE, AMONG_OTHERS = -1, 0, 1  # how a record has the child that is taken out of a node
SHORT = 16  # items that are looked through one by one
BITS = 64  # children of a node that a word can name


class Part(NamedTuple):
    """A run of records that show the same set; ``place`` is where on its leaf's way down each item is shown."""

    order: Ints
    begin: int
    end: int
    place: Longs


class Room(NamedTuple):
    """Arrays to work in: for every record of a part its hash, group and gain; for every group its size and gain.

    ``kept`` has the groups of the node that gains most when opened, of those weighed so far.
    """

    hashes: Hashes
    slots: Ints
    group: Ints
    kept: Ints
    gain: Longs
    first: Ints
    size: Longs
    won: Longs
    one: Ints
    other: Ints
    tally: Longs
    found: Ints


class Board(NamedTuple):
    """The inner nodes a part shows: what opening each would gain, and taking out which child (-1: none)."""

    nodes: Ints
    opened: Longs
    taken: Longs
    child: Ints


@njit(cache=True, nogil=True)
def first_below(forest: Forest, start: Longs, leaf: Ints, owner: int, node: int) -> int:
    """Return the place of an owner's first item at or behind the first leaf under a node; its leaves are sorted."""
    low, high = start[owner], start[owner + 1]
    while low < high:
        middle = (low + high) // 2
        if leaf[middle] < forest.first[node]:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def children_below(forest: Forest, sets: Sets, place: Longs, record: int, node: int, into: Ints) -> int:
    """Write the child of a node that lies above each of a record's items that show the node; return how many do."""
    found = 0
    begin, end = sets.start[record], sets.start[record + 1]
    if end - begin > SHORT:
        begin = first_below(forest, sets.start, sets.leaf, record, node)
    for i in range(begin, end):
        at = place[i]
        if forest.way[at] == node:
            into[found] = forest.way[at + 1]
            found += 1
        elif sets.leaf[i] > forest.last[node]:
            break
    return found


@njit(cache=True, nogil=True)
def compare_children(forest: Forest, sets: Sets, part: Part, node: int, p: int, q: int, room: Room) -> int:
    """Compare the sets of children two records of a part have below a node, in leaf order: -1, 0 or 1."""
    mine = children_below(forest, sets, part.place, part.order[part.begin + p], node, room.one)
    yours = children_below(forest, sets, part.place, part.order[part.begin + q], node, room.other)
    i = j = 0
    while i < mine and j < yours:
        a, b = room.one[i], room.other[j]
        if a != b:
            return -1 if a < b else 1
        while i < mine and room.one[i] == a:
            i += 1
        while j < yours and room.other[j] == a:
            j += 1
    return int(i < mine) - int(j < yours)


@njit(cache=True, nogil=True)
def group_children(forest: Forest, sets: Sets, part: Part, node: int, weigh: bool, room: Room) -> tuple[int, int]:
    """Give the records of a part numbers by the set of children they have; return how many sets and children there are.

    ``room.gain`` becomes what each record would gain if the node were opened. Where the answer is to ``weigh`` the
    node, the children are counted too: they are written to ``room.found``, and ``room.tally`` becomes node × (records
    that have it alone, their items below it, records that have it among others, their items below it).
    """
    tally = room.tally
    children = 0
    records = part.end - part.begin
    size = 16
    while size < 2 * records:
        size *= 2
    mask = np.uint64(size - 1)
    room.slots[:size] = -1
    groups = 0
    narrow = forest.children[node] <= BITS
    for p in range(records):
        number = children_below(forest, sets, part.place, part.order[part.begin + p], node, room.one)
        at = 0 if room.one[0] == room.one[number - 1] else 2
        # A set is a word with a bit for each child where there are few, else a hash, and sets are compared.
        word = np.uint64(0)
        before = -1
        gain = np.int64(0)
        for i in range(number):
            child = room.one[i]
            gain += forest.cost[node] - forest.cost[child]
            if child != before:
                if narrow:
                    word |= np.uint64(1) << np.uint64(forest.sibling[child])
                else:
                    word = (word ^ np.uint64(child)) * np.uint64(0xFF51AFD7ED558CCD)
                    word ^= word >> np.uint64(32)
                before = child
                if weigh:
                    if tally[child, 0] == 0 and tally[child, 2] == 0:
                        room.found[children] = child
                        children += 1
                    tally[child, at] += 1
            if weigh:
                tally[child, at + 1] += 1
        room.hashes[p] = word
        room.gain[p] = gain
        slot = ((word * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask
        while True:
            g = room.slots[slot]
            if g < 0:
                room.slots[slot] = groups
                room.first[groups] = p
                room.group[p] = groups
                groups += 1
                break
            other = np.int64(room.first[g])
            same = room.hashes[other] == word
            if same and not narrow:
                same = compare_children(forest, sets, part, node, other, p, room) == 0
            if same:
                room.group[p] = g
                break
            slot = (slot + np.uint64(1)) & mask
    return groups, children


@njit(cache=True, nogil=True)
def group_by_child(forest: Forest, sets: Sets, part: Part, node: int, child: int, room: Room) -> int:
    """Group the records of a part by how they have one child of a node; return the number of groups."""
    fall = forest.cost[node] - forest.cost[child]
    for p in range(part.end - part.begin):
        number = children_below(forest, sets, part.place, part.order[part.begin + p], node, room.one)
        mine = 0
        for i in range(number):
            if room.one[i] == child:
                mine += 1
        room.gain[p] = mine * fall
        room.group[p] = ABSENT if mine == 0 else AMONG_OTHERS if mine < number else ALONE
        if mine > 0:
            room.first[room.group[p]] = p
    return 2


@njit(cache=True, nogil=True)
def give_back(records: int, needed: int, k: int, groups: int, room: Room) -> int:
    """Take records out of groups that have more than k, those of least gain first; return the gain they had.

    Ties go to the first record. ``room.size`` is at least k for the groups that stand, 0 for others.
    """
    group, size = room.group, room.size
    values = np.empty(records, dtype=np.int64)
    who = np.empty(records, dtype=np.int64)
    eligible = 0
    for p in range(records):
        if group[p] >= 0 and size[group[p]] > k:
            values[eligible] = room.gain[p]
            who[eligible] = p
            eligible += 1
    # A stable counting sort over the ranks of the gains: sorting plain words compiles fast, argsort does not.
    values = values[:eligible]
    ranked = np.sort(values)
    behind = np.zeros(eligible + 1, dtype=np.int64)
    by_gain = np.empty(eligible, dtype=np.int64)
    for n in range(eligible):
        low, high = 0, eligible
        while low < high:
            middle = (low + high) // 2
            if ranked[middle] < values[n]:
                low = middle + 1
            else:
                high = middle
        by_gain[low + behind[low]] = who[n]
        behind[low] += 1
    lost = np.int64(0)
    for n in range(eligible):
        if needed == 0:
            break
        p = by_gain[n]
        g = group[p]
        if size[g] > k:
            size[g] -= 1
            group[p] = -1
            lost += room.gain[p]
            needed -= 1
    return lost


@njit(cache=True, nogil=True)
def drop_small(records: int, k: int, groups: int, room: Room) -> tuple[int, int]:
    """Add up the groups' sizes and gains and drop those below k; return the gain, and how many are left over."""
    group, size, won = room.group, room.size, room.won
    for g in range(groups):
        size[g] = 0
        won[g] = 0
    for p in range(records):
        if group[p] >= 0:
            size[group[p]] += 1
            won[group[p]] += room.gain[p]
    total = np.int64(0)
    left = records
    for g in range(groups):
        if size[g] >= k:
            total += won[g]
            left -= size[g]
        else:
            size[g] = 0
    for p in range(records):
        if group[p] >= 0 and size[group[p]] == 0:
            group[p] = -1
    return total, left


@njit(cache=True, nogil=True)
def settle(forest: Forest, sets: Sets, part: Part, node: int, k: int, groups: int, room: Room) -> int:
    """Merge groups below k into what is left over, and fill that up to k; return the gain, -1 where nothing moves.

    ``room.group`` becomes -1 for the records that are left over.
    """
    records = part.end - part.begin
    total, left = drop_small(records, k, groups, room)
    if left == records:
        return -1
    if left == 0 or left >= k:
        return total
    size, won = room.size, room.won
    spare = 0
    least = -1
    for g in range(groups):
        if size[g] == 0:
            continue
        spare += size[g] - k
        one, other = np.int64(room.first[g]), np.int64(room.first[max(least, 0)])
        if (
            least < 0
            or won[g] < won[least]
            or (won[g] == won[least] and compare_children(forest, sets, part, node, one, other, room) < 0)
        ):
            least = g
    if spare >= k - left:
        return total - give_back(records, k - left, k, groups, room)
    if left + size[least] == records:
        return -1
    for p in range(records):
        if room.group[p] == least:
            room.group[p] = -1
    return total - won[least]


@njit(cache=True, nogil=True)
def regroup(forest: Forest, sets: Sets, part: Part, node: int, child: int, k: int, room: Room) -> int:
    """Group a part as opening a node would, or taking a child out of it; return the gain, -1 where that cannot be."""
    if child < 0:
        groups, _ = group_children(forest, sets, part, node, False, room)
    else:
        groups = group_by_child(forest, sets, part, node, child, room)
    return settle(forest, sets, part, node, k, groups, room)


@njit(cache=True, nogil=True)
def weigh_small(forest: Forest, sets: Sets, part: Part, node: int, room: Room) -> tuple[int, int, int]:
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


@njit(cache=True, nogil=True)
def best_child(forest: Forest, sets: Sets, part: Part, node: int, children: int, k: int, room: Room) -> tuple[int, int]:
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


@njit(cache=True, nogil=True)
def move_down(forest: Forest, sets: Sets, part: Part, node: int, child: int, group: Ints) -> None:
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


@njit(cache=True, nogil=True)
def divide(part: Part, group: Ints, number: Ints, place: Longs, into: Ints) -> int:
    """Sort a part's records by group, those left over last, and keep their order; return how many groups there are.

    ``place[g]`` is where group g starts, with the end as last entry. ``number`` renumbers the groups that are left.
    """
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
    part.order[part.begin : part.end] = into[:records]
    for g in range(groups, 0, -1):
        place[g] = place[g - 1]
    place[0] = part.begin
    return groups


@njit(cache=True, nogil=True)
def list_nodes(forest: Forest, sets: Sets, place: Longs, record: int, nodes: Ints, known: int, under: int) -> int:
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


@njit(cache=True, nogil=True)
def make_room(records: int, longest: int, nodes: int) -> Room:
    """Return arrays to work in for parts of so many records with so many items, over so many nodes."""
    slots = 16
    while slots < 2 * records:
        slots *= 2
    return Room(
        np.empty(records, dtype=np.uint64),
        np.empty(slots, dtype=np.int32),
        np.empty(records, dtype=np.int32),
        np.empty(records, dtype=np.int32),
        np.empty(records, dtype=np.int64),
        np.empty(records + 2, dtype=np.int32),
        np.empty(max(records, longest) + 2, dtype=np.int64),
        np.empty(records + 2, dtype=np.int64),
        np.empty(longest, dtype=np.int32),
        np.empty(longest, dtype=np.int32),
        np.zeros((nodes, 4), dtype=np.int64),
        np.empty(nodes, dtype=np.int32),
    )


@njit(cache=True, nogil=True)
def weigh_nodes(
    forest: Forest, sets: Sets, part: Part, k: int, board: Board, known: int, shown: int, saved: int, room: Room
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
        gain = settle(forest, sets, part, node, k, groups, room)
        if gain > most or (gain >= 0 and gain == most and node < saved):
            saved, most = node, gain
            room.kept[:records] = room.group[:records]
        board.opened[s] = gain
        board.child[s], board.taken[s] = best_child(forest, sets, part, node, children, k, room)
    return saved


@njit(cache=True, nogil=True)
def refine_parts(
    forest: Forest, sets: Sets, order: Ints, place: Longs, parts: Longs, k: int, patient: bool, small: int
) -> Longs:
    """Open nodes part by part until none can be; return the parts of at most ``small`` records, which are left as is.

    ``parts`` has the first record of each part and the one behind its last. See `partition.refine`.
    """
    records = np.int64(0)
    longest = np.int64(1)
    everyone = np.int64(0)
    for n in range(len(parts)):
        everyone += parts[n, 1] - parts[n, 0]
        records = max(records, parts[n, 1] - parts[n, 0])
        for p in range(parts[n, 0], parts[n, 1]):
            longest = max(longest, sets.start[order[p] + 1] - sets.start[order[p]])
    room = make_room(records, longest, len(forest.cost))
    number = np.empty(records + 2, dtype=np.int32)
    into = np.empty(records, dtype=np.int32)
    bounds = np.empty(records + 3, dtype=np.int64)
    board = Board(
        np.empty(2 * longest + 2, dtype=np.int32),
        np.empty(2 * longest + 2, dtype=np.int64),
        np.empty(2 * longest + 2, dtype=np.int64),
        np.empty(2 * longest + 2, dtype=np.int32),
    )
    stack = np.empty((everyone // max(k, 1) + len(parts) + 1, 2), dtype=np.int64)
    stack[: len(parts)] = parts
    height = len(parts)
    later = np.empty_like(stack)
    waiting = 0
    while height > 0:
        height -= 1
        part = Part(order, stack[height, 0], stack[height, 1], place)
        if part.end - part.begin <= small:
            later[waiting] = stack[height]
            waiting += 1
            continue
        known = 0
        saved = np.int64(-1)
        shown = list_nodes(forest, sets, place, order[part.begin], board.nodes, np.int64(0), np.int64(-1))
        while True:
            saved = weigh_nodes(forest, sets, part, k, board, known, shown, saved, room)
            known = shown
            best, whole = choose(board, shown, patient)
            if best < 0:
                break
            node = np.int64(board.nodes[best])
            child = np.int64(-1) if whole else np.int64(board.child[best])
            if part.end - part.begin < 2 * k:
                room.group[: part.end - part.begin] = 0  # it moves as a whole
            elif whole and node == saved:
                room.group[: part.end - part.begin] = room.kept[: part.end - part.begin]
            else:
                regroup(forest, sets, part, node, child, k, room)
            move_down(forest, sets, part, node, child, room.group)
            divided = divide(part, room.group, number, bounds, into)
            if divided > 1:
                for g in range(divided):
                    stack[height, 0], stack[height, 1] = bounds[g], bounds[g + 1]
                    height += 1
                break
            # Everyone moved: what the other nodes would gain is as before.
            if node == saved:
                saved = np.int64(-1)
            known = shown - 1
            board.nodes[best], board.opened[best] = board.nodes[known], board.opened[known]
            board.taken[best], board.child[best] = board.taken[known], board.child[known]
            shown = list_nodes(forest, sets, place, order[part.begin], board.nodes, known, node)
    return later[:waiting].copy()


@njit(cache=True, nogil=True)
def choose(board: Board, shown: int, patient: bool) -> tuple[int, bool]:
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


@njit(cache=True, nogil=True)
def group_runs(start: Longs, values: Ints) -> tuple[Ints, Ints]:
    """Group equal runs of values; equal hashes are compared value by value."""
    runs = len(start) - 1
    size = 16
    while size < 2 * runs:
        size *= 2
    mask = np.uint64(size - 1)
    slots = np.full(size, -1, dtype=np.int32)
    hashes = np.empty(runs, dtype=np.uint64)
    member = np.empty(runs, dtype=np.int32)
    first = np.empty(runs, dtype=np.int32)
    groups = 0
    for run in range(runs):
        length = start[run + 1] - start[run]
        h = np.uint64(length)
        for i in range(start[run], start[run + 1]):
            h = (h ^ (np.uint64(values[i]) + np.uint64(1))) * np.uint64(0xFF51AFD7ED558CCD)
            h ^= h >> np.uint64(32)
        hashes[run] = h
        slot = h & mask
        while True:
            g = slots[slot]
            if g < 0:
                slots[slot] = groups
                first[groups] = run
                member[run] = groups
                groups += 1
                break
            other = first[g]
            same = hashes[other] == h and start[other + 1] - start[other] == length
            i = 0
            while same and i < length:
                same = values[start[other] + i] == values[start[run] + i]
                i += 1
            if same:
                member[run] = g
                break
            slot = (slot + np.uint64(1)) & mask
    return member, first[:groups].copy()
