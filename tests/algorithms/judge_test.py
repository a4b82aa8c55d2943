"""How a whole table stands under its policy, beside dropping failing groups row by row."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import polars as pl
import pytest

from kveil.algorithms.full_domain import samples
from kveil.algorithms.judge import PolicyJudge
from kveil.algorithms.shown_tuples import Tuples
from kveil.algorithms.stars import NOTHING_LEFT
from kveil.frames import from_frame
from kveil.table.encode import encode
from kveil.table.table import Table
from kveil.table.tree import Tree
from support import QUASI, make_policy

TREE = {"tree": {"*": {"A": ["a1", "a2"], "B": ["b1", "b2"]}}}
NAMES = "pqrs"


def table_of(chance: Random, sets: list[tuple[str, int]], show: str, rows: int = 14) -> Table:
    leaves = ["a1", "a2", "b1", "b2"]
    frame = pl.DataFrame({name: [chance.choice(leaves) for _ in range(rows)] for name in NAMES})
    privacy = [{"model": "k-anonymity", "k": k, "attributes": list(over)} for over, k in sets]
    attributes = {name: {"role": QUASI, "hierarchy": TREE} for name in NAMES}
    policy = make_policy(attributes, privacy=privacy, suppression={"limit": 1, "show": show})
    return encode(from_frame(frame), policy)


def climbed(table: Table, chance: Random) -> Tuples:
    """Return the tuples with every attribute at a random level: as it is, one up, or at the root."""
    state = Tuples.at_leaves(table)
    for a, tree in enumerate(table.trees):
        assert isinstance(tree, Tree)
        for _ in range(chance.choice([0, 1, 1, 2])):
            state.nodes[a] = tree.parent[state.nodes[a]]
    state.shrink()
    return state


def left(
    rows: list[tuple[int, ...]], weights: list[int], sets: list[tuple[list[int], int]], alive: set[int]
) -> set[int]:
    """Return who is left when rows of groups that are too small are dropped, until none is."""
    while True:
        gone = set()
        for over, k in sets:
            sizes: Counter[tuple[int, ...]] = Counter()
            for row in alive:
                sizes[tuple(rows[row][a] for a in over)] += weights[row]
            gone |= {row for row in alive if sizes[tuple(rows[row][a] for a in over)] < k}
        if not gone:
            return alive
        alive = alive - gone


SETS = [
    [("pqrs", 3)],
    [("pq", 3), ("rs", 2)],
    [("pq", 2), ("qr", 4), ("s", 3)],
    [("p", 5), ("q", 2), ("r", 3), ("s", 2)],
]


@pytest.mark.parametrize("show", ["drop", "star"])
@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize("seed", range(12))
def test_who_lies_outside_is_who_is_left_out_row_by_row(seed: int, sets: list[tuple[str, int]], show: str) -> None:
    chance = Random(seed)
    table = table_of(chance, sets, show)
    state = climbed(table, chance)
    judge = PolicyJudge(table)
    standing = judge.standing(state)
    rows = [tuple(row) for row in state.nodes.T.tolist()]
    weights = state.weights.tolist()
    nothing = {i for i, row in enumerate(rows) if not any(row)}  # the root is node 0, and shows `*`
    everyone = set(range(len(rows)))
    asked = [([NAMES.index(name) for name in over], k) for over, k in sets]
    outside = []
    for component in judge.components:
        own = [(over, k) for over, k in asked if set(over) <= set(component.positions)]
        # With several components, rows of stars are a group like others in one, and gone where they are nothing.
        outside.append(everyone - left(rows, weights, own, everyone - nothing))
        if len(judge.components) == 1:
            outside[-1] -= nothing
    assert [set(np.flatnonzero(own).tolist()) for own in standing.outside] == outside
    lost = set.union(nothing, *outside)
    if show == "drop" and lost:
        lost = everyone - left(rows, weights, asked, everyone - lost)
    assert set(np.flatnonzero(standing.lost).tolist()) == lost

    solution = judge.solution(state, standing, {"rounds": 1})
    member = state.member[table.distinct.member]
    assert solution.suppressed_anywhere.tolist() == [int(own) in lost for own in member]
    told = {int(row) for rows in solution.reasons.values() for row in rows}
    assert told == set(np.flatnonzero(solution.suppressed_anywhere).tolist())
    stars = {i for i, own in enumerate(member.tolist()) if own in nothing}
    assert set(solution.reasons.get(NOTHING_LEFT, np.zeros(0, dtype=np.int32)).tolist()) == stars
    assert all(shown.codes.tolist() == state.nodes[a][member].tolist() for a, shown in enumerate(solution.shown))


def test_those_given_up_already_do_not_count() -> None:
    chance = Random(3)
    table = table_of(chance, SETS[1], "star")
    state = climbed(table, chance)
    judge = PolicyJudge(table)
    dead = np.zeros((2, state.nodes.shape[1]), dtype=bool)
    dead[0] = True
    standing = judge.standing(state, dead=dead)
    assert standing.outside[0].all()
    assert standing.outside[1].tolist() == judge.standing(state).outside[1].tolist()


def test_a_sample_calls_hopeless_only_what_is_and_sees_most_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "SMALL", 0)  # so that small tables are looked at in part, too
    seen = 0
    for seed in range(20):
        chance = Random(seed)
        table = table_of(chance, [("pq", 9), ("rs", chance.choice([2, 9]))], "star", rows=60)
        state, judge = Tuples.at_leaves(table), PolicyJudge(table)
        standing = judge.standing(state)
        most = max(int(state.weights[own].sum()) for own in standing.outside)
        for allowed in (0, most // 4, most, table.records):
            told = samples.GroupSamples(judge, state, allowed).violators()
            if told is not None:
                assert most > allowed
                assert told == {c for c, own in enumerate(standing.outside) if own.any()}
        seen += samples.GroupSamples(judge, state, most // 4).violators() is not None
    assert seen >= 10


def test_a_small_table_is_judged_whole() -> None:
    table = table_of(Random(0), [("pqrs", 9)], "star")
    assert samples.GroupSamples(PolicyJudge(table), Tuples.at_leaves(table), 0).violators() is None
