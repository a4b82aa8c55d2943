"""Integer programs of what rows show, beside trying everything."""

from __future__ import annotations

from itertools import product
from random import Random

import highspy
import numpy as np
import pytest

from kveil.algorithms.program import Program, ProgramTree, SizeConstraint, kinds_of, program_of
from naive.shown_rows import Row, ShownCase, random_case

SEEDS = range(30)
NODES = 2_000


def small_case(seed: int) -> ShownCase:
    """Return at most four rows over two trees; those that are out may come in."""
    chance = Random(seed)
    case = random_case(chance)
    case.trees, case.costs = case.trees[:2], case.costs[:2]
    number = chance.randint(2, 4)
    case.base, case.limit = ([row[:2] for row in own[:number]] for own in (case.base, case.limit))
    case.shown = [None if row is None else row[:2] for row in case.shown[:number]]
    inside = [(tuple(a for a in over if a < 2), min(k, 3), least) for over, k, least in case.constraints]
    everywhere = (tuple(range(len(case.trees))), 1, 0)
    case.constraints = [own for own in inside if own[0]] + [everywhere]
    case.values, case.whole = case.values[:number], 1000 * len(case.trees)
    return case


def laid_out(case: ShownCase, *, hides: bool) -> tuple[Program | None, np.ndarray]:
    trees = [
        ProgramTree(np.array(tree.parent, dtype=np.int32), np.array(costs, dtype=np.int64), 0 if hides else -1)
        for tree, costs in zip(case.trees, case.costs, strict=True)
    ]
    base, limit = (np.array(own, dtype=np.int32) for own in (case.base, case.limit))
    out = np.array([row is None for row in case.shown], dtype=np.int64)
    kinds, kind = kinds_of(base, limit, np.ones(len(out), dtype=np.int64), out, trees, case.whole)
    return program_of(kinds, [SizeConstraint(over, k) for over, k, _ in case.constraints], 5_000), kind


def least_by_hand(case: ShownCase, most_outside: int, *, hides: bool) -> int | None:
    """Return the least cost of all that the rows can show, None where nothing is valid."""
    choices: list[list[Row | None]] = []
    for number, (base, limit) in enumerate(zip(case.base, case.limit, strict=True)):
        ways = [tree.way(node) for tree, node in zip(case.trees, base, strict=True)]
        own: list[Row | None] = [*product(*(way[: way.index(end) + 1] for way, end in zip(ways, limit, strict=True)))]
        own = [row for row in own if not hides or any(row)]  # type: ignore[arg-type]
        choices.append([*own, None] if case.shown[number] is None else own)
    valid = (
        case.total(list(shown))
        for shown in product(*choices)
        if sum(row is None for row in shown) <= most_outside and case.holds(list(shown))
    )
    return min(valid, default=None)


@pytest.mark.parametrize("hides", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_division_is_the_best_of_everything(seed: int, hides: bool) -> None:
    case = small_case(seed)
    outside = sum(row is None for row in case.shown)
    best = least_by_hand(case, outside, hides=hides)
    program, kind = laid_out(case, hides=hides)
    assert program is not None
    answer = program.solve(outside, NODES)
    assert answer.impossible == (best is None)
    if best is None:
        assert answer.best is None
        return
    assert answer.best is not None
    assert answer.best.cost == best
    assert best - 1 - case.whole * 1e-5 * len(case.base) <= answer.at_least <= best
    shown: list[Row | None] = [None] * len(case.base)
    order = np.array(sorted(range(len(shown)), key=lambda row: case.shown[row] is None))
    for rows, vector in answer.best.shared_out(order, kind):
        for row in rows.tolist():
            shown[row] = tuple(vector.tolist())
    assert case.total(shown) == best
    assert case.holds(shown)
    assert case.within(shown, but=[None] * len(shown))
    assert all(now is not None or before is None for now, before in zip(shown, case.shown, strict=True))


def test_some_cases_have_an_answer_and_some_have_none() -> None:
    best = [least_by_hand(case := small_case(seed), len(case.base), hides=True) for seed in SEEDS]
    assert 3 <= sum(one is None for one in best) <= 25


def test_fewer_may_be_left_out_than_are_outside() -> None:
    lower = 0
    for seed in range(90):
        case = small_case(seed)
        outside = sum(row is None for row in case.shown)
        program, _ = laid_out(case, hides=True)
        if outside < 2 or program is None:
            continue
        best = least_by_hand(case, outside - 1, hides=True)
        answer = program.solve(outside - 1, NODES)
        assert (None if answer.best is None else answer.best.cost) == best
        lower += 1
    assert lower >= 3


def test_a_host_goes_on_choosing_the_threads_of_its_own_programs() -> None:
    for threads in (1, 2, 3):
        program, _ = laid_out(small_case(0), hides=False)
        assert program is not None
        program.solve(len(small_case(0).base), NODES)
        own = highspy.Highs()
        own.setOptionValue("output_flag", False)
        own.setOptionValue("threads", threads)
        own.addVar(0.0, 1.0)
        assert own.run() == highspy.HighsStatus.kOk
        own.resetGlobalScheduler(True)


def test_where_nothing_costs_anything_there_is_no_program() -> None:
    case = small_case(1)
    case.costs = [[0 for _ in own] for own in case.costs]
    case.whole = 0
    assert laid_out(case, hides=False)[0] is None


def test_a_large_program_is_not_made() -> None:
    case = random_case(Random(3))
    trees = [
        ProgramTree(np.array(tree.parent, dtype=np.int32), np.array(costs, dtype=np.int64), -1)
        for tree, costs in zip(case.trees, case.costs, strict=True)
    ]
    base, limit = (np.array(own, dtype=np.int32) for own in (case.base, case.limit))
    ones = np.ones(len(base), dtype=np.int64)
    kinds, _ = kinds_of(base, limit, ones, 0 * ones, trees, case.whole)
    assert program_of(kinds, [SizeConstraint(tuple(range(len(trees))), 1)], 3) is None
