"""What covers a group: nodes beside climbing by hand, spans beside smallest and largest, within boundaries."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest

from kveil.algorithms.rules.joinable import JoinableNodes, JoinableSpans, heaviest
from kveil.arrays import Ints
from kveil.frames import from_frame
from kveil.table.encode import encode
from kveil.table.scale import Scale
from kveil.table.solution import Shown
from kveil.table.tree import Tree
from support import QUASI, make_policy

HIERARCHY = {"tree": {"*": {"A": {"only": ["a1", "a2"]}, "B": ["b1", "b2", "b3"], "C": {"c": ["c1"]}}}}


def seen(hierarchy: Any, values: list[str], **more: Any) -> Any:
    policy = make_policy({"x": {"role": QUASI, "hierarchy": hierarchy, **more}}, k=1)
    return encode(from_frame(pl.DataFrame({"x": values}, schema={"x": pl.String})), policy).trees[0]


def tree_of(**more: Any) -> Tree:
    tree = seen(HIERARCHY, ["a1", "b1", "c1"], **more)
    assert isinstance(tree, Tree)
    return tree


def way(tree: Tree, node: int) -> list[int]:
    found = [node]
    while found[-1]:
        found.append(int(tree.parent[found[-1]]))
    return found


def ints(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int32)


@pytest.mark.parametrize("seed", range(60))
def test_the_lowest_node_above_all_members_is_shown_also_in_chains_of_single_children(seed: int) -> None:
    chance, tree = Random(seed), tree_of()
    groups = 4
    codes = [chance.randrange(len(tree.labels)) for _ in range(12)]
    group = [*range(groups), *(chance.randrange(groups) for _ in range(8))]
    found = JoinableNodes(tree).join(ints(codes), ints(group), groups)
    for g in range(groups):
        mine = [code for code, own in zip(codes, group, strict=True) if own == g]
        above = [node for node in way(tree, mine[0]) if all(node in way(tree, code) for code in mine)]
        assert found[g] == above[0]


def test_a_node_is_a_star_where_it_is_the_root_and_that_is_a_star() -> None:
    nodes = JoinableNodes(tree_of())
    assert nodes.star == 0
    assert nodes.is_star(ints([0, 1, 2])).tolist() == [True, False, False]
    assert nodes.shown(ints([0, 1])).labels[0] == "*"
    own = seen({"tree": {"any": ["a", "b"]}}, ["a", "b"])
    without = JoinableNodes(own)
    assert without.star == len(own.labels)  # a code beyond the nodes: this root says something
    assert without.shown(ints([without.star, 1])).codes.tolist() == [0, 1]


@pytest.mark.parametrize("seed", range(40))
def test_of_a_group_that_reaches_over_limits_the_heaviest_kind_may_be_joined(seed: int) -> None:
    chance, tree = Random(seed), tree_of(boundary={"level": 2})
    codes = [int(tree.leaf_nodes[chance.randrange(tree.leaves)]) for _ in range(10)]
    group = [*range(3), *(chance.randrange(3) for _ in range(7))]
    weights = [chance.randint(1, 3) for _ in codes]
    fits = JoinableNodes(tree).together(ints(codes), ints(group), 3, np.array(weights, dtype=np.int64))
    limits = tree.limit_of_node[codes].tolist()
    for g in range(3):
        total: dict[int, int] = {}
        for limit, own, weight in zip(limits, group, weights, strict=True):
            if own == g:
                total[limit] = total.get(limit, 0) + weight
        best = min(total, key=lambda limit: (-total[limit], limit))
        for i, own in enumerate(group):
            if own == g:
                assert fits[i] == (limits[i] == best)


def test_the_heaviest_kind_of_each_group_and_of_equals_the_lowest() -> None:
    kind, group = ints([5, 3, 3, 1, 2, 7]), ints([0, 0, 0, 1, 1, 2])
    weights = np.array([2, 1, 1, 4, 5, 1], dtype=np.int64)
    assert heaviest(kind, group, 3, weights).tolist() == [False, True, True, False, True, True]


def scale_of(values: list[str], **more: Any) -> Scale:
    scale = seen({"ranges": {"within": [0, 50], "round": 5}}, values, **more)
    assert isinstance(scale, Scale)
    return scale


NUMBERS = ["1", "7", "12", "23", ""]


def spans(widest: int | None) -> tuple[JoinableSpans, dict[str, int]]:
    scale = scale_of(NUMBERS)
    at = np.arange(scale.leaves, dtype=np.int32)
    joinable = JoinableSpans(scale, Shown.spans(scale, at, at), None if widest is None else Decimal(widest))
    return joinable, {text: code for code, text in enumerate(joinable.texts)}


def test_spans_are_joined_from_the_smallest_to_the_largest_and_rounded_outward() -> None:
    joinable, code = spans(None)
    found = joinable.join(
        ints([code["1"], code["12"], code["7"], code["7"], code["23"], code[""]]), ints([0, 0, 0, 1, 2, 2]), 3
    )
    # One value is shown as it is; missing beside numbers is a star.
    assert [joinable.texts[i] for i in found] == ["0-15", "7", "*"]
    again = joinable.join(ints([int(found[0]), code["23"]]), ints([0, 0]), 1)
    assert joinable.texts[again[0]] == "0-25"
    shown = joinable.shown(ints([int(again[0]), joinable.star, code["7"]]))
    assert shown.ncp[shown.codes].tolist() == [0.5, 1.0, 0.0]
    assert shown.is_star[shown.codes].tolist() == [False, True, False]


def test_of_spans_that_are_too_wide_together_the_heaviest_that_fit_stay() -> None:
    joinable, code = spans(10)
    codes, group = ints([code["1"], code["7"], code["12"], code["23"]]), ints([0, 0, 0, 1])
    light, heavy = ([1, 2, 4, 1], [4, 2, 1, 1])
    for weights, fits in ((light, [False, True, True, True]), (heavy, [True, True, False, True])):
        assert joinable.together(codes, group, 2, np.array(weights, dtype=np.int64)).tolist() == fits
    everyone, _ = spans(None)
    assert everyone.together(codes, group, 2, np.array(light, dtype=np.int64)).all()
