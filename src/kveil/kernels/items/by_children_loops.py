"""Compiled loops that group the records of a part by the children they have below a node; behind `partition`."""

from __future__ import annotations

import numpy as np

from kveil.arrays import Ints, Longs
from kveil.kernels.grouping.hash_slots_loops import empty_slots, mix, seek
from kveil.kernels.items.layout import Forest, LaidSets, RecordRun, Room
from kveil.kernels.jit import inner
from kveil.kernels.sorting.sorting_loops import sort_pairs

ABSENT, ALONE, AMONG_OTHERS = -1, 0, 1  # how a record has the child that is taken out of a node
SHORT = 16  # items that are looked through one by one
BITS = 64  # children of a node that a word can name


@inner
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


@inner
def children_below(forest: Forest, sets: LaidSets, place: Longs, record: int, node: int, into: Ints) -> int:
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


@inner
def compare_children(forest: Forest, sets: LaidSets, part: RecordRun, node: int, p: int, q: int, room: Room) -> int:
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


@inner
def group_children(
    forest: Forest, sets: LaidSets, part: RecordRun, node: int, weigh: bool, room: Room
) -> tuple[int, int]:
    """Give the records of a part numbers by the set of children they have; return how many sets and children there are.

    ``room.gain`` becomes what each record would gain if the node were opened. Where the answer is to ``weigh`` the
    node, the children are counted too: they are written to ``room.found``, and ``room.tally`` becomes node × (records
    that have it alone, their items below it, records that have it among others, their items below it).
    """
    tally = room.tally
    children = 0
    records = part.end - part.begin
    mask = empty_slots(room.slots, records)
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
                    word = mix(word, child)
                before = child
                if weigh:
                    if tally[child, 0] == 0 and tally[child, 2] == 0:
                        room.found[children] = child
                        children += 1
                    tally[child, at] += 1
            if weigh:
                tally[child, at + 1] += 1
        room.gain[p] = gain
        slot = (word * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
        for _ in range(len(room.slots)):
            slot = seek(room.slots, room.hashes, word, slot, mask)
            g = room.slots[slot]
            if g < 0:
                room.slots[slot] = groups
                room.hashes[groups] = word
                room.first[groups] = p
                groups += 1
                break
            if narrow or compare_children(forest, sets, part, node, room.first[g], p, room) == 0:
                break
            slot += np.uint64(1)
        room.group[p] = room.slots[slot]
    return groups, children


@inner
def group_by_child(forest: Forest, sets: LaidSets, part: RecordRun, node: int, child: int, room: Room) -> int:
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


@inner
def give_back(records: int, needed: int, k: int, groups: int, room: Room) -> int:
    """Take records out of groups that have more than k, those of least gain first; return the gain they had.

    Ties go to the first record. ``room.size`` is at least k for the groups that stand, 0 for others.
    """
    group, size = room.group, room.size
    eligible = 0
    for p in range(records):
        if group[p] >= 0 and size[group[p]] > k:
            room.gains[eligible], room.who[eligible] = room.gain[p], p
            eligible += 1
    sort_pairs(room.gains, room.who, eligible)
    lost = np.int64(0)
    for n in range(eligible):
        if needed == 0:
            break
        p = room.who[n]
        g = group[p]
        if size[g] > k:
            size[g] -= 1
            group[p] = -1
            lost += room.gain[p]
            needed -= 1
    return lost


@inner
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


@inner
def merge_small_groups(
    forest: Forest, sets: LaidSets, part: RecordRun, node: int, k: int, groups: int, room: Room
) -> int:
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


@inner
def regroup(forest: Forest, sets: LaidSets, part: RecordRun, node: int, child: int, k: int, room: Room) -> int:
    """Group a part as opening a node would, or taking a child out of it; return the gain, -1 where that cannot be."""
    if child < 0:
        groups, _ = group_children(forest, sets, part, node, False, room)
    else:
        groups = group_by_child(forest, sets, part, node, child, room)
    return merge_small_groups(forest, sets, part, node, k, groups, room)
