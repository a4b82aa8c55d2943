"""Attributes as Mondrian's loops read them."""

from __future__ import annotations

import numpy as np
import pytest

from coded_tables import QUASI, coded
from kveil.algorithms.splitting.layout import lay_trees

ATTRIBUTES = {
    "t": {"role": QUASI, "hierarchy": {"tree": {"*": {"N": ["a", "b"], "S": ["c"]}}}},
    "n": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 10]}}, "weight": 3},
    "i": {"role": QUASI, "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [10], "open": "above"}}},
    "d": {"role": QUASI, "hierarchy": {"dates": ["month"]}},
}
COLUMNS = {
    "t": ["a", "b", "c"],
    "n": ["1", "9", ""],
    "i": ["31", "7", "200"],
    "d": ["2020-01-01", "2020-01-31", "2021-01-01"],
}


def test_numbers_are_cut_like_a_line_and_trees_are_opened() -> None:
    table = coded(COLUMNS, ATTRIBUTES)
    laid = lay_trees(table, [0, 1, 2, 3])
    assert laid.numeric.tolist() == [False, True, True, True]
    assert laid.missing.tolist() == [-1, 2, -1, -1]
    assert laid.importance.tolist() == [1.0, 3.0, 1.0, 1.0]
    assert laid.extent.tolist() == [1.0, 10.0, 99.0, 366.0]
    numbers = [laid.number[laid.leaf_offset[a] : laid.leaf_offset[a + 1]] for a in range(4)]
    assert numbers[1][:2].tolist() == [1.0, 9.0]
    assert np.isnan(numbers[1][2])
    assert numbers[2].tolist() == [7.0, 31.0, 99.0]  # what lies beyond an open end is one with the end
    assert np.diff(numbers[3]).tolist() == [30.0, 336.0]


def test_trees_lie_end_to_end_with_their_children() -> None:
    table = coded({"t": ["a", "b", "c"], "n": ["1", "2", "3"], "u": ["x", "y", "x"]}, {
        "t": ATTRIBUTES["t"], "n": ATTRIBUTES["n"], "u": QUASI
    })  # fmt: skip
    laid = lay_trees(table, [0, 1, 2])
    assert laid.node_offset.tolist() == [0, 6, 6, 9]
    for a in (0, 2):
        tree, base = table.trees[a], int(laid.node_offset[a])
        for node in range(len(tree.labels)):
            begin, end = laid.child_start[base + node], laid.child_start[base + node + 1]
            assert [int(c) for c in laid.child[begin:end]] == [
                c for c in range(1, len(tree.labels)) if tree.parent[c] == node
            ]
            assert laid.cost[base + node] == pytest.approx(tree.ncp[node])
