"""Tuples that have become equal are merged, and nothing is lost."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from coded_tables import QUASI, coded
from kveil.algorithms.shown_tuples import Tuples

TREE = {"role": QUASI, "hierarchy": {"tree": {"*": {"N": ["a", "b"], "S": ["c"]}}}}
P = {"model": "p-sensitive", "sensitive": "s", "p": 1}


@pytest.mark.parametrize("seed", range(6))
def test_after_a_step_equal_tuples_are_one_with_all_their_rows_and_values(seed: int) -> None:
    random = np.random.default_rng(seed)
    columns = {
        "t": random.choice(list("abc"), 30),
        "u": random.choice(list("xy"), 30),
        "s": random.choice(list("12"), 30),
    }
    table = coded(columns, {"t": TREE, "u": QUASI, "s": "sensitive"}, privacy=[P])
    state = Tuples.at_leaves(table)
    tree = table.trees[0]
    assert [tree.labels[node] for node in state.nodes[0][table.distinct.member]] == columns["t"].tolist()
    state.nodes[0] = tree.parent[state.nodes[0]]
    state.shrink()
    of_row = state.member[table.distinct.member]
    shown = ["N" if own in "ab" else "S" for own in columns["t"]]
    assert [tree.labels[node] for node in state.nodes[0][of_row]] == shown
    assert len({tuple(column) for column in state.nodes.T.tolist()}) == state.nodes.shape[1]
    assert state.weights.tolist() == np.bincount(of_row).tolist()
    pairs = state.pairs["s"]
    found = Counter(
        dict(zip(zip(pairs.tuples.tolist(), pairs.codes.tolist(), strict=True), pairs.counts.tolist(), strict=True))
    )
    codes = table.sensitive["s"].code
    assert found == Counter(zip(of_row.tolist(), codes.tolist(), strict=True))
    assert state.over([1]).tolist() == [state.nodes[1].tolist()]
    assert state.over([0, 1]) is state.nodes


def test_people_start_at_what_covers_their_records() -> None:
    columns = {"who": ["p", "p", "q"], "t": ["a", "b", "c"]}
    table = coded(columns, {"who": "individual", "t": TREE}, individual={"conflicts": "generalize"})
    state = Tuples.at_leaves(table)
    assert [table.trees[0].labels[node] for node in state.nodes[0][table.distinct.member]] == ["N", "c"]
