"""Samples of groups prove that too much is lost, and never that it is when it is not."""

from __future__ import annotations

import numpy as np
import pytest

from coded_tables import QUASI, coded
from kveil.algorithms.full_domain import samples
from kveil.algorithms.full_domain.samples import GroupSamples
from kveil.algorithms.judge import PolicyJudge
from kveil.algorithms.shown_tuples import Tuples

NUMBER = {"role": QUASI, "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [5, 20, 100]}}}


def made(seed: int, k: int, monkeypatch: pytest.MonkeyPatch) -> tuple[PolicyJudge, Tuples, GroupSamples]:
    monkeypatch.setattr(samples, "SMALL", 10)
    random = np.random.default_rng(seed)
    columns = {name: random.integers(0, 100, 400).astype(str).tolist() for name in ("a", "b")}
    table = coded(columns, {"a": NUMBER, "b": NUMBER}, k=k, limit=0.05)
    judge, state = PolicyJudge(table), Tuples.at_leaves(table)
    return judge, state, GroupSamples(judge, Tuples.at_leaves(table), 20)


@pytest.mark.parametrize("k", [2, 4, 12])
@pytest.mark.parametrize("seed", range(3))
def test_what_a_sample_proves_is_true_of_the_whole(seed: int, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    judge, state, sampled = made(seed, k, monkeypatch)
    trees = judge.table.trees
    proved = 0
    for turn in range(6):
        found = sampled.violators()
        lost = int(state.weights[judge.outside(state, judge.components[0], None)[0]].sum())
        if found is not None:
            proved += 1
            assert found == {0}
            assert lost > 20
        step = np.where(trees[turn % 2].depth > 0, trees[turn % 2].parent, 0).astype(np.int32)
        state.nodes[turn % 2] = step[state.nodes[turn % 2]]
        sampled.climb(turn % 2, step)
    assert proved or k == 2
    caught_up = sampled.catch_up()
    assert len({tuple(column) for column in caught_up.nodes.T.tolist()}) == caught_up.nodes.shape[1]
    assert caught_up.nodes[:, caught_up.member].tolist() == state.nodes.tolist()


def test_a_small_table_is_looked_at_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, sampled = made(0, 12, monkeypatch)
    monkeypatch.setattr(samples, "SMALL", 10**9)
    assert sampled.violators() is None
