"""Left-over tuples join records that are set aside; these widen for them where they may."""

from __future__ import annotations

import numpy as np
import pytest

from coded_tables import QUASI, coded
from kveil.algorithms.classfly.classfly_component import Aside, ClassflyComponent
from kveil.algorithms.classfly.left_over import _cheapest, _covering, _way_up, take_in
from kveil.algorithms.component import components_of
from kveil.algorithms.shown_tuples import Tuples
from kveil.table.table import Table
from kveil.table.tree import Tree

TREE = {"tree": {"*": {"N": ["a", "b"], "S": ["c", "d"]}}}


def aside(values: str, shown: list[str | None], *, widen: bool, **attribute: object) -> tuple[int, list[str | None]]:
    """Let the tuples that show nothing yet join the others; return how many did, and what all show then."""
    own = {"role": QUASI, "hierarchy": TREE, **attribute}
    table = coded({"t": list(values)}, {"t": own}, k=2, limit=1)
    part = ClassflyComponent(components_of(table)[0], Tuples.at_leaves(table), "complete")
    tree = part.trees[0]
    of_row = part.member[table.distinct.member]
    nodes, left = part.leaf_nodes.copy(), np.zeros(part.leaf_nodes.shape[1], dtype=bool)
    for row, label in enumerate(shown):
        left[of_row[row]] = label is None
        if label is not None:
            nodes[0, of_row[row]] = tree.node_of[label]
    state = Aside(nodes, left, 0, {})
    joined = take_in(part, state, widen=widen)
    return joined, [None if state.left[t] else tree.labels[state.nodes[0, t]] for t in of_row]


@pytest.mark.parametrize(
    ("values", "shown", "widen", "joined", "after"),
    [
        ("aab", ["N", "N", None], False, 1, ["N", "N", "N"]),  # falls where others are
        ("aab", ["a", "a", None], False, 0, ["a", "a", None]),
        ("aab", ["a", "a", None], True, 1, ["N", "N", "N"]),
        ("aac", ["a", "a", None], True, 0, ["a", "a", None]),  # nothing but stars would be left to show
        ("aaccb", ["a", "a", "c", "c", None], True, 1, ["N", "N", "c", "c", "N"]),  # the cheapest group
        ("ab", [None, None], True, 0, [None, None]),  # there is nobody to join
    ],
)
def test_left_over_tuples_join_what_loses_least(
    values: str, shown: list[str | None], widen: bool, joined: int, after: list[str | None]
) -> None:
    assert aside(values, shown, widen=widen) == (joined, after)


def test_nobody_joins_beyond_a_limit() -> None:
    assert aside("aab", ["a", "a", None], widen=True, boundary=["a", "b", "S"]) == (0, ["a", "a", None])


def tree() -> Tree:
    table: Table = coded({"t": list("abcd")}, {"t": {"role": QUASI, "hierarchy": TREE, "boundary": ["N"]}})
    own = table.trees[0]
    assert isinstance(own, Tree)
    return own


def test_the_lowest_node_above_two_covers_both() -> None:
    own = tree()
    for node in range(len(own.labels)):
        for other, above in enumerate(_covering(own, node).tolist()):
            first, last = min(own.first[node], own.first[other]), max(own.last[node], own.last[other])
            covers = [n for n in range(len(own.labels)) if own.first[n] <= first and last <= own.last[n]]
            deepest = max(own.depth[n] for n in covers)
            assert above in covers
            assert own.depth[above] == deepest or node == other


def test_a_way_up_ends_at_the_limit() -> None:
    own = tree()
    way = {own.labels[n] for n in np.flatnonzero(_way_up(own, own.node_of["a"]))}
    assert way == {"a", "N"}
    assert {own.labels[n] for n in np.flatnonzero(_way_up(own, own.node_of["c"]))} == {"c", "S", "*"}


def test_the_cheapest_are_taken_with_all_that_cost_as_much() -> None:
    price = np.array([5.0, 1.0, 2.0, 2.0, 9.0])
    assert _cheapest(price, 2).tolist() == [1, 2, 3]
    assert _cheapest(np.where(price == 9, np.inf, price), 5).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("values", [5, 10**6])
@pytest.mark.parametrize("possible", [0.0, 0.01, 1.0])
def test_the_cheapest_of_very_many_are_those_of_all(values: int, possible: float) -> None:
    draw = np.random.default_rng(values)
    price = draw.integers(0, values, 40_000).astype(np.float64)
    price[draw.random(len(price)) >= possible] = np.inf
    for most in (1, 100, 1_000, len(price)):
        ranked = np.sort(price[price < np.inf])
        last = ranked[min(most, len(ranked)) - 1] if len(ranked) else -1.0
        assert _cheapest(price, most).tolist() == np.flatnonzero(price <= last).tolist()
