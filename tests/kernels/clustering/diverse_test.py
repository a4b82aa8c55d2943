"""Clusters under models over sensitive values, beside the slow way."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from kveil.kernels.clustering.diverse import cluster_diverse
from kveil.kernels.clustering.layout import CostAttributes, CostLeaves, DistinctTuples, no_costs
from kveil.kernels.models.layout import ALPHA, DISTINCT, Needs, SensitiveCodes
from naive.diverse import DiverseCase

NUMBERS = 9  # per attribute


def random_case(chance: Random) -> DiverseCase:
    width = chance.randint(1, 3)
    tuples = sorted({tuple(chance.randrange(NUMBERS) for _ in range(width)) for _ in range(chance.randint(3, 20))})
    by_values = chance.random() < 0.5
    return DiverseCase(
        [list(own) for own in tuples],
        [chance.randint(1, 3) for _ in tuples],
        [chance.randint(0, 3) for _ in tuples],
        chance.randint(2, 4),
        chance.randint(1, 3) if by_values else None,
        None if by_values else Fraction(chance.randint(1, 3), 3),
        chance.random() < 0.5,
    )


@pytest.mark.parametrize("seed", range(80))
def test_clusters_are_those_of_looking_at_every_tuple_every_time(seed: int) -> None:
    case = random_case(Random(seed))
    width, number = len(case.tuples[0]), len(case.tuples)
    ranks = np.array([[0, rank, rank] for _ in range(width) for rank in range(NUMBERS)], dtype=np.int64)
    about = np.array([[0, a * NUMBERS, 1 << 40, -1] for a in range(width)], dtype=np.int64)
    cells = np.array(case.tuples, dtype=np.int32)
    start = np.cumsum([0, *case.rows]).astype(np.int64)
    known = max(case.values) + 1
    up, down = (case.alpha.numerator, case.alpha.denominator) if case.alpha else (case.least or 1, 1)
    needs = Needs(
        np.array([ALPHA if case.alpha else DISTINCT], dtype=np.int32), np.zeros(1, dtype=np.int32),
        np.ones(1, dtype=np.int64), np.array([up], dtype=np.int64), np.array([down], dtype=np.int64), np.zeros(1),
    )  # fmt: skip
    values = SensitiveCodes(
        np.arange(number + 1, dtype=np.int64)[None, :], np.array(case.values, dtype=np.int32),
        np.array(case.rows, dtype=np.int64), np.array([known], dtype=np.int32), np.zeros((1, known + 1)),
        np.full((1, known + 1, 1), -1, dtype=np.int32), np.zeros((1, 1)), np.zeros((1, 1)),
    )  # fmt: skip
    leaves, attributes = CostLeaves(*ranks.T.copy()), CostAttributes(*about.T.copy())
    costs = no_costs()._replace(leaves=leaves, attributes=attributes)
    groups = np.array([0, number], dtype=np.int64)
    found = cluster_diverse(
        costs, DistinctTuples(cells, cells, start), needs, values, groups, case.k, case.more_is_safe
    )
    made, left = case.clusters()
    of_row = np.repeat(np.arange(number), case.rows)
    clusters = [sorted(of_row[found.label == c].tolist()) for c in range(len(found.size))]
    assert clusters == [sorted(own) for own in made]
    assert found.size.tolist() == [len(own) for own in made]
    assert np.bincount(of_row[found.label < 0], minlength=number).tolist() == left
    for c, own in enumerate(made):
        assert found.low[c].tolist() == cells[own].min(axis=0).tolist()
        assert found.high[c].tolist() == cells[own].max(axis=0).tolist()
        if not case.more_is_safe:
            assert case.holds(own)
