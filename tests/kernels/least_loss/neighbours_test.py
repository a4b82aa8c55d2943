"""The search in groups beside the slow way: covers and costs, places, splits, and whole tries."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss.groups_layout import ChildTable
from kveil.kernels.least_loss.neighbours import new_state, noise_table, place_rows, pool_room, search, top_down
from kveil.kernels.models.layout import new_models
from laid_groups import coded, members_of, started, state_of
from laid_models import needs_of, values_of
from naive.group_search import GroupSearch
from naive.grouped_rows import TreeAttribute

SEEDS = range(40)


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_show_what_covers_their_rows_and_cost_what_that_costs(seed: int) -> None:
    case, codes, group, _ = started(seed)
    zone, part = (np.array(own, dtype=np.int32) for own in (case.zone, group))
    state, total = new_state(coded(case, case.rows), zone, part, codes, seed)
    shown = [case.cover(own) for own in members_of(group)]
    assert state.code[: len(shown)].tolist() == coded(case, shown).tolist()
    assert state.cost[: len(shown)].tolist() == [case.cost(own) for own in shown]
    assert total == case.total(group)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_go_where_the_cost_grows_least(seed: int) -> None:
    case, codes, group, chance = started(seed)
    groups = members_of(group)
    coming = [chance.randrange(len(case.rows)) for _ in range(6)]
    rows, zone = [case.rows[i] for i in coming], [case.zone[i] for i in coming]
    most = chance.choice([1 << 40, 800, 1])
    state, _ = state_of(case, group, codes, seed)
    longs = np.array([[len(own) for own in groups], state.cost[: len(groups)]], dtype=np.int64)
    group_zone = np.array([case.zone[own[0]] for own in groups], dtype=np.int32)
    code = state.code[: len(groups)].copy()
    found = place_rows(coded(case, rows), np.array(zone, dtype=np.int32), group_zone, code, longs, most, codes)
    expected = case.placed(groups, rows, zone, most)
    assert found.tolist() == expected
    for g, own in enumerate(groups):
        assert longs[field.PLACED_SIZE, g] == len(own) + expected.count(g)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_are_split_top_down_as_by_hand(seed: int) -> None:
    case, codes, _, _ = started(seed, spans=False)
    at, start, child, rank, parent = [], [0], [], [], []
    for own in case.attributes:
        assert isinstance(own, TreeAttribute)
        at.append(len(parent))
        siblings = {c: place for node in range(own.tree.nodes) for place, c in enumerate(own.tree.children(node))}
        for node in range(own.tree.nodes):
            child += own.tree.children(node)
            start.append(len(child))
            rank.append(siblings.get(node, 0))
        parent += own.tree.parent
    children = ChildTable(
        np.array(at, dtype=np.int64), np.array(start, dtype=np.int64),
        *(np.array(own, dtype=np.int32) for own in (child, rank, parent)),
    )  # fmt: skip
    zones = sorted(set(case.zone))
    starts = np.array([case.zone.index(zone) for zone in zones] + [len(case.zone)], dtype=np.int64)
    part = top_down(coded(case, case.rows), starts, codes, children, case.k).tolist()
    expected = [own for zone in zones for own in case.split([i for i, other in enumerate(case.zone) if other == zone])]
    assert [sorted(own) for own in members_of(part)] == [sorted(own) for own in expected]


@pytest.mark.parametrize("seed", SEEDS)
def test_tries_keep_groups_valid_and_gain_what_they_say(seed: int) -> None:
    case, codes, group, _ = started(seed)
    state, total = state_of(case, group, codes, seed)
    room = pool_room(state, 40)
    for _ in range(4):
        gained = search(state, codes, None, room, case.k, 10, hides=False)
        found = state.rows[field.GROUP].tolist()
        assert gained >= 0
        assert case.valid(found)
        assert case.total(found) == total - gained
        total -= gained
    assert state.counts[field.TRIES] == 40


@pytest.mark.parametrize("seed", SEEDS)
def test_tries_with_heat_cost_no_more_than_is_spared(seed: int) -> None:
    case, codes, group, _ = started(seed)
    state, total = state_of(case, group, codes, seed)
    spare = total // 50
    state.counts[[field.HEAT, field.SPARE]] = max(total // 20, 1), spare
    room = pool_room(state, 40)
    for _ in range(4):
        total -= search(state, codes, None, room, case.k, 10, hides=False)
        found = state.rows[field.GROUP].tolist()
        assert case.valid(found)
        assert case.total(found) == total
        assert state.counts[field.SPARE] == spare + case.total(group) - total >= 0


def test_what_chance_takes_from_tables_has_the_means_it_should() -> None:
    factors, slacks = noise_table() / (1 << field.NOISE_BITS)
    assert (slacks * (1 << field.NOISE_BITS)).max() * field.MOST_HEAT < 1 << 62
    assert slacks.mean() == pytest.approx(1, abs=0.01)
    assert (slacks > 2).mean() == pytest.approx(math.exp(-2), abs=0.01)
    assert np.median(factors) == pytest.approx(1, abs=0.01)
    assert np.log(factors).std() == pytest.approx(field.NOISE_SPREAD, abs=0.01)


@pytest.mark.parametrize("heat", [0, 2_000])
@pytest.mark.parametrize("diverse", [False, True])
@pytest.mark.parametrize("hides", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_tries_move_the_rows_that_the_slow_twin_moves(seed: int, hides: bool, diverse: bool, heat: int) -> None:
    case, codes, group, chance = started(seed, spans=not hides)
    values = [chance.randrange(3) for _ in case.rows]
    different, share = chance.choice([(2, (1, 1)), (1, (2, 3)), (2, (3, 4))])

    def holds(rows: list[int]) -> bool:
        counts = Counter(values[row] for row in rows)
        return len(counts) >= different and max(counts.values()) * share[1] <= share[0] * len(rows)

    models = new_models(needs_of(case.k, different, share), values_of(values, [1] * len(values))) if diverse else None
    state, total = state_of(case, group, codes, seed)
    rows = chance.choice([6, 12, 40])  # little room: groups are left out, or give some of their rows only
    room, most = pool_room(state, rows), chance.randint(2, field.MOST_GROUPS)
    twin = GroupSearch.start(case, group, seed, rows, noise_table().tolist())
    twin.holds, twin.hides = holds if diverse else None, hides
    twin.heat, twin.spare = heat, total // 10
    state.counts[[field.HEAT, field.SPARE]] = twin.heat, twin.spare
    for _ in range(5):
        gained = search(state, codes, models, room, case.k, 8, hides=hides, most_groups=most)
        assert gained == twin.search(8, most)
        total -= gained
        assert state.random[0] == twin.random[0]
        assert state.counts[field.KEPT] == twin.kept
        found = state.rows[field.GROUP].tolist()
        assert found == [twin.group_of(row) for row in range(len(case.rows))]
        used = state.groups[field.ALIVE, : state.counts[field.IN_USE]].tolist()
        assert used == twin.alive
        assert state.code[used].tolist() == coded(case, [twin.shown[g] for g in used]).tolist()
        assert total == twin.total() == case.total(found)


def test_tries_find_the_best_of_all_partitions_of_most_tiny_tables() -> None:
    best = 0
    for seed in range(12):
        case, codes, group, _ = started(seed, most=7)
        state, total = state_of(case, group, codes, seed)
        total -= search(state, codes, None, pool_room(state, 20), case.k, 150, hides=False)
        assert total >= case.optimum()
        best += total == case.optimum()
    assert best >= 10


def test_room_is_linear_in_the_rows_of_a_pool() -> None:
    case, codes, group, _ = started(0)
    state, _ = state_of(case, group, codes, 0)
    small, large = (sum(own.nbytes for own in pool_room(state, rows)) for rows in (20_000, 40_000))
    assert large < 2.1 * small
    assert large < 64 << 20
