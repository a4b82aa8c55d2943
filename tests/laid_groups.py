"""Rows in groups laid out as the loops of the search in groups read them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from kveil.kernels.least_loss import groups_layout as field
from kveil.kernels.least_loss.groups_layout import Codes, GroupedRows, PoolRoom
from kveil.kernels.least_loss.neighbours import new_state, noise_table, pool_room
from kveil.kernels.models.layout import Models, new_models, no_models
from laid_models import needs_of, values_of
from naive.group_search import GroupSearch, Pool
from naive.grouped_rows import GroupCase, Row, SpanAttribute, random_groups


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
            factor[a] = 1000 / own.extent
            about[a, [field.WIDEST, field.MISSING]] = own.widest, len(own.numbers) - 1 if own.missing else -1
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


@dataclass
class BothSearches:
    """One search in groups, laid out for the loops and as its slow twin, at the same point."""

    codes: Codes
    state: GroupedRows
    models: Models
    twin: GroupSearch
    chance: Random

    def lay_pool(self, pool: Pool, *, stored: bool = True) -> PoolRoom:
        """Return room with a pool's rows and groups; the state draws next what the twin draws next."""
        rows, room = len(pool.rows), pool_room(self.state, self.twin.room)
        if not stored:  # pairs are reckoned when they are asked for, as where there are too many for a table
            room = room._replace(pairs=np.zeros(0))
        room.ints[field.POOL, :rows] = pool.rows
        room.ints[field.CORE] = -1
        room.ints[field.CORE, : len(pool.cores)] = pool.cores
        groups = pool.groups or [[] for _ in pool.cores]
        for g, own in enumerate(groups):
            room.ints[field.OF, : len(pool.rows)][np.isin(pool.rows, own)] = g
            laid = Pool(pool.rows, pool.cores, pool.kept, groups=groups)
            room.longs[field.HAS, g] = self.twin.size(laid, g)
            room.longs[field.COSTS, g] = self.twin.each(laid, g)
            if (shown := self.twin.cover(laid, g)) is not None:
                room.code[g] = coded(self.twin.case, [shown])[0]
        self.state.random[0] = self.twin.random[0]
        return room

    def check_pool(self, pool: Pool, room: PoolRoom) -> None:
        """Compare the groups of a pool, what each shows and costs, with those of the twin."""
        of = room.ints[field.OF, : len(pool.rows)].tolist()
        assert of == [self.twin.home(pool, row) for row in pool.rows]
        for g in range(len(pool.groups)):
            assert room.longs[field.HAS, g] == self.twin.size(pool, g)
            if self.twin.size(pool, g):
                shown = self.twin.cover(pool, g)
                assert shown is not None
                assert room.code[g].tolist() == coded(self.twin.case, [shown]).tolist()[0]
                assert room.longs[field.COSTS, g] == self.twin.each(pool, g)
        assert self.state.random[0] == self.twin.random[0]

    def drawn_pool(self) -> Pool:
        """Return the rows of some groups of one zone, as the twin gathers them; it may be empty."""
        twin, chance = self.twin, self.chance
        twin.seed = chance.randrange(len(twin.case.rows))
        zone = twin.case.zone[twin.seed]
        others = [g for g in twin.alive if twin.case.zone[twin.members[g][0]] == zone and g != twin.group_of(twin.seed)]
        chance.shuffle(others)
        return twin.gather([twin.group_of(twin.seed), *others[: chance.randint(1, field.MOST_GROUPS - 1)]])

    def mixed_pool(self) -> Pool | None:
        """Return a pool in valid groups that could be better; None where none can be made of the rows drawn."""
        pool = self.drawn_pool()
        every = [1024] * len(self.twin.case.attributes)
        if len(pool.rows) < 2 or not self.twin.rebuild(pool, every, 1024):
            return None
        while len(pool.groups) > len(pool.cores) + 2 and self.chance.random() < 0.6:  # one is large, also with k of 1
            pool.groups[len(pool.cores)] += pool.groups.pop()
        for _ in range(3 * len(pool.rows)):
            one, other = self.chance.choice(pool.rows), self.chance.choice(pool.rows)
            i, j = self.twin.home(pool, one), self.twin.home(pool, other)
            if i == j:
                continue
            groups = [own.copy() for own in pool.groups]
            groups[i][groups[i].index(one)], groups[j][groups[j].index(other)] = other, one
            if all(self.twin.allowed(own) for own in groups):
                pool.groups = groups
        return pool if all(self.twin.allowed(own) for own in pool.groups) else None


def both_searches(seed: int, *, diverse: bool = False, spans: bool = True) -> BothSearches:
    """Return a random search in groups, whose numbers are listed in any order; its models ask for two values."""
    case, codes, group, chance = started(seed, spans=spans)
    values = [chance.randrange(3) for _ in case.rows]
    models = new_models(needs_of(case.k, 2), values_of(values, [1] * len(values))) if diverse else no_models()
    state, _ = state_of(case, group, codes, seed)
    twin = GroupSearch.start(case, group, seed, chance.choice([6, 12, 40]), noise_table().tolist())
    if diverse:
        twin.holds = lambda rows: len({values[row] for row in rows}) > 1
    chance.shuffle(twin.alive)
    for place, g in enumerate(twin.alive):
        state.groups[field.ALIVE, place], state.groups[field.PLACE, g] = g, place
    return BothSearches(codes, state, models, twin, chance)
