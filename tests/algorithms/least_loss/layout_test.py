"""Attributes as the neighbourhood search reads them: what two codes join to, and what that costs."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numba
import numpy as np
import pytest

from coded_tables import QUASI, coded
from kveil.algorithms.least_loss import layout
from kveil.algorithms.least_loss.layout import (
    TooLarge,
    base_codes,
    children_of_trees,
    lay_out,
    leaves_of_codes,
    whole_numbers,
)
from kveil.kernels.least_loss import join_loops as loops
from kveil.table.table import Table

ATTRIBUTES: dict[str, Any] = {
    "t": {"role": QUASI, "hierarchy": {"tree": {"*": {"N": ["a", "b"], "S": ["c"]}}}},
    "n": {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 10], "round": 2}}, "weight": 3},
}
COLUMNS = {"t": ["a", "b", "c", "a"], "n": ["1", "4", "9", ""]}


@numba.njit
def joined(codes: Any, a: int, u: int, v: int) -> tuple[int, int]:
    return loops.join(codes, a, u, v), loops.joined_cost(codes, a, u, v)


def table(loss: str = "ncp") -> Table:
    return coded(COLUMNS, ATTRIBUTES, loss=loss)


@pytest.mark.parametrize("most", [1 << 20, 1])  # with and without a table of all pairs
def test_two_codes_join_to_what_covers_both_at_what_a_row_loses(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MOST_PAIRS", most)
    own = table()
    costs = whole_numbers(own)
    codes = lay_out(own, [0, 1], costs)
    base = base_codes(own, [0, 1], own.low, own.high)
    share = [0.25, 0.75]
    for i in range(4):
        for j in range(4):
            for a, tree in enumerate(own.trees):
                code, cost = joined(codes, a, int(base[i, a]), int(base[j, a]))
                low, high = sorted((int(own.leaves[a, i]), int(own.leaves[a, j])))
                if a == 0:
                    node = int(tree.lca(np.array([low]), np.array([high]))[0])
                    assert code == node
                    loss = float(tree.ncp[node])
                else:
                    assert divmod(code, tree.leaves) == (low, high)
                    loss = tree.shown(low, high)[1]
                assert cost / costs.scale == pytest.approx(loss * share[a], abs=1e-9)


def test_codes_are_read_back_as_the_leaves_they_show() -> None:
    own = table()
    low, high = leaves_of_codes(own, [0, 1], base_codes(own, [0, 1], own.low, own.high))
    assert low.tolist() == high.tolist() == own.leaves.tolist()


def test_costs_are_exact_where_they_have_a_common_denominator() -> None:
    tree_only = coded({"t": COLUMNS["t"]}, {"t": ATTRIBUTES["t"]})
    costs = whole_numbers(tree_only)
    tree = tree_only.trees[0]
    assert (costs.nodes[0] / costs.scale).tolist() == tree.ncp.tolist()
    assert costs.scale < layout.FINE


def test_numbers_that_do_not_fit_are_told() -> None:
    huge = {"role": QUASI, "hierarchy": {"ranges": {"within": [0, Decimal(10) ** 20]}}}
    own = coded({"n": ["1", "99999999999999999999"]}, {"n": huge})
    with pytest.raises(TooLarge):
        lay_out(own, [0], whole_numbers(own))


def test_children_stand_with_their_parents() -> None:
    own = coded({"t": COLUMNS["t"], "u": COLUMNS["t"]}, {"t": ATTRIBUTES["t"], "u": ATTRIBUTES["t"]})
    children = children_of_trees(own, [0, 1])
    for number, tree in enumerate(own.trees):
        base = int(children.at[number])
        for node in range(len(tree.labels)):
            begin, end = children.start[base + node], children.start[base + node + 1]
            found = children.child[begin:end].tolist()
            assert found == [c for c in range(1, len(tree.labels)) if tree.parent[c] == node]
            assert [int(children.rank[base + c]) for c in found] == list(range(len(found)))
