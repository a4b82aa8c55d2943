"""Runs of neighbours: never torn apart, never too light, and left out or brought back as a whole."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from coded_tables import QUASI, coded, shown_as
from kveil.algorithms.neighbourhoods import (
    come_by_runs,
    counted_rows,
    hide_with_neighbours,
    looks_at_values,
    runs_of,
    runs_of_rows,
    runs_to_leave_out,
    shortest_run,
    whole_runs,
)
from kveil.models.of_policy import group_model
from kveil.table.table import Table

AGES = {"role": QUASI, "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [10]}}}
ALPHA = {"model": "alpha-k", "sensitive": "s", "alpha": 0.5, "k": 2}


@pytest.mark.parametrize("seed", range(20))
def test_runs_are_neighbours_that_weigh_enough(seed: int) -> None:
    random = np.random.default_rng(seed)
    number = int(random.integers(1, 25))
    keys = [random.integers(0, 4, number).astype(np.int32) for _ in range(2)]
    weights, least = random.integers(1, 4, number), int(random.integers(1, 9))
    run = runs_of(keys, weights, least)
    by_key = [(tuple(int(key[i]) for key in keys), int(run[i])) for i in np.lexsort((keys[1], keys[0]))]
    assert all(after[1] - before[1] in (0, 1) for before, after in pairwise(by_key))  # in the order of the keys
    assert all(before[1] == after[1] for before, after in pairwise(by_key) if before[0] == after[0])
    sizes = np.bincount(run, weights=weights)
    assert (sizes >= least).all() or len(sizes) == 1
    # No run could be cut: without its last different item each but the last is too light.
    for own in range(len(sizes) - 1):
        last = max(key for key, r in by_key if r == own)
        of_last = sum(int(weights[i]) for i in range(number) if tuple(int(key[i]) for key in keys) == last)
        assert sizes[own] - of_last < least


def test_nobody_has_no_run() -> None:
    assert runs_of([], np.zeros(0, dtype=np.int64), 3).tolist() == []


def test_a_run_goes_as_a_whole() -> None:
    run = np.array([0, 0, 1, 1, 2])
    assert whole_runs(run, np.array([True, False, True, True, True])).tolist() == [False, False, True, True, True]


def test_runs_of_which_somebody_finds_no_place_are_not_offered_again() -> None:
    run, asked = np.array([0, 0, 1, 1, 2]), []

    def attempt(offered: np.ndarray) -> np.ndarray:
        asked.append(offered.tolist())
        return offered & np.array([True, False, True, True, True])  # the second never finds one

    able = np.array([True, True, True, True, False])
    assert come_by_runs(run, able, attempt).tolist() == [False, False, True, True, False]
    assert asked[0] == able.tolist()
    assert asked[-1] == [False, False, True, True, False]  # the last attempt stands


def test_where_runs_fall_apart_again_and_again_nobody_comes() -> None:
    last = []

    def attempt(offered: np.ndarray) -> np.ndarray:
        last[:] = offered.tolist()
        placed = offered.copy()
        if offered.any():
            placed[np.flatnonzero(offered)[0]] = False  # always one more who finds no place
        return placed

    run = np.arange(20)
    assert not come_by_runs(run, np.ones(20, dtype=bool), attempt).any()
    assert not any(last)


def table(values: list[str], **others: object) -> Table:
    columns = {"age": [str(i) for i in range(len(values))], "s": values}
    return coded(columns, {"age": AGES, "s": "sensitive"}, **{"privacy": [ALPHA], "limit": 1, **others})


def test_runs_of_rows_have_as_many_as_any_model_needs_and_one_more() -> None:
    own = table(list("xyxyxy"))
    assert shortest_run(own) == 3  # two members satisfy (α,k); with one more no single value decides
    assert runs_of_rows(own, np.arange(6)).tolist() == [0, 0, 0, 1, 1, 1]
    assert looks_at_values(own)
    sizes = table(list("xyxyxy"), privacy=[{"model": "k-anonymity", "k": 2}])
    assert not looks_at_values(sizes)


@pytest.mark.parametrize("seed", range(12))
def test_whole_runs_are_left_out_so_that_the_others_hold(seed: int) -> None:
    random = np.random.default_rng(seed)
    own = table(random.choice(list("xxxyz"), 15).tolist())
    counted = counted_rows(own, np.arange(15))
    models = [group_model(model, own) for model in own.policy.privacy]
    out = runs_to_leave_out(counted, models, allowed=9)
    holds = counted.hold(models[0], np.ones(15, dtype=bool))
    run = runs_of_rows(own, np.arange(15))
    if holds:
        assert not out.any()
    if out.any():
        assert counted.hold(models[0], ~out)
        assert out.sum() <= 9
        assert len({bool(out[i]) for i in range(15) if run[i] == run[np.flatnonzero(out)[0]]}) == 1
        for gone in np.unique(run[out]):
            assert len(set(own.sensitive["s"].code[run == gone].tolist())) >= 2
        assert (whole_runs(run, out) == out).all()


def test_who_shows_nothing_goes_with_the_neighbours_who_show_only_items() -> None:
    tree = {"tree": {"*": {"X": ["x1", "x2"]}}}
    attributes = {"who": "individual", "age": AGES, "s": {"role": "sensitive", "hierarchy": tree}}
    columns = {"who": list("pqrt"), "age": ["1", "2", "3", "50"], "s": ["x1", "x2", "x1", "x2"]}
    model = {"model": "kl-diversity", "sensitive": "s", "k": 2, "l": 1}
    own = coded(columns, attributes, privacy=[model], limit=1)
    solution = shown_as(own, {"age": ["*", "*", "*", "50-59"]})
    nodes = own.sensitive["s"].tree.node_of
    items = {"s": np.array([nodes["*"], nodes["X"], nodes["X"], nodes["*"]], dtype=np.int32)}
    everyone = np.ones(4, dtype=bool)
    hidden = hide_with_neighbours(own, solution.shown, items, everyone)
    assert hidden.tolist() == [True, True, True, False]  # p shows nothing; q and r are of the same run
    assert not hide_with_neighbours(own, solution.shown, items, np.array([False, True, True, True])).any()
