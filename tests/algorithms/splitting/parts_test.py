"""Parts of a component: what can never hold, what is parked, and rows of stars that find neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coded_tables import QUASI, coded
from kveil.algorithms.component import components_of
from kveil.algorithms.costs import weighted_losses
from kveil.algorithms.splitting import parts as under_trial
from kveil.algorithms.splitting.parts import ComponentParts, Splitter
from kveil.models.groups import AtLeastK, Groups
from kveil.models.of_policy import sensitive_pairs
from kveil.table.table import Table
from naive.joining_parts import join_parts

TREE = {"role": QUASI, "hierarchy": {"tree": {"*": {"N": ["a", "b"], "S": ["c", "d"]}}}}


def splitter_of(table: Table) -> Splitter:
    (component,) = components_of(table)
    return Splitter(component, sensitive_pairs(table), table.distinct.weights)


def parts_of(*groups: list[int], low: list[int], high: list[int], tuples: int) -> ComponentParts:
    part = np.full(tuples, -1, dtype=np.int32)
    for number, members in enumerate(groups):
        part[members] = number
    return ComponentParts(part, np.array([low], dtype=np.int32), np.array([high], dtype=np.int32))


def test_a_group_of_limits_that_is_too_small_is_outside() -> None:
    bounded = {**TREE, "boundary": ["N", "S"]}
    splitter = splitter_of(coded({"t": ["a", "b", "c"]}, {"t": bounded}, k=2, limit=1))
    out, may_split = splitter.outside(np.ones(3, dtype=bool))
    assert (out.tolist(), may_split) == ([False, False, True], True)
    parts = splitter.split_down(~out, by_gain=False)
    assert parts.part.tolist()[2] == -1
    assert len(set(parts.part.tolist()[:2])) == 1
    assert splitter.why == "too rare over t within its boundaries"


def test_everybody_is_split_into_parts_that_hold() -> None:
    table = coded({"t": list("aabbccdd")}, {"t": TREE}, k=2)
    splitter = splitter_of(table)
    parts = splitter.split_as_one(by_gain=True)
    sizes = np.bincount(parts.part, weights=splitter.weights)
    assert sizes.tolist() == [2.0] * 4
    shown = splitter.shown(parts, table.distinct.member)[0]
    assert [shown.labels[code] for code in shown.codes] == list("aabbccdd")
    few = splitter.split_as_one(by_gain=True, few=4)
    assert sorted(np.bincount(few.part, weights=splitter.weights).tolist()) == [4.0, 4.0]
    nobody = splitter.split_down(np.zeros(4, dtype=bool), by_gain=True)
    assert nobody.part.tolist() == [-1] * 4


def test_parked_tuples_are_a_part_of_stars() -> None:
    splitter = splitter_of(coded({"t": list("abcd")}, {"t": TREE}, k=2))
    parts = parts_of([0, 1], [2], low=[0, 2], high=[1, 2], tuples=4)
    parked = splitter.park(parts, np.array([False, False, False, True]))
    assert parked.part.tolist() == [0, 0, 1, 2]
    assert splitter.stars(parked).tolist() == [False, False, True]
    assert splitter.park(parts, np.zeros(4, dtype=bool)) is parts


def test_a_copy_is_changed_by_itself() -> None:
    parts = parts_of([0], [1], low=[0, 1], high=[0, 1], tuples=2)
    other = parts.copy()
    other.part[0] = 7
    other.low[0, 0] = 9
    assert parts.part[0] == 0
    assert parts.low[0, 0] == 0
    parts.take_over(other)
    assert parts.part[0] == 7


def stars_and_neighbours(size: int, number: int) -> tuple[Splitter, ComponentParts]:
    """Parts of so many different tuples each, below N, and one part of all of S and one more that shows stars."""
    leaves = [f"n{i}" for i in range(size * number)]
    tree = {"role": QUASI, "hierarchy": {"tree": {"*": {"N": [*leaves, "lost"], "S": ["c", "d"]}}}}
    table = coded({"t": [*leaves, "lost", "c"]}, {"t": tree}, k=size, limit=1)
    splitter = splitter_of(table)
    of_leaf = {table.trees[0].labels[table.trees[0].leaf_nodes[leaf]]: t for t, leaf in enumerate(splitter.low[0])}
    part = np.empty(len(leaves) + 2, dtype=np.int32)
    for i, leaf in enumerate(leaves):
        part[of_leaf[leaf]] = i // size
    part[of_leaf["lost"]] = part[of_leaf["c"]] = number
    low, high = np.zeros((2, 1, number + 1), dtype=np.int32)
    for own in range(number + 1):
        members = splitter.low[0][part == own]
        low[0, own], high[0, own] = members.min(), members.max()
    return splitter, ComponentParts(part, low, high)


def test_rows_of_stars_join_the_part_that_loses_least() -> None:
    splitter, parts = stars_and_neighbours(3, 4)
    before = parts.copy()
    splitter.dissolve(parts)
    moved = np.flatnonzero(parts.part != before.part)
    labels = splitter.table.trees[0].labels
    nodes = splitter.table.trees[0].leaf_nodes
    assert [labels[nodes[splitter.low[0, t]]] for t in moved] == ["lost"]  # c would make stars of any part it joins
    assert not splitter.stars(parts)[parts.part[moved]].any()


@pytest.mark.parametrize("number", [4, 40])
def test_only_the_members_of_a_part_are_judged_when_a_row_joins_it(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []

    class Watched(AtLeastK):
        def good(self, groups: Groups) -> Any:
            looked.append(int(groups.weights.sum()))
            return super().good(groups)

    splitter, parts = stars_and_neighbours(3, number)
    monkeypatch.setattr(splitter, "judges", lambda inside: [Watched(3)])
    grouped = []
    whole = under_trial.one_group

    def counted(joined: Any, *more: Any) -> Groups:
        grouped.append(len(joined))
        return whole(joined, *more)

    monkeypatch.setattr(under_trial, "one_group", counted)
    splitter.dissolve(parts)
    # Four rows for each part that is asked, however many other tuples there are.
    assert looked
    assert set(looked) == set(grouped) == {4}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("cells", [1, 60, under_trial.AHEAD])
def test_rows_that_are_looked_up_together_join_the_parts_that_they_would_join_one_by_one(
    seed: int, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_trial, "AHEAD", cells)
    rng = np.random.default_rng(seed)
    tree = {"*": {"N": {"NE": ["a", "b"], "NW": ["c", "d"]}, "S": {"SE": ["e", "f"], "SW": {"W": ["g", "h"]}}}}
    attribute = {"role": QUASI, "hierarchy": {"tree": tree}}
    like = rng.choice(list("abcdefgh"), (5, 3))
    rows = np.where(rng.random((70, 3)) < 0.7, like[rng.integers(0, 5, 70)], rng.choice(list("abcdefgh"), (70, 3)))
    names = ["x", "y", "z"]
    table = coded(
        {name: rows[:, a].tolist() for a, name in enumerate(names)}, dict.fromkeys(names, attribute), k=2, limit=1
    )
    splitter = splitter_of(table)
    tuples = splitter.low.T.tolist()
    # Parts of tuples that have their first attributes in common, but the last one, which has anybody.
    part = splitter.low[0] // 2 + 4 * (splitter.low[1] // 4)
    part[rng.random(len(part)) < 0.4] = 8
    part = np.unique(part, return_inverse=True)[1].astype(np.int32)
    number = int(part.max()) + 1
    low = np.array([[leaves[part == own].min() for own in range(number)] for leaves in splitter.low], dtype=np.int32)
    high = np.array([[leaves[part == own].max() for own in range(number)] for leaves in splitter.low], dtype=np.int32)
    parts = ComponentParts(part.copy(), low, high)
    lost = splitter.stars(parts)
    assert lost.any()
    moving = sorted(np.flatnonzero(lost[part]).tolist(), key=lambda at: tuples[at])

    def node_over(a: int, first: int, last: int) -> int:
        return int(splitter.component.trees[a].lca(np.array([first]), np.array([last]))[0])

    losses = [weighted_losses(table, position) for position in splitter.positions]
    expected = join_parts(
        tuples, splitter.weights.tolist(), part.tolist(), moving, node_over, lambda a, node: float(losses[a][node])
    )
    splitter.dissolve(parts)
    assert parts.part.tolist() == expected
    assert (parts.part != part).any()
