"""The loops of the search in groups beside the slow way: covers and costs, places, splits, neighbourhoods, pools."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import numba
import numpy as np
import pytest

from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss.groups_layout import ChildTable, Codes, GroupedRows
from kveil.kernels.least_loss.moves_loops import polish
from kveil.kernels.least_loss.neighbourhood_loops import choose, nearest
from kveil.kernels.least_loss.neighbours import (
    new_state,
    noise_table,
    place_rows,
    pool_room,
    search,
    top_down,
)
from kveil.kernels.least_loss.rebuild_loops import pool_cost, rebuild
from kveil.kernels.models.layout import new_models, no_models
from laid_models import needs_of, values_of
from naive.group_search import GroupSearch
from naive.grouped_rows import GroupCase, Row, SpanAttribute, TreeAttribute, random_groups

SEEDS = range(40)


@numba.njit
def call_nearest(state: Any, codes: Any, room: Any, seed: int, k: int, near: Any) -> int:
    return nearest(state, codes, room, seed, k, near)


@numba.njit
def call_choose(state: Any, seed: int, listed: int, most: int, near: Any) -> int:
    return choose(state, seed, listed, most, near)


@numba.njit
def call_rebuild(state: Any, codes: Any, models: Any, room: Any, k: int, rows: int, out: int) -> int:
    return rebuild(state, codes, models, room, k, rows, 0, out)


@numba.njit
def call_polish(state: Any, codes: Any, models: Any, room: Any, k: int, rows: int, groups: int) -> int:
    polish(state, codes, models, room, k, rows, groups)
    return pool_cost(room, groups)


def codes_of(case: GroupCase, chance: Random) -> Codes:
    """Lay a case's attributes out for the loops, trees as a table of pairs or to be climbed."""
    about = np.full((len(case.attributes), field.ABOUT), -1, dtype=np.int64)
    ints: list[int] = []
    longs: list[int] = []
    factor = np.zeros(len(case.attributes))
    for a, own in enumerate(case.attributes):
        about[a, field.WHOLE] = 1000
        if isinstance(own, SpanAttribute):
            about[a, [field.KIND, field.WIDTH, field.SPAN_AT]] = field.SPAN, len(own.numbers), len(longs)
            longs += own.numbers + own.numbers
            factor[a] = 1000 / (own.numbers[-1] - own.numbers[0])
            continue
        tree = own.tree
        small = chance.random() < 0.5
        about[a, [field.KIND, field.WIDTH, field.COST_AT, field.STAR]] = (
            field.SMALL if small else field.LARGE, tree.nodes, len(longs), 0,
        )  # fmt: skip
        longs += [own.cost(node) for node in range(tree.nodes)]
        if small:
            over = [tree.cover(u, v) for u in range(tree.nodes) for v in range(tree.nodes)]
            about[a, [field.PAIR_AT, field.LEAF_AT]] = len(ints), len(longs)
            ints += over
            longs += [own.cost(node) for node in over]
        else:
            about[a, field.NODE_AT] = len(ints)
            ints += tree.first + tree.last + tree.parent
    return Codes(about, np.array([*ints, 0], dtype=np.int32), np.array(longs, dtype=np.int64), factor)


def coded(case: GroupCase, rows: list[Row]) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return rows as the loops read them: a span is low · width + high."""
    widths = [len(own.numbers) if isinstance(own, SpanAttribute) else 0 for own in case.attributes]
    words = [
        [code[0] * n + code[1] if isinstance(code, tuple) else code for code, n in zip(row, widths, strict=True)]
        for row in rows
    ]
    return np.array(words, dtype=np.int32).reshape(len(rows), len(widths))


def grouped(case: GroupCase, chance: Random) -> list[int]:
    """Return groups of one zone each, of k rows or more, numbered from 0 on; empty where a zone is too small."""
    found: list[int] = []
    for zone in sorted(set(case.zone)):
        members = case.zone.count(zone)
        if members < case.k:
            return []
        own = [chance.randrange(members // case.k) for _ in range(members)]
        for g in range(members // case.k):
            own[g * case.k : (g + 1) * case.k] = [g] * case.k
        chance.shuffle(own)
        first = max(found, default=-1) + 1
        found += [first + g for g in own]
    return found


def state_of(case: GroupCase, group: list[int], codes: Codes, seed: int) -> tuple[GroupedRows, int]:
    return new_state(
        coded(case, case.rows), np.array(case.zone, dtype=np.int32), np.array(group, dtype=np.int32), codes, seed
    )


def started(seed: int, *, spans: bool = True, most: int = 30) -> tuple[GroupCase, Codes, list[int], Random]:
    chance = Random(seed)
    while True:
        case = random_groups(chance, chance.randint(4, most), spans=spans, zones=chance.randint(1, 2))
        group = grouped(case, chance)
        if group:
            return case, codes_of(case, chance), group, chance


def members_of(group: list[int]) -> list[list[int]]:
    return [[row for row, own in enumerate(group) if own == g] for g in range(max(group) + 1)]


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_show_what_covers_their_rows_and_cost_what_that_costs(seed: int) -> None:
    case, codes, group, _ = started(seed)
    state, total = state_of(case, group, codes, seed)
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
def test_the_nearest_groups_are_those_found_by_scoring_all(seed: int) -> None:
    case, codes, group, chance = started(seed)
    groups = members_of(group)
    state, _ = state_of(case, group, codes, seed)
    row = chance.randrange(len(case.rows))
    near = np.zeros((2, field.NEAR_GROUPS), dtype=np.int32)
    listed = call_nearest(state, codes, pool_room(state, 60), row, case.k, near)
    random = [seed]
    expected = case.near(groups, row, field.NEAR_GROUPS, random)
    assert near[field.LISTED, :listed].tolist() == expected
    most = chance.randint(2, field.MOST_GROUPS)
    number = call_choose(state, row, listed, most, near)
    assert near[field.CHOSEN, :number].tolist() == case.chosen(groups, row, expected, most, random)


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_pool_is_rebuilt_as_by_hand_and_polishing_costs_it_nothing(seed: int, stored: bool) -> None:
    case, codes, group, chance = started(seed)
    state, _ = state_of(case, group, codes, seed)
    zone = chance.choice(case.zone)
    pool = sorted(chance.sample(inside := [i for i, own in enumerate(case.zone) if own == zone], len(inside)))
    room = pool_room(state, len(pool))
    if not stored:  # pairs are reckoned when they are asked for, as where there are too many for a table
        room = room._replace(pairs=np.zeros((0, 0)))
    noise = [int(chance.choice(noise_table().tolist())) for _ in case.attributes]
    room.ints[field.POOL, : len(pool)] = pool
    room.longs[field.NOISE, : len(noise)] = noise
    models = no_models()
    out = chance.choice([field.ALL_OUT, 300, 700])
    number = call_rebuild(state, codes, models, room, case.k, len(pool), out)
    expected = case.rebuilt(case.units(pool, group, out, [seed]), noise)
    of = room.ints[field.OF, : len(pool)].tolist()
    assert number == len(expected)
    made = [sorted(pool[at] for at, own in enumerate(of) if own == g) for g in range(number)]
    assert made == [sorted(own) for own in expected]
    before = sum(len(own) * case.cost(case.cover(own)) for own in made)
    after = call_polish(state, codes, models, room, case.k, len(pool), number)
    of = room.ints[field.OF, : len(pool)].tolist()
    polished = [[pool[at] for at, own in enumerate(of) if own == g] for g in range(number)]
    assert [len(own) for own in polished] == room.longs[field.HAS, :number].tolist()
    assert all(len(own) >= case.k for own in polished if own)
    assert after == sum(len(own) * case.cost(case.cover(own)) for own in polished if own) <= before


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


@pytest.mark.parametrize("diverse", [False, True])
@pytest.mark.parametrize("hides", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_tries_move_the_rows_that_the_slow_twin_moves(seed: int, hides: bool, diverse: bool) -> None:
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
