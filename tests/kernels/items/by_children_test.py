"""Grouping records by their children below a node, beside the slow way."""

from __future__ import annotations

from random import Random
from typing import Any

import numba
import numpy as np
import pytest

from kveil.kernels.items.by_children_loops import regroup
from kveil.kernels.items.layout import LaidSets, RecordRun, make_room
from laid_forests import forest_of
from naive.by_children import children_of, regrouped
from naive.trees import random_tree


@numba.njit
def call_regroup(forest: Any, sets: Any, part: Any, node: int, child: int, k: int, room: Any) -> int:
    return regroup(forest, sets, part, node, child, k, room)  # type: ignore[no-any-return]


@pytest.mark.parametrize("narrow", [True, False])
@pytest.mark.parametrize("seed", range(120))
def test_opening_a_node_and_taking_out_a_child_group_records_as_by_hand(seed: int, narrow: bool) -> None:
    chance = Random(seed)
    tree = random_tree(chance, most_children=3 if narrow else 70, most_depth=3 if narrow else 1)
    costs = [round(1000 * tree.share(node)) for node in range(tree.nodes)]
    records = [sorted(chance.choices(range(tree.leaves), k=chance.randint(1, 4))) for _ in range(chance.randint(2, 14))]
    # Everything shows the root, which is opened or loses a child: a part whose records show the same set.
    shown = dict.fromkeys(range(tree.leaves), 0)
    forest = forest_of(tree, costs)
    start = np.cumsum([0, *map(len, records)]).astype(np.int64)
    leaves = np.array([leaf for own in records for leaf in own], dtype=np.int32)
    place = forest.way_start[leaves].astype(np.int64)
    part = RecordRun(np.arange(len(records), dtype=np.int32), 0, len(records), place)
    k = chance.randint(1, 4)
    child = None if chance.random() < 0.5 else chance.choice(children_of(tree, shown, records[0], 0))
    room = make_room(len(records), 8, tree.nodes)
    gain = call_regroup(forest, LaidSets(start, leaves), part, 0, -1 if child is None else child, k, room)
    expected = regrouped(tree, costs, shown, records, 0, child, k)
    if expected is None:
        assert gain == -1
        return
    group = room.group[: len(records)].tolist()
    made = [[p for p, own in enumerate(group) if own == g] for g in sorted(set(group) - {-1})]
    assert gain == expected[0]
    assert sorted(made) == sorted(sorted(own) for own in expected[1])
