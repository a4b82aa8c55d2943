"""A run that is cancelled ends inside of its steps: compiled loops look at the flag, long steps in Python ask."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import polars as pl
import pytest

import kveil
from kveil.algorithms.registry import ALGORITHMS, find
from kveil.frames import from_frame
from kveil.kernels.clustering.layout import ClusterArrays, ClusterRoom
from kveil.stopping import OutOfTime, Stop, check_cancelled, under
from kveil.table.encode import encode

TREE = {"tree": {"*": {"a": ["a1", "a2", "a3"], "b": ["b1", "b2", "b3"]}}}
QUASI: dict[str, Any] = {
    "age": {"role": "quasi-identifier", "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [5, 10, 20]}}},
    "zip": {"role": "quasi-identifier", "hierarchy": {"mask": {"keep": [4, 3, 2, 1]}}},
    "weight": {"role": "quasi-identifier", "hierarchy": {"intervals": {"from": 0, "to": 199, "widths": [5, 20]}}},
}
K = {"model": "k-anonymity", "k": 5}
L = {"model": "l-diversity", "sensitive": "illness", "l": 2}
KM = {"model": "k-km-anonymity", "sensitive": "illness", "k": 3, "m": 2}
KL = {"model": "kl-diversity", "sensitive": "illness", "k": 3, "l": 1}


def people(rows: int) -> pl.DataFrame:
    draw = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": draw.integers(0, 100, rows).astype(str),
            "zip": draw.integers(10_000, 30_000, rows).astype(str),
            "weight": draw.integers(0, 200, rows).astype(str),
            "illness": draw.choice(["a1", "a2", "a3", "b1", "b2", "b3"], rows),
        }
    )


def policy_for(algorithm: str, *models: dict[str, Any], persons: bool = False) -> kveil.Policy:
    attributes = {**QUASI, "illness": {"role": "sensitive", "hierarchy": TREE}}
    if persons:
        attributes["pid"] = {"role": "individual"}
    privacy: Any = list(models)
    return kveil.Policy(
        kveil=1,
        attributes=attributes,
        privacy=privacy,
        suppression={"limit": 1},
        algorithm=algorithm,  # type: ignore[arg-type]
    )


# A loop, whether it did nothing (from what it was given, what that was before, and what it returned), and who calls it.
LOOPS: list[tuple[str, str, Callable[[Any, Any, Any], bool], kveil.Policy]] = [
    ("splitting.mondrian_loops", "split_parts", lambda *seen: seen[2] == -1, policy_for("mondrian", K)),
    ("clustering.greedy_loops", "cluster_groups", lambda *seen: unused(seen[0]), policy_for("k-member", K)),
    ("clustering.diverse_loops", "cluster_all", lambda *seen: seen[2] == 0, policy_for("pk-clustering", K, L)),
    ("least_loss.start_loops", "split_down", lambda *seen: same(seen, 6), policy_for("least-loss", K)),
    ("items.partition_loops", "refine_parts", lambda *seen: same(seen, 3), policy_for("partition", KL, persons=True)),
    (
        "items.combinations_loops",
        "merge_clusters",
        lambda *seen: same(seen, 8),
        policy_for("rmerger", KM, persons=True),
    ),
]


def same(seen: tuple[Any, ...], place: int) -> bool:
    return bool(np.array_equal(seen[0][place], seen[1][place]))


def unused(given: tuple[Any, ...]) -> bool:
    clusters = next(one for one in given if isinstance(one, ClusterArrays))
    return bool((clusters.label == -1).all())


@pytest.mark.parametrize(("module", "loop", "did_nothing", "policy"), LOOPS, ids=[case[1] for case in LOOPS])
def test_a_loop_ends_at_once_when_the_flag_is_raised(
    module: str, loop: str, did_nothing: Any, policy: kveil.Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop, seen = Stop(), []
    loops = import_module(f"kveil.kernels.{module}")
    compiled = getattr(loops, loop)

    def cancelled_first(*given: Any, **options: Any) -> Any:
        before = [one.copy() if isinstance(one, np.ndarray) else one for one in given]
        stop.cancel()
        returned = compiled(*given, **options)
        seen.append(did_nothing(given, before, returned))
        return returned

    frame = people(300)
    if policy.individual_column is not None:
        frame = frame.with_columns(pid=pl.Series([str(n // 3) for n in range(300)]))
        frame = frame.with_columns(pl.col("age", "zip", "weight").first().over("pid"))
    monkeypatch.setattr(loops, loop, cancelled_first)
    with pytest.raises(kveil.Cancelled), under(stop):
        kveil.anonymize(frame, policy)
    assert seen
    assert all(seen)


def test_a_walk_of_the_bound_ends_at_once_when_the_flag_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    stop, seen = Stop(), []
    loops = import_module("kveil.kernels.bound.bound_loops")
    compiled = loops.cheapest_nodes

    def cancelled_first(*given: Any, **options: Any) -> None:
        stop.cancel()
        compiled(*given, **options)
        seen.append(bool((given[4] == given[3]).all()))  # nothing is cheaper than everything

    monkeypatch.setattr(loops, "cheapest_nodes", cancelled_first)
    with pytest.raises((kveil.Cancelled, OutOfTime)), under(stop):
        kveil.bound(people(300), policy_for("mondrian", K))
    assert seen == [True]


def test_a_release_that_takes_seconds_is_cancelled_from_another_thread_inside_its_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stop, begun, left_over = Stop(), threading.Event(), []
    loops = import_module("kveil.kernels.clustering.greedy_loops")
    compiled = loops.cluster_groups

    def told(*given: Any, **options: Any) -> None:
        begun.set()
        compiled(*given, **options)
        left_over.append(int((given[4].label == -1).sum()))

    monkeypatch.setattr(loops, "cluster_groups", told)
    frame, policy = people(60_000), policy_for("k-member", K)
    kveil.anonymize(frame.head(100), policy)  # so that nothing is compiled below
    begun.clear()
    left_over.clear()
    errors: list[BaseException] = []

    def run() -> None:
        try:
            with under(stop):
                kveil.anonymize(frame, policy)
        except kveil.KveilError as error:
            errors.append(error)

    worker = threading.Thread(target=run)
    worker.start()
    assert begun.wait(120)
    stop.cancel()
    worker.join(120)
    assert [type(error) for error in errors] == [kveil.Cancelled]
    assert left_over[0] > 30_000  # most of them were in no cluster yet


@pytest.mark.parametrize("name", [own.name for own in ALGORITHMS])
def test_the_search_of_every_algorithm_looks_at_the_deadline(name: str) -> None:
    persons = name in {"1m-generalization", "partition", "rmerger"}
    policy = policy_for(name, *([KM] if name == "rmerger" else [KL] if persons else [K]), persons=persons)
    frame = people(60)
    if persons:
        frame = frame.with_columns(pid=pl.Series([str(n) for n in range(60)]))
    table, algorithm = encode(from_frame(frame), policy), find(name)
    options, draw = algorithm.options.model_validate({}), np.random.default_rng(0)
    algorithm.solve(table, options, draw)
    with pytest.raises(OutOfTime), under(Stop(0.0)):
        algorithm.solve(table, options, draw)


def test_a_deadline_ends_a_loop_that_has_nothing_to_return(monkeypatch: pytest.MonkeyPatch) -> None:
    loops = import_module("kveil.kernels.clustering.greedy_loops")
    compiled, left_over = loops.cluster_groups, []

    def after_the_deadline(*given: Any, **options: Any) -> None:
        room = next(one for one in given if isinstance(one, ClusterRoom))
        while not room.halt[0]:
            time.sleep(0.01)
        compiled(*given, **options)
        left_over.append(unused(given))

    policy = policy_for("k-member", K)
    table, algorithm = encode(from_frame(people(300)), policy), find("k-member")
    options, draw = algorithm.options.model_validate({}), np.random.default_rng(0)
    algorithm.solve(table, options, draw)  # so that nothing is compiled below
    monkeypatch.setattr(loops, "cluster_groups", after_the_deadline)
    with pytest.raises(OutOfTime), under(Stop(2.0)):
        algorithm.solve(table, options, draw)
    assert left_over == [True]


def test_a_stop_inside_another_is_cancelled_with_it_and_not_the_other_way_round() -> None:
    outer = Stop()
    inner = Stop(within=outer)
    early, late = inner.flag, Stop(within=outer)
    inner.cancel()
    assert early[0]
    assert not outer.flag[0]
    outer.cancel()
    assert outer.flag[0]
    assert late.flag[0]
    assert Stop(within=outer).flag[0]


def test_a_deadline_ends_no_step_that_a_release_needs() -> None:
    with under(Stop(0.0)):
        check_cancelled()  # what was found in time is verified and returned
    stop = Stop()
    stop.cancel()
    with pytest.raises(OutOfTime), under(stop):
        check_cancelled()
