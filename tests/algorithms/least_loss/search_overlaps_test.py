"""Refining under overlapping constraints: valid after every kept move, never dearer, near the optimum."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

import kveil
from kveil.algorithms.algorithm import asks
from kveil.algorithms.component import components_of
from kveil.algorithms.least_loss import search_overlaps as descent
from kveil.algorithms.least_loss.layout import whole_numbers
from kveil.algorithms.least_loss.refine import refine
from kveil.algorithms.least_loss.state import RefinedComponent, Watch
from kveil.algorithms.registry import find
from kveil.engines.solver import run
from kveil.frames import from_frame
from kveil.kernels.least_loss.overlaps import try_moves
from kveil.measures import released_loss
from kveil.policy.model import Policy
from kveil.progress import silent
from kveil.stopping import Stop
from kveil.table.encode import encode
from kveil.table.solution import Solution
from kveil.table.table import Table
from naive import overlaps as naive_overlap
from numbers_that_overlap import policy_over_numbers
from small_people import POLICIES, TREES, holds, loss, people, policy_of
from strategies import Case, cases, examples, placed

OVERLAPS = {
    "sizes": POLICIES["several"],
    "diverse": "[{model: k-anonymity, attributes: [age, city], k: 4}, "
    "{model: l-diversity, attributes: [city, sex], sensitive: illness, l: 3}]",
    "close": "[{model: k-anonymity, attributes: [age, sex], k: 3}, "
    "{model: t-closeness, attributes: [city, sex], sensitive: illness, t: 0.3}]",
    "chain": "[{model: k-anonymity, attributes: [age, city], k: 5}, "
    "{model: k-anonymity, attributes: [city, sex], k: 8}, {model: k-anonymity, attributes: [age, sex], k: 6}]",
}


def overlap_of(table: Table, solution: Solution) -> descent.OverlapSearch:
    order = table.canonical.astype(np.int32)
    part = RefinedComponent(components_of(table)[0], solution, order)
    outside = order[part.out[order]] if descent.may_come_in(part) else order[:0]
    costs = whole_numbers(table)
    watch = Watch(Stop(), silent, float(costs.scale * table.records))
    return descent.OverlapSearch(part, costs, watch, solution, outside)


@pytest.mark.parametrize("privacy", OVERLAPS)
@pytest.mark.parametrize("more", ["", "suppression: {limit: 0.4, show: star}"])
def test_everything_holds_after_every_kept_move(privacy: str, more: str) -> None:
    frame = people(150)
    table = encode(from_frame(frame), policy_of(OVERLAPS[privacy], more, "classfly+complete"))
    solution = run(find("classfly+complete"), table, {})
    overlap = overlap_of(table, solution)
    assert overlap.valid()
    kept = 0
    for _ in range(120):
        before = overlap.total, overlap.state.nodes.copy()
        try_moves(overlap.laid, 1, hides=overlap.refined.hides)
        assert overlap.total <= before[0]
        assert overlap.valid()
        if (overlap.state.nodes == before[1]).all():
            continue
        kept += 1
        suppressed = solution.suppressed.copy()
        suppressed[0][overlap.came_in()] = False
        holds(frame, table, Solution(tuple(overlap.shown(solution)), suppressed))
    assert kept


@pytest.mark.parametrize("boundary", ["", "max_width: 14"])
@pytest.mark.parametrize("numbers", ["within: [0, 60]", "within: [0, 60], round: 5"])
def test_spans_of_numbers_move_and_hold_after_every_kept_move(boundary: str, numbers: str) -> None:
    frame = _with_missing(people(150), 0.05)
    more = "suppression: {limit: 0.4}\ndata: {missing: ['?']}"
    table = encode(from_frame(frame), policy_over_numbers(boundary, more=more, numbers=numbers))
    solution = run(find("mondrian"), table, {})
    overlap = overlap_of(table, solution)
    spans = set()
    for _ in range(150):
        before = overlap.total, overlap.state.nodes.copy()
        try_moves(overlap.laid, 1, hides=overlap.refined.hides)
        assert overlap.total <= before[0]
        if (overlap.state.nodes == before[1]).all():
            continue
        spans |= set(overlap.state.nodes[:, 0].tolist()) - set(before[1][:, 0].tolist())
        _holds_with(frame, table, overlap, solution)
    before_narrowing = overlap.total
    overlap.narrow()
    assert overlap.total <= before_narrowing
    _holds_with(frame, table, overlap, solution)
    assert len(spans) > 3


def _with_missing(frame: pl.DataFrame, share: float) -> pl.DataFrame:
    gone = np.random.default_rng(1).random(frame.height) < share
    return frame.with_columns(age=pl.when(pl.Series(gone)).then(pl.lit("?")).otherwise(pl.col("age")))


def _holds_with(frame: pl.DataFrame, table: Table, overlap: descent.OverlapSearch, solution: Solution) -> None:
    suppressed = solution.suppressed.copy()
    suppressed[0][overlap.came_in()] = False
    holds(frame, table, Solution(tuple(overlap.shown(solution)), suppressed))


@pytest.mark.parametrize("seed", range(16))
def test_random_policies_with_spans_hold_and_lose_no_more_than_any_start(seed: int) -> None:
    chance = random.Random(seed)
    frame = _with_missing(people(chance.randint(40, 220), seed), chance.choice([0, 0, 0.1]))
    sets = [["age", "city"], ["age", "sex"], ["age", "city", "sex"]]
    chosen = [*chance.sample(sets, chance.randint(1, 2)), ["city", "sex"], *chance.choice([[], [["age"]]])]
    models = [f"{{model: k-anonymity, attributes: [{', '.join(own)}], k: {chance.randint(2, 8)}}}" for own in chosen]
    over = f"attributes: [{', '.join(chosen[0])}], sensitive: illness"
    models += chance.choice(
        [[], [f"{{model: l-diversity, {over}, l: 2}}"], [f"{{model: t-closeness, {over}, t: 0.5}}"]]
    )
    boundary = chance.choice(["", "", "max_width: 20"])
    bounds = ["round: 5", "bounds: values" if boundary else "bounds: midpoints", "bounds: values"]
    policy = policy_over_numbers(
        boundary,
        f"[{', '.join(models)}]",
        f"suppression: {{limit: {chance.choice([0.0, 0.3])}, show: {chance.choice(['drop', 'star'])}}}\n"
        f"data: {{missing: ['?']}}\nseed: {seed}",
        f"within: [0, 60], {chance.choice(bounds)}",
    )
    table = encode(from_frame(frame), policy)
    try:
        refined = run(find("least-loss"), table, {})
    except kveil.Unmeetable:
        return
    holds(frame, table, refined)
    with suppress(kveil.Unmeetable):
        assert released_loss(table, refined) <= released_loss(table, run(find("mondrian"), table, {"refine": "off"}))
    assert [shown.codes.tolist() for shown in run(find("least-loss"), table, {}).shown] == [
        shown.codes.tolist() for shown in refined.shown
    ]


@given(st.data())
@examples(40)
def test_never_dearer_than_classfly(data: st.DataObject) -> None:
    case: Case = data.draw(cases())
    with placed(case) as here:
        least, classfly = find("least-loss"), find("classfly+complete")
        wanted = set(asks(here.policy))
        assume(wanted <= least.honours and wanted <= classfly.honours)
        table = encode(from_frame(case.frame()), here.policy)
        try:
            plain = run(classfly, table, {})
        except kveil.Unmeetable:
            return
        refined = run(least, table, {})
        holds(case.frame(), table, refined)
        assert loss(table, refined) <= loss(table, plain)
        event("lower" if loss(table, refined) < loss(table, plain) else "the same")


@pytest.mark.parametrize("show", ["drop", "star"])
def test_suppressed_records_come_back_under_overlapping_constraints(show: str) -> None:
    frame = people(120)
    table = encode(
        from_frame(frame), policy_of(OVERLAPS["sizes"], f"suppression: {{limit: 0.5, show: {show}}}", "datafly")
    )
    plain = run(find("datafly"), table, {})
    assert plain.suppressed.any()
    refined = run(find("datafly"), table, {"refine": "normal"})
    assert refined.suppressed_anywhere.sum() < plain.suppressed_anywhere.sum()
    assert refined.details["refine"]["brought_back"] > 0
    holds(frame, table, refined)


@pytest.mark.parametrize("show", ["drop", "star"])
def test_suppressed_records_come_back_into_several_components(show: str) -> None:
    frame = people(90)
    privacy = "[{model: k-anonymity, attributes: [age], k: 7}, {model: k-anonymity, attributes: [city, sex], k: 9}]"
    table = encode(from_frame(frame), policy_of(privacy, f"suppression: {{limit: 0.5, show: {show}}}", "datafly"))
    plain = run(find("datafly"), table, {})
    refined = run(find("datafly"), table, {"refine": "normal"})
    assert refined.suppressed_anywhere.sum() < plain.suppressed_anywhere.sum()
    assert refined.details["refine"]["brought_back"] > 0
    holds(frame, table, refined)


def test_tiny_tables_are_solved_and_bounded_exactly_or_proved_impossible() -> None:
    policy = Policy.parse(naive_overlap.POLICY, "policy.yaml", Path())
    solved = impossible = 0
    for seed in range(12):
        chance = random.Random(seed)
        rows = naive_overlap.tiny_rows(chance, chance.randint(5, 7))
        frame = pl.DataFrame(rows, schema=list(naive_overlap.NAMES), orient="row")
        best = naive_overlap.optimum(rows)
        if best == 1.0:
            with pytest.raises(kveil.Unmeetable, match="No release can") as failure:
                kveil.anonymize(frame, policy)
            assert failure.value.proved
            impossible += 1
            continue
        assert best - 1e-4 <= kveil.bound(frame, policy).at_least <= best + 1e-9
        assert kveil.anonymize(frame, policy).account["loss"]["ncp"] == pytest.approx(best)
        solved += 1
    assert solved > 6
    assert impossible


def test_one_and_two_threads_give_the_same(tmp_path: Path) -> None:
    people(300).write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.yaml").write_text(
        f"kveil: 1\ndata: {{path: people.csv}}\nattributes:\n"
        f"  age: {{role: quasi-identifier, hierarchy: {TREES['age']}}}\n"
        f"  city: {{role: quasi-identifier, hierarchy: {TREES['city']}}}\n  sex: {{role: quasi-identifier}}\n"
        f"  illness: {{role: sensitive}}\nprivacy: {OVERLAPS['chain']}\nalgorithm: least-loss\n"
    )
    made = []
    for threads in ("1", "2"):
        subprocess.run(
            [sys.executable, "-m", "kveil", "anonymize", str(tmp_path / "policy.yaml"), "--quiet"],
            env=os.environ | {"NUMBA_NUM_THREADS": threads, "POLARS_MAX_THREADS": threads},
            capture_output=True, check=True, timeout=300,
        )  # fmt: skip
        made.append((tmp_path / "people-release.csv").read_bytes())
        (tmp_path / "people-release.csv").unlink()
    assert made[0] == made[1]


def test_the_same_start_is_searched_once_and_another_one_again(monkeypatch: pytest.MonkeyPatch) -> None:
    table = encode(from_frame(people(150)), policy_of(OVERLAPS["diverse"], "", "classfly+complete"))
    begun = []
    monkeypatch.setattr(descent.OverlapSearch, "descend", _noting(begun, descent.OverlapSearch.descend))
    one, other = (run(find(name), table, {}) for name in ("classfly+complete", "classfly+naive"))
    first, again = (refine(table, one, 2, None, silent) for _ in range(2))
    assert len(begun) == 1
    assert all((mine.codes == own.codes).all() for mine, own in zip(first.shown, again.shown, strict=True))
    assert first.details["refine"] == again.details["refine"]
    refine(table, other, 2, None, silent)
    refine(table, one, 3, None, silent)
    assert len(begun) == 3
    refine(table, one, 2, 60.0, silent)  # what a clock may cut short is not kept
    assert len(begun) == 4


def _noting(begun: list[None], descend: Callable[..., None]) -> Callable[..., None]:
    def noted(self: descent.OverlapSearch, *, tries_follow: bool) -> None:
        begun.append(None)
        descend(self, tries_follow=tries_follow)

    return noted
