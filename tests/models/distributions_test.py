"""Models over histograms, on groups small enough to reckon by hand."""

from __future__ import annotations

from fractions import Fraction
from math import log
from typing import Any

import numpy as np
import pytest

from kveil.models.distributions import (
    AlphaShare,
    Close,
    DistinctValues,
    EntropyL,
    FrequencyL,
    RecursiveCL,
    as_fraction,
    distribution_model,
)
from kveil.models.groups import Groups, Pairs
from kveil.policy.privacy import AlphaK, KAnonymity, LDiversity, PSensitive, TCloseness

KNOWN = 3


class Line:
    """Values in their order, and as leaves of a tree in which the first two have a parent of their own."""

    def order(self, present: Any) -> Any:
        return np.flatnonzero(present).astype(np.int32)

    def ways(self, present: Any) -> Any:
        nodes = np.array([[2, 1, 0], [3, 1, 0], [4, 0, -1], [5, 0, -1]], dtype=np.int32)
        return nodes, np.array([0.0, 0.25, 0.25, 0.25, 0.5, 0.5])


def groups(*histograms: list[int]) -> Groups:
    """Groups with so many rows of each value, the last number being of missing."""
    entries = [(g, code, n) for g, own in enumerate(histograms) for code, n in enumerate(own) if n]
    owner, code, counts = (np.array(column) for column in zip(*entries, strict=True))
    sizes = np.array([sum(own) for own in histograms])
    tuples = np.arange(len(histograms), dtype=np.int32)
    return Groups(tuples, len(histograms), sizes, {"s": Pairs(owner, code.astype(np.int32), counts, KNOWN)})


@pytest.mark.parametrize(
    ("model", "good", "bad"),
    [
        (DistinctValues("s", 2), [3, 1, 0, 0], [3, 0, 0, 4]),
        (EntropyL("s", 2.0), [2, 2, 0, 9], [3, 2, 0, 0]),
        (RecursiveCL("s", 2, Fraction(3, 2)), [4, 3, 0, 0], [3, 2, 0, 0]),  # 4 < 1.5 · 3, 3 is not < 1.5 · 2
        (FrequencyL("s", Fraction(2)), [2, 1, 1, 0], [3, 1, 1, 0]),
        (AlphaShare("s", Fraction(1, 2), 3), [2, 1, 1, 0], [1, 1, 0, 0]),
        (AlphaShare("s", Fraction(1, 2), 1), [2, 1, 1, 0], [1, 0, 0, 2]),  # missing is a value here
    ],
)
def test_a_model_holds_at_its_bound_and_not_beyond(model: Any, good: list[int], bad: list[int]) -> None:
    assert model.good(groups(good, bad)).tolist() == [True, False]
    assert model.least_members() <= sum(good)


@pytest.mark.parametrize(
    ("distance", "expected"),
    [
        ("equal", [0.5, 0.5]),
        ("ordered", [0.5, 0.5]),
        ("hierarchical", [0.5, 0.5]),
    ],
)
def test_two_halves_lie_as_far_from_the_whole_on_both_sides(distance: str, expected: list[float]) -> None:
    model = Close("s", 0.5, distance, Line())
    found = model.distances(groups([2, 0, 0, 0], [0, 0, 2, 0]))
    # Half of each group has to move to the other value, all the way.
    assert found.tolist() == pytest.approx(expected)
    assert model.good(groups([2, 0, 0, 0], [0, 0, 2, 0])).all()
    assert not Close("s", 0.49, distance, Line()).good(groups([2, 0, 0, 0], [0, 0, 2, 0])).any()


def test_values_below_one_parent_are_nearer() -> None:
    near = Close("s", 1, "hierarchical", Line()).distances(groups([2, 0, 0, 0], [0, 2, 0, 0]))
    far = Close("s", 1, "hierarchical", Line()).distances(groups([2, 0, 0, 0], [0, 0, 2, 0]))
    assert near.tolist() == pytest.approx([0.25, 0.25])
    assert (near < far).all()


def test_a_reference_stands_still_where_it_is_given() -> None:
    whole = groups([1, 1, 0, 0])
    model = Close("s", 0.1, "equal", Line()).against(whole)
    assert model.distances(groups([1, 1, 0, 0])).tolist() == pytest.approx([0.0])
    assert model.distances(groups([2, 0, 0, 0])).tolist() == pytest.approx([0.5])


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (LDiversity(sensitive="s", l="3"), DistinctValues("s", 3)),
        (LDiversity(sensitive="s", l="2.5", variant="entropy"), EntropyL("s", 2.5)),
        (LDiversity(sensitive="s", l="2", c="1.5", variant="recursive"), RecursiveCL("s", 2, Fraction(3, 2))),
        (LDiversity(sensitive="s", l="2.5", variant="frequency"), FrequencyL("s", Fraction(5, 2))),
        (PSensitive(sensitive="s", p=2), DistinctValues("s", 2)),
        (AlphaK(sensitive="s", alpha="0.3", k=4), AlphaShare("s", Fraction(3, 10), 4)),
    ],
)
def test_a_policys_model_becomes_the_check_of_a_search(policy: Any, expected: Any) -> None:
    assert distribution_model(policy, Line()) == expected


def test_t_closeness_takes_its_distance_along_and_sizes_are_no_distribution() -> None:
    model = distribution_model(TCloseness(sensitive="s", t="0.2", distance="ordered"), Line())
    assert isinstance(model, Close)
    assert (model.t, model.distance) == (0.2, "ordered")
    with pytest.raises(TypeError, match="no search-time check"):
        distribution_model(KAnonymity(k=2), Line())
    assert as_fraction("0.1") == Fraction(1, 10)


def test_fewest_members_follow_from_how_many_values_one_has() -> None:
    assert DistinctValues("s", 5).least_members(most_values=2) == 3
    assert EntropyL("s", 2.5).least_members() == 3
    assert FrequencyL("s", Fraction(5, 2)).least_members(some_missing=True) == 1
    assert AlphaShare("s", Fraction(1, 4), 2).least_members() == 4
    assert EntropyL("s", 3.0).good(groups([1, 1, 1, 0])).tolist() == [True]
    assert log(3) == pytest.approx(-3 * (1 / 3) * log(1 / 3))  # what the entropy of three equal shares is
