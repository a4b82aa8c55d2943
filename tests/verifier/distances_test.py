"""Distances of t-closeness, beside slow ways of reckoning them."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

from kveil.policy.model import Policy
from kveil.policy.privacy import TCloseness
from kveil.verifier.distances import COUNT, GROUP, _work, distances, per_group
from kveil.verifier.rows import ITEM


def test_work_over_ordered_values_is_what_a_table_of_all_of_them_gives() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        places, groups = int(rng.integers(1, 12)), int(rng.integers(1, 6))
        counts = rng.integers(0, 4, (groups, places))
        counts[:, 0] += counts.sum(axis=1) == 0
        reference = counts.sum(axis=0) / counts.sum()
        shares = counts / counts.sum(axis=1, keepdims=True)
        group, place = np.nonzero(counts)
        slow = np.abs(np.cumsum(shares - reference, axis=1)).sum(axis=1)
        assert _work(group, place, counts[group, place], reference) == pytest.approx(slow)


POLICY = """
kveil: 1
attributes:
  a: {role: quasi-identifier}
  s: {role: sensitive, hierarchy: {tree: {"*": {X: [x1, x2], Y: [y1, y2]}}}}
privacy: [{model: t-closeness, sensitive: s, t: 0.5, distance: hierarchical}]
"""


def model_of(distance: str) -> tuple[Policy, TCloseness]:
    text = POLICY.replace("hierarchical", distance)
    if distance != "hierarchical":
        text = text.replace(', hierarchy: {tree: {"*": {X: [x1, x2], Y: [y1, y2]}}}', "")
    policy = Policy.parse(text, "policy.yaml", Path())
    (model,) = policy.privacy
    assert isinstance(model, TCloseness)
    return policy, model


def histogram(groups: list[dict[str | None, int]]) -> pl.DataFrame:
    entries = [(g, item, number) for g, own in enumerate(groups) for item, number in own.items()]
    return pl.DataFrame(entries, schema={GROUP: pl.Int64, ITEM: pl.String, COUNT: pl.Int64}, orient="row")


def moved(one: dict[str | None, Fraction], other: dict[str | None, Fraction], ground: dict) -> float:
    """The earth mover's distance, as a linear program."""
    items = sorted(one, key=str)
    cost = [float(ground[a, b]) for a in items for b in items]
    lines, limits = [], []
    for side, shares in ((0, one), (1, other)):
        for item in items:
            lines.append([1.0 if (a, b)[side] == item else 0.0 for a in items for b in items])
            limits.append(float(shares[item]))
    return float(linprog(cost, A_eq=lines, b_eq=limits).fun)


def shares(counts: dict[str | None, int], items: list[str | None]) -> dict[str | None, Fraction]:
    total = sum(counts.values())
    return {item: Fraction(counts.get(item, 0), total) for item in items}


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
@pytest.mark.parametrize("seed", range(6))
def test_a_distance_is_the_least_work_of_moving_one_distribution_to_the_other(distance: str, seed: int) -> None:
    random = Random(seed)
    items: list[str | None] = ["x1", "x2", "y1", "y2", None] if distance == "hierarchical" else ["1", "2", "10", None]
    groups = [
        {item: random.randint(1, 4) for item in random.sample(items, random.randint(1, len(items)))} for _ in range(3)
    ]
    groups[0] |= dict.fromkeys(set(items) - set().union(*groups), 1)  # every item occurs
    whole: Counter[str | None] = Counter()
    for own in groups:
        whole.update(own)

    def apart(a: str | None, b: str | None) -> Fraction:
        if a == b:
            return Fraction(0)
        if distance == "equal":
            return Fraction(1)
        if distance == "ordered":  # by size, missing last
            return Fraction(abs(items.index(a) - items.index(b)), len(items) - 1)
        return Fraction(1, 2) if a and b and a[0] == b[0] else Fraction(1)

    policy, model = model_of(distance)
    found = distances(model, policy, histogram(groups), len(groups))
    ground = {(a, b): apart(a, b) for a in items for b in items}
    for own, least in zip(groups, found, strict=True):
        assert least == pytest.approx(moved(shares(own, items), shares(whole, items), ground), abs=1e-9)


def test_the_whole_may_be_more_than_the_groups() -> None:
    policy, model = model_of("equal")
    groups = histogram([{"1": 2}])
    assert distances(model, policy, groups, 1).tolist() == [0.0]
    assert distances(model, policy, groups, 1, everyone=histogram([{"1": 2}, {"2": 6}])).tolist() == [0.75]


def test_groups_without_entries_get_what_is_said() -> None:
    frame = histogram([{"1": 2, "2": 3}])
    assert per_group(frame, pl.col(COUNT).sum(), 3, -1.0).tolist() == [5.0, -1.0, -1.0]
    assert per_group(frame.clear(), pl.col(COUNT).sum(), 2, 0.5).tolist() == [0.5, 0.5]
