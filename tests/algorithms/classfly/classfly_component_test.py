"""A component as Classfly works on it: which tuples may be set aside."""

from __future__ import annotations

import numpy as np
import pytest

from coded_tables import QUASI, coded
from kveil.algorithms.classfly.classfly_component import ClassflyComponent, only
from kveil.algorithms.component import components_of
from kveil.algorithms.shown_tuples import Tuples
from kveil.models.distributions import Close
from kveil.models.groups import Pairs
from kveil.table.table import Table

TREE = {"role": QUASI, "hierarchy": {"tree": {"*": {"N": ["a", "b"], "S": ["c"]}}}}
OVERLAPPING = [
    {"model": "k-anonymity", "attributes": ["t", "u"], "k": 2},
    {"model": "k-anonymity", "attributes": ["t"], "k": 3},
]


def part_of(table: Table, kind: str = "complete") -> ClassflyComponent:
    return ClassflyComponent(components_of(table)[0], Tuples.at_leaves(table), kind)


def table(t: str, u: str, models: list | None = None, **others: object) -> Table:
    return coded(
        {"t": list(t), "u": list(u)}, {"t": TREE, "u": QUASI}, privacy=models or OVERLAPPING, limit=1, **others
    )


def set_aside(own: Table, kind: str) -> list[bool]:
    part = part_of(own, kind)
    return part.satisfied(part.leaf_nodes, part.weights, part.pairs)[part.member[own.distinct.member]].tolist()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("naive", [False] * 5),  # no group of equal tuples has the largest k
        ("complete", [True, True, True, True, False]),
        ("partial", [True, True, True, True, False]),
    ],
)
def test_tuples_are_set_aside_by_the_union_constraint_or_by_all_together(kind: str, expected: list[bool]) -> None:
    assert set_aside(table("aaaac", "xxyyx"), kind) == expected


def test_what_is_dropped_for_one_constraint_may_break_another() -> None:
    # Without the one at (a, y), which is alone there, a has two left, and three are asked for.
    assert set_aside(table("aaac", "xxyx"), "complete") == [False] * 4


def test_a_group_of_stars_is_not_set_aside_where_it_is_lost() -> None:
    own = table("aaa", "xxx")
    part = part_of(own)
    assert part.hides
    stars = np.zeros_like(part.leaf_nodes)
    assert not part.satisfied(stars, part.weights, part.pairs).any()
    assert part.stars(stars).all()


def test_constraints_stand_by_growing_k_and_costs_are_the_policys() -> None:
    part = part_of(table("aab", "xyx"))
    assert [constraint.k for constraint in part.constraints] == [2, 3]
    assert part.largest_k == 3
    assert part.cost(0).tolist() == part.trees[0].ncp.tolist()
    heavy = {"t": {**TREE, "weight": 3}, "u": QUASI}
    weighed = part_of(coded({"t": list("aab"), "u": list("xyx")}, heavy, privacy=OVERLAPPING))
    assert weighed.cost(0).tolist() == pytest.approx((3 * part.trees[0].ncp).tolist())


def test_t_closeness_refers_to_the_whole_table_for_good() -> None:
    model = {"model": "t-closeness", "sensitive": "s", "t": 0.4}
    own = coded({"t": list("aabb"), "s": list("1212")}, {"t": TREE, "s": "sensitive"}, privacy=[model])
    (constraint,) = part_of(own).constraints
    assert isinstance(constraint.model, Close)
    assert constraint.model.reference is not None
    assert constraint.model.reference.tolist() == [0.5, 0.5, 0.0]
    sizes = part_of(own).sizes_only()
    assert sizes.counts_only
    assert sizes.pairs == {}


def test_pairs_of_tuples_that_stay_get_their_new_numbers() -> None:
    pairs = Pairs(np.array([0, 1, 2, 2]), np.array([0, 1, 0, 1]), np.array([5, 6, 7, 8]), 2)
    kept = only(pairs, np.array([-1, 1, 0], dtype=np.int32))
    assert kept.tuples.tolist() == [1, 0, 0]
    assert kept.codes.tolist() == [1, 0, 1]
    assert kept.counts.tolist() == [6, 7, 8]
