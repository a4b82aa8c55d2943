"""Trees laid end to end: the children of every node, beside the parents they were read off."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import polars as pl
import pytest

from kveil.algorithms.forest import children_of, end_to_end, starts_of
from kveil.frames import from_frame
from kveil.table.encode import encode
from kveil.table.tree import Tree
from support import QUASI, make_policy


def random_labels(chance: Random, name: str, depth: int) -> object:
    """Return the children of a node as a policy writes them: a list of leaves, or a mapping of nodes."""
    below = [f"{name}{i}" for i in range(chance.randint(1, 4))]
    return below if depth == 0 else {child: random_labels(chance, child, depth - 1) for child in below}


def tree_of(chance: Random) -> Tree:
    hierarchy = {"tree": {"*": random_labels(chance, "n", chance.randint(0, 2))}}
    leaves: list[str] = []

    def gather(part: object) -> None:
        if isinstance(part, dict):
            for below in part.values():
                gather(below)
        elif isinstance(part, list):
            leaves.extend(part)

    gather(hierarchy["tree"])
    policy = make_policy({"a": {"role": QUASI, "hierarchy": hierarchy}}, k=1)
    tree = encode(from_frame(pl.DataFrame({"a": chance.choices(leaves, k=5)})), policy).trees[0]
    assert isinstance(tree, Tree)
    return tree


@pytest.mark.parametrize("seed", range(30))
def test_the_children_of_every_node_stand_together_in_leaf_order(seed: int) -> None:
    tree = tree_of(Random(seed))
    lists = children_of(tree)
    start = starts_of(lists.fan)
    for node in range(len(tree.labels)):
        children = [child for child in range(1, len(tree.labels)) if tree.parent[child] == node]
        children.sort(key=lambda child: tree.first[child])
        assert lists.child[start[node] : start[node + 1]].tolist() == children
        assert lists.fan[node] == len(children)
        assert lists.rank[children].tolist() == list(range(len(children)))
    assert lists.rank[0] == 0


def test_runs_laid_end_to_end_start_where_the_one_before_ends() -> None:
    runs = [[1, 2], [], [3]]
    starts = starts_of([len(run) for run in runs])
    laid = end_to_end(runs, np.int32)
    assert starts.tolist() == [0, 2, 2, 3]
    assert [laid[a:b].tolist() for a, b in pairwise(starts)] == runs
    assert laid.dtype == np.int32


def test_nothing_laid_end_to_end_is_an_empty_array_of_its_type() -> None:
    assert starts_of([]).tolist() == [0]
    assert end_to_end([], np.int64).dtype == np.int64
    assert len(end_to_end([], np.int64)) == 0
