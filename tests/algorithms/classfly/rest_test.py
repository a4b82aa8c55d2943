"""The tuples that are left, round by round: as they are, and with all that is known and merged left out."""

from __future__ import annotations

import numpy as np
import pytest

from coded_tables import QUASI, coded
from kveil.algorithms.classfly import rest as module
from kveil.algorithms.classfly.classfly_component import ClassflyComponent
from kveil.algorithms.classfly.rest import Rest
from kveil.algorithms.component import components_of
from kveil.algorithms.shown_tuples import Tuples
from kveil.kernels.grouping.equal_rows import group_rows

NAMES = ("t", "u", "v")
LEAVES = "abcdefgh"
LABELS = {"*": {"A": {"L": ["a", "b"], "M": ["c", "d"]}, "B": ["e", "f", "g", "h"]}}
TREE = {"role": QUASI, "hierarchy": {"tree": LABELS}}
MODELS = [
    {"model": "k-anonymity", "attributes": ["t", "u"], "k": 3},
    {"model": "k-anonymity", "attributes": ["u", "v"], "k": 4},
    {"model": "k-anonymity", "attributes": ["t", "v"], "k": 2},
]


def part_of(seed: int, rows: int) -> ClassflyComponent:
    draw = np.random.default_rng(seed)
    columns = {name: [LEAVES[int(len(LEAVES) * share**2)] for share in draw.random(rows)] for name in NAMES}
    table = coded(columns, dict.fromkeys(NAMES, TREE), privacy=MODELS, limit=1)
    return ClassflyComponent(components_of(table)[0], Tuples.at_leaves(table), "complete")


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_rounds_find_what_grouping_all_over_again_finds(
    seed: int, merged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FEW", 0)  # so that a sample decides whether tuples are merged
    part = part_of(seed, 20 + 15 * seed)
    rest = Rest(part, always_merged=merged)
    nodes = np.full_like(part.leaf_nodes, -1)
    now = part.leaf_nodes.copy()  # what every tuple shows while it is left
    left = np.ones(now.shape[1], dtype=bool)
    while rest.most_shown is not None and left.any():
        at = np.flatnonzero(left)
        assert np.array_equal(rest.nodes[:, rest.member[at]], now[:, at])
        assert [shown.tolist() for shown in rest.shown] == [np.unique(column[at]).tolist() for column in now]
        assert int(rest.weights.sum()) == int(part.weights[at].sum())
        good = rest.satisfied()
        expected = part.satisfied(now[:, at], part.weights[at], {})
        assert good[rest.member[at]].tolist() == expected.tolist()
        if good.any():
            rest.set_aside(good, nodes)
            left[at[expected]] = False
            assert np.array_equal(rest.left, left)
            assert np.array_equal(nodes[:, at[expected]], now[:, at[expected]])
        if rest.most_shown is not None:
            a = rest.most_shown
            now[a] = rest.moves[a][now[a]]
            rest.step(a)
            if merged:
                assert rest.nodes.shape[1] == len(group_rows(now[:, left])[1])
    assert (nodes[:, ~left] >= 0).all()


def test_few_tuples_are_merged_and_many_where_a_sample_has_equal_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    part = part_of(3, 400)
    few = Rest(part, always_merged=False)
    before = few.nodes.shape[1]
    few.step(0)
    assert few.nodes.shape[1] < before
    monkeypatch.setattr(module, "FEW", 0)
    monkeypatch.setattr(module, "SAMPLE", before)  # one tuple, which equals no other
    many = Rest(part, always_merged=False)
    many.step(0)
    assert many.nodes.shape[1] == before
    monkeypatch.setattr(module, "SAMPLE", 1)
    many.step(1)
    assert many.nodes.shape[1] < before
