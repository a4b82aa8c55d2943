"""The loops over what rows show, beside the slow way: proposals to the row, tries by what must hold after them."""

from __future__ import annotations

import subprocess
import sys
from random import Random

import numpy as np
import pytest

from kveil.arrays import Ints
from kveil.kernels.least_loss import overlaps
from kveil.kernels.least_loss import overlaps_layout as field
from laid_rows import laid_out, state_of
from naive.overlap_tries import Chance, OverlapTries
from naive.shown_rows import Row, ShownCase, random_case
from places import ROOT

SEEDS = range(60)
VALID_STARTS = [seed for seed in range(120) if (case := random_case(Random(seed))).holds(case.shown)]


def shown_by(state: overlaps.ShownRows) -> list[Row | None]:
    return [None if out else tuple(row) for row, out in zip(state.nodes.tolist(), state.out.tolist(), strict=True)]


def within(case: ShownCase, proposals: list[list[int]]) -> Ints:
    """Return proposals of no more depth than rows have."""
    deepest = [max(tree.depth[row[a]] for row in case.base) for a, tree in enumerate(case.trees)]
    return np.minimum(np.array(proposals, dtype=np.int32), np.array(deepest, dtype=np.int32))


@pytest.mark.parametrize("diverse", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_an_offer_is_taken_by_the_same_rows_as_when_every_class_is_counted_anew(seed: int, diverse: bool) -> None:
    chance = Random(seed)
    case = random_case(chance, diverse=diverse)
    trees, constraints, models = laid_out(case)
    if not case.holds(case.shown):
        if not diverse:
            with pytest.raises(overlaps.InvalidStart):
                state_of(case, trees, constraints, seed)
        return
    state = state_of(case, trees, constraints, seed)
    climbs = overlaps.climbs_of(state.base, state.limit, trees)
    work = overlaps.new_work(len(case.trees), constraints)
    laid = overlaps.OverlapLayouts(state, trees, constraints, models, work)
    among = np.arange(len(case.base), dtype=np.int32)
    for _ in range(6):
        depths = [chance.randint(-1, 3) for _ in case.trees]
        expected = case.offer(depths)
        took = overlaps.offer(laid, climbs, within(case, [depths]), among, hides=False)
        assert shown_by(state) == expected
        assert took == sum(one != other for one, other in zip(case.shown, expected, strict=True))
        assert state.counts[field.TOTAL] == case.total(expected)
        assert overlaps.holds_everywhere(state, constraints, models) == case.holds(expected)
        assert not work.tally.any()
        assert not work.change.any()
        case.shown = expected


@pytest.mark.parametrize("diverse", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_tries_leave_every_class_valid_every_row_covered_and_nothing_dearer(seed: int, diverse: bool) -> None:
    chance = Random(1000 + seed)
    case = random_case(chance, diverse=diverse)
    trees, constraints, models = laid_out(case)
    try:
        state = state_of(case, trees, constraints, seed)
    except overlaps.InvalidStart:
        assert not case.holds(case.shown)
        return
    assert overlaps.holds_everywhere(state, constraints, models) == case.holds(case.shown)
    if not case.holds(case.shown):
        return
    work = overlaps.new_work(len(case.trees), constraints)
    laid = overlaps.OverlapLayouts(state, trees, constraints, models, work)
    among = np.arange(len(case.base), dtype=np.int32)
    for turn in range(8):
        before, total = shown_by(state), int(state.counts[field.TOTAL])
        if turn == 0:
            climbs = overlaps.climbs_of(state.base, state.limit, trees)
            lowest = within(case, [[3] * len(case.trees)])
            overlaps.offer(laid, climbs, lowest, among, hides=False)
        else:
            gained = overlaps.try_moves(laid, 25, hides=False)
            assert gained == total - state.counts[field.TOTAL]
        after = shown_by(state)
        assert case.holds(after)
        assert case.within(after, but=before)
        assert state.counts[field.TOTAL] == case.total(after) <= total
        assert all(one is None or other is not None for one, other in zip(before, after, strict=True))


@pytest.mark.parametrize("hides", [False, True])
@pytest.mark.parametrize("seed", VALID_STARTS)
def test_tries_move_the_rows_that_the_slow_twin_moves(seed: int, hides: bool) -> None:
    case = random_case(Random(seed))
    trees, constraints, models = laid_out(case)
    state = state_of(case, trees, constraints, seed)
    twin = OverlapTries(
        case,
        [tuple(row) for row in state.nodes.tolist()],
        [bool(out) for out in state.out],
        Chance(int(state.random[0])),
        hides,
    )
    work = overlaps.new_work(len(case.trees), constraints)
    laid = overlaps.OverlapLayouts(state, trees, constraints, models, work)
    for _ in range(6):
        overlaps.try_moves(laid, 10, hides=hides)
        twin.search(10)
        assert shown_by(state) == [None if out else row for row, out in zip(twin.nodes, twin.out, strict=True)]
        assert state.counts[field.TOTAL] == twin.total()
        assert state.random[0] == twin.chance.state


def test_tries_lower_the_cost_of_most_tables() -> None:
    lower = valid = 0
    for seed in SEEDS:
        case = random_case(Random(seed))
        if not case.holds(case.shown):
            continue
        trees, constraints, models = laid_out(case)
        state = state_of(case, trees, constraints, seed)
        before = int(state.counts[field.TOTAL])
        work = overlaps.new_work(len(case.trees), constraints)
        overlaps.try_moves(overlaps.OverlapLayouts(state, trees, constraints, models, work), 200, hides=False)
        valid += 1
        lower += state.counts[field.TOTAL] < before
    assert lower >= valid // 2 > 5


def test_a_start_that_shows_what_does_not_cover_a_row_is_refused() -> None:
    case = random_case(Random(3))
    trees, constraints, _ = laid_out(case)
    other = next(node for node in case.trees[0].leaf_nodes if node != case.base[0][0])
    case.shown = [(other, *own[1:]) for own in case.base]
    with pytest.raises(overlaps.InvalidStart, match="cover"):
        state_of(case, trees, constraints, 0)


ENDLESS = """
import sys
from random import Random
sys.path.insert(0, sys.argv[1])
from laid_rows import laid_out, state_of
from kveil.kernels.least_loss import overlaps
from naive.overlap_tries import Chance, OverlapTries
from naive.shown_rows import random_case
for seed in range(150):
    print(seed, flush=True)
    case = random_case(Random(seed), beyond_limits=seed % 3 > 0, diverse=seed % 2 > 0)
    trees, constraints, models = laid_out(case)
    try:
        state = state_of(case, trees, constraints, seed)
    except overlaps.InvalidStart:
        continue
    work = overlaps.new_work(len(case.trees), constraints)
    laid = overlaps.OverlapLayouts(state, trees, constraints, models, work)
    overlaps.try_moves(laid, 60, hides=seed % 5 == 0)
print("done")
"""


def test_every_search_ends_also_where_rows_show_more_than_their_limits_allow() -> None:
    try:
        done = subprocess.run(
            [sys.executable, "-c", ENDLESS, str(ROOT / "tests")],
            capture_output=True, text=True, timeout=900,
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        pytest.fail(f"the search of seed {(late.stdout or b'').decode().split()[-1]} does not end")
    assert done.stdout.endswith("done\n"), done.stderr
