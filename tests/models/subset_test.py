"""The maximal anonymous subset, beside trying every subset."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from kveil.models import subset
from kveil.models.groups import AtLeastK, Groups
from kveil.models.subset import Requirement, maximal_anonymous_subset


def satisfied(requirements: list[Requirement], weights: np.ndarray, alive: np.ndarray) -> bool:
    for requirement in requirements:
        counted = alive if requirement.taking_part is None else alive & requirement.taking_part
        groups = Groups(requirement.group, requirement.groups, np.where(counted, weights, 0), {})
        if not requirement.model.good(groups).all():
            return False
    return True


@pytest.mark.parametrize("many", [0, subset.MANY])
@pytest.mark.parametrize("seed", range(15))
def test_it_is_the_largest_set_that_satisfies_everything(seed: int, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subset, "MANY", many)
    random = np.random.default_rng(seed)
    tuples = 7
    weights, alive = random.integers(1, 3, tuples), random.random(tuples) < 0.9
    requirements = [
        Requirement(
            AtLeastK(int(random.integers(2, 5))),
            random.integers(0, 3, tuples).astype(np.int32),
            3,
            None if random.random() < 0.5 else random.random(tuples) < 0.7,
        )
        for _ in range(2)
    ]
    found = maximal_anonymous_subset(requirements, weights, {}, alive)
    assert not (found & ~alive).any()
    assert satisfied(requirements, weights, found)
    for number in range(tuples + 1):
        for members in combinations(np.flatnonzero(alive).tolist(), number):
            other = np.isin(np.arange(tuples), members)
            if satisfied(requirements, weights, other):
                assert not (other & ~found).any()


def test_a_tuple_that_takes_no_part_is_not_dropped() -> None:
    nobody = np.zeros(2, dtype=bool)
    asked = [Requirement(AtLeastK(9), np.zeros(2, dtype=np.int32), 1, nobody)]
    assert maximal_anonymous_subset(asked, np.ones(2, dtype=np.int64), {}, np.ones(2, dtype=bool)).all()


@pytest.mark.parametrize("seed", range(20))
def test_those_that_are_left_can_be_looked_at_alone(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(seed)
    tuples, groups = 400, 60
    weights, alive = random.integers(0, 3, tuples), random.random(tuples) < 0.45
    asked = [
        Requirement(AtLeastK(int(random.integers(2, 6))), random.integers(0, groups, tuples).astype(np.int32), groups)
        for _ in range(3)
    ]
    together = maximal_anonymous_subset(asked, weights, {}, alive)
    apart = []
    among = Requirement.among

    def noted(self: Requirement, chosen: np.ndarray) -> Requirement:
        apart.append(len(chosen))
        return among(self, chosen)

    monkeypatch.setattr(subset, "MANY", 0)
    monkeypatch.setattr(Requirement, "among", noted)
    assert (maximal_anonymous_subset(asked, weights, {}, alive) == together).all()
    assert apart
