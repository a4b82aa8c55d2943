"""Grown cuts, beside their slow twin: sets around nodes that were used too often together."""

from __future__ import annotations

import numpy as np
from hypothesis import event, given
from hypothesis import strategies as st

from kveil.kernels.bound.grown import each_once, grown_cuts
from kveil.kernels.bound.layout import Cuts, KeptNodes
from naive.bound import grown
from strategies import examples


def sets_of(cuts: Cuts) -> list[frozenset[int]]:
    return [frozenset(cuts.member[a:b].tolist()) for a, b in zip(cuts.start[:-1], cuts.start[1:], strict=True)]


def end_to_end(sets: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.cumsum([0, *map(len, sets)]), np.array([t for own in sets for t in own], dtype=np.int32)


def nodes_of(sets: list[list[int]], weight: np.ndarray) -> KeptNodes:
    nothing = np.zeros(len(sets), dtype=np.int64)
    rows = np.array([weight[own].sum() for own in sets], dtype=np.int64)
    return KeptNodes(len(sets), *end_to_end(sets), nothing, nothing, rows, True)


@given(st.integers(0, 10**6), st.integers(1, 14), st.integers(1, 5), st.integers(1, 3))
@examples(80)
def test_cuts_grow_as_their_definition_says(seed: int, number: int, k: int, groups: int) -> None:
    draw = np.random.default_rng(seed)
    weight = draw.integers(1, 4, 12)
    sets = [sorted(draw.choice(12, draw.integers(1, 6), replace=False).tolist()) for _ in range(number)]
    often = draw.integers(0, 101, number)
    cuts = grown_cuts(nodes_of(sets, weight), weight, often, 100, k, groups)
    expected = grown([frozenset(own) for own in sets], often.tolist(), 100, weight.tolist(), k, groups)
    event("found" if expected else "none")
    assert sets_of(cuts) == expected
    assert cuts.most.tolist() == [int(weight[sorted(own)].sum()) // k for own in expected]


def test_nodes_that_share_rows_are_one_cut() -> None:
    """Three pairs out of three rows, each used in half of the sums: one group of two fits."""
    weight = np.ones(4, dtype=np.int64)
    nodes = nodes_of([[0, 1], [1, 2], [0, 2], [3]], weight)
    cuts = grown_cuts(nodes, weight, np.array([50, 50, 50, 0]), 100, 2, 3)
    assert sets_of(cuts) == [frozenset({0, 1, 2})]
    assert cuts.most.tolist() == [1]


def test_a_cut_that_is_there_in_any_order_is_not_added_again() -> None:
    before = Cuts(*end_to_end([[2, 0], [1]]), np.array([1, 1]))
    cuts = Cuts(*end_to_end([[1, 2], [0, 2], [2, 1], [0, 1, 2]]), np.array([1, 1, 1, 2]))
    new = each_once(cuts, before, 3)
    assert sets_of(new) == [frozenset({1, 2}), frozenset({0, 1, 2})]
    assert new.most.tolist() == [1, 2]
