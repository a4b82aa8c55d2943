"""Grouping records by their children below a node, beside the slow way."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from random import Random

import numpy as np
import pytest

from called_loops import from_python
from kveil.kernels.items import by_children_loops as loops
from kveil.kernels.items.layout import Forest, LaidSets, RecordRun, Room, make_room
from laid_forests import forest_of
from naive.by_children import children_of, merge_small, regrouped
from naive.trees import ListTree, random_tree

first_below = from_python(loops.first_below)
children_below = from_python(loops.children_below)
group_children = from_python(loops.group_children)
merge_small_groups = from_python(loops.merge_small_groups)
regroup = from_python(loops.regroup)


@dataclass
class RootRecords:
    """Records whose items all show the root of a tree, which is to be opened, or to lose a child."""

    tree: ListTree
    costs: list[int]
    records: list[list[int]]
    forest: Forest
    sets: LaidSets
    part: RecordRun
    room: Room
    chance: Random

    @property
    def below(self) -> list[list[int]]:
        shown = dict.fromkeys(range(self.tree.leaves), 0)
        return [children_of(self.tree, shown, own, 0) for own in self.records]


def root_records(seed: int, *, narrow: bool, longest: int = 4) -> RootRecords:
    chance = Random(seed)
    tree = random_tree(chance, most_children=3 if narrow else 70, most_depth=3 if narrow else 1)
    costs = [round(1000 * tree.share(node)) for node in range(tree.nodes)]
    records = [
        sorted(chance.choices(range(tree.leaves), k=chance.randint(1, longest))) for _ in range(chance.randint(2, 14))
    ]
    forest = forest_of(tree, costs)
    start = np.cumsum([0, *map(len, records)]).astype(np.int64)
    leaves = np.array([leaf for own in records for leaf in own], dtype=np.int32)
    part = RecordRun(
        np.arange(len(records), dtype=np.int32), 0, len(records), forest.way_start[leaves].astype(np.int64)
    )
    room = make_room(len(records), 2 * longest, tree.nodes)
    return RootRecords(tree, costs, records, forest, LaidSets(start, leaves), part, room, chance)


def made_by(room: Room, records: int) -> list[list[int]]:
    """Return the records of every group, those that are left over in none."""
    group = room.group[:records].tolist()
    return [[p for p, own in enumerate(group) if own == g] for g in sorted(set(group) - {-1})]


@pytest.mark.parametrize("longest", [4, 40])  # few items are looked through, many are halved
@pytest.mark.parametrize("seed", range(40))
def test_children_below_a_node_are_those_above_the_items_that_show_it(seed: int, longest: int) -> None:
    own = root_records(seed, narrow=True, longest=longest)
    shown = {leaf: own.chance.choice(own.tree.way(node)) for leaf, node in enumerate(own.tree.leaf_nodes)}
    depth = [own.tree.depth[shown[leaf]] for leaf in own.sets.leaf.tolist()]
    place = own.part.place + np.array(depth)
    inner = [node for node in range(own.tree.nodes) if node not in own.tree.leaf_nodes]
    into = np.zeros(longest, dtype=np.int32)
    for record, items in enumerate(own.records):
        for node in inner:
            begin = int(own.sets.start[record])
            at = first_below(own.forest, own.sets.start, own.sets.leaf, record, node)
            assert at - begin == bisect_left(items, own.tree.first[node])
            number = children_below(own.forest, own.sets, place, record, node, into)
            assert into[:number].tolist() == children_of(own.tree, shown, items, node)


@pytest.mark.parametrize("narrow", [True, False])
@pytest.mark.parametrize("seed", range(60))
def test_records_with_the_same_children_are_a_group_and_children_are_counted(seed: int, narrow: bool) -> None:
    own = root_records(seed, narrow=narrow)
    below = own.below
    sets, children = group_children(own.forest, own.sets, own.part, 0, True, own.room)
    kinds = [tuple(sorted(set(items))) for items in below]
    numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
    assert sets == len(numbers)
    assert own.room.group[: len(kinds)].tolist() == [numbers[kind] for kind in kinds]
    assert own.room.first[:sets].tolist() == [kinds.index(kind) for kind in numbers]
    gains = [sum(own.costs[0] - own.costs[child] for child in items) for items in below]
    assert own.room.gain[: len(kinds)].tolist() == gains
    assert own.room.found[:children].tolist() == list(dict.fromkeys(child for items in below for child in items))
    for child in range(own.tree.nodes):
        alone = [items.count(child) for items in below if set(items) == {child}]
        others = [items.count(child) for items in below if child in items and set(items) != {child}]
        assert own.room.tally[child].tolist() == [len(alone), sum(alone), len(others), sum(others)]


@pytest.mark.parametrize("seed", range(120))
def test_groups_that_are_too_small_are_left_over_and_the_rest_is_filled_up(seed: int) -> None:
    own = root_records(seed, narrow=True)
    number, k = len(own.records), own.chance.randint(1, 4)
    group = [own.chance.choice([-1, 0, 1, 1, 2]) for _ in range(number)]
    gain = [own.chance.randrange(4) for _ in range(number)]
    groups = [[p for p, g in enumerate(group) if g == wanted] for wanted in range(3)]
    own.room.group[:], own.room.gain[:] = group, gain
    own.room.first[:3] = [members[0] if members else 0 for members in groups]
    first = [tuple(sorted(set(own.below[members[0]]))) if members else () for members in groups]
    found = merge_small_groups(own.forest, own.sets, own.part, 0, k, 3, own.room)
    expected = merge_small(groups, gain, first, k)
    assert found == (-1 if expected is None else expected[0])
    if expected is not None:
        assert made_by(own.room, number) == expected[1]


@pytest.mark.parametrize("narrow", [True, False])
@pytest.mark.parametrize("seed", range(120))
def test_opening_a_node_and_taking_out_a_child_group_records_as_by_hand(seed: int, narrow: bool) -> None:
    own = root_records(seed, narrow=narrow)
    k = own.chance.randint(1, 4)
    child = None if own.chance.random() < 0.5 else own.chance.choice(own.below[0])
    gain = regroup(own.forest, own.sets, own.part, 0, -1 if child is None else child, k, own.room)
    shown = dict.fromkeys(range(own.tree.leaves), 0)
    expected = regrouped(own.tree, own.costs, shown, own.records, 0, child, k)
    if expected is None:
        assert gain == -1
        return
    assert gain == expected[0]
    assert sorted(made_by(own.room, len(own.records))) == sorted(sorted(members) for members in expected[1])
