"""What is known of groups from round to round, beside grouping all over again."""

from __future__ import annotations

import numpy as np

from kveil.algorithms.classfly.known_groups import KnownGroup, KnownGroups
from kveil.algorithms.component import Constraint
from kveil.models.groups import AtLeastK


def constraint(k: int, *over: int) -> Constraint:
    return Constraint(AtLeastK(k), list(over), list(over), k)


def test_tuples_are_in_a_large_group_by_the_weight_of_all() -> None:
    known = KnownGroup(np.array([0, 1, 0, 2], dtype=np.int32), 3)
    weights = np.array([1, 2, 2, 3])
    assert known.in_large(weights, 3).tolist() == [True, False, True, True]
    assert known.in_large(weights, 3) is known.large


def test_a_step_changes_the_constraints_over_its_attribute_alone() -> None:
    constraints = [constraint(2, 0, 1), constraint(2, 1), constraint(2, 2)]
    groups = {j: KnownGroup(np.zeros(3, dtype=np.int32), 1) for j in range(3)}
    known = KnownGroups([3, 3, 3], 0, dict(groups))
    known.forget(constraints, 1)
    assert known.of == {2: groups[2]}


def test_merged_tuples_keep_the_group_of_the_first() -> None:
    known = KnownGroups([3], 0, {0: KnownGroup(np.array([2, 1, 2, 0], dtype=np.int32), 3)})
    known.merge(np.array([0, 3], dtype=np.int32))
    assert known.of[0].group.tolist() == [2, 0]
    assert known.of[0].large is None


def test_the_constraint_is_asked_first_that_is_likely_to_leave_least() -> None:
    constraints = [constraint(2, 0), constraint(2, 0, 1), constraint(2, 1, 2), constraint(9, 2)]
    known = KnownGroups([10, 10, 10], None)
    # Of 100 records 10 are expected at each value of an attribute, and one at each pair of values: half of 2.
    assert known.order(constraints, 100, [0.5, 0.5, 0.4, 0.1]) == [3, 2, 1, 0]
    # Of 20, a tenth of 2 at each pair, and two of nine: hardly any is left there, and the next step moves attribute 0.
    known.next_step = 0
    assert known.order(constraints, 20, [0.5] * 4) == [2, 3, 1, 0]
    known.of[3] = KnownGroup(np.zeros(20, dtype=np.int32), 1)
    assert known.order(constraints, 20, [0.5] * 4) == [2, 1, 0]


def test_without_any_knowledge_the_share_left_decides() -> None:
    constraints = [constraint(2, 0), constraint(3, 1)]
    assert KnownGroups().order(constraints, 5, [0.9, 0.2]) == [1, 0]
    assert KnownGroups().order(constraints, 5, [0.2, 0.2]) == [0, 1]
