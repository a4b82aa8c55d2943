"""What the tests of algorithms share: which algorithms take part, cases that they honour, and one run of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, event
from hypothesis import strategies as st

import kveil
from kveil.algorithms.algorithm import BOUNDARIES, GROUP_MODELS, MANY, MAX_WIDTH, RANGES, Algorithm
from kveil.algorithms.registry import ALGORITHMS, able, check_honours
from kveil.flow.steps.result import Result
from naive import release as naive
from strategies import Case, Placed, cases

# Those that need individuals have a battery of their own, in `one_to_many_test`: a case here has none.
every_algorithm = pytest.mark.parametrize(
    "algorithm", [a for a in ALGORITHMS if not a.needs], ids=lambda algorithm: algorithm.name
)


def algorithms_for(*policies: str) -> pytest.MarkDecorator:
    """Let a test run with every algorithm that honours all of these policies, individuals aside."""
    loaded = [kveil.Policy.parse(text, "policy.yaml", Path()) for text in policies]
    able_ones = [a for a in ALGORITHMS if not a.needs and all(able(a, policy) for policy in loaded)]
    return pytest.mark.parametrize("algorithm", able_ones, ids=lambda algorithm: algorithm.name)


def cases_for(algorithm: Algorithm, **more: Any) -> st.SearchStrategy[Case]:
    """Cases that ask for nothing an algorithm does not honour."""
    return cases(
        many=MANY in algorithm.honours,
        bounded=BOUNDARIES in algorithm.honours,
        with_ranges=RANGES in algorithm.honours,
        max_width=MAX_WIDTH in algorithm.honours,
        models=[model for model in GROUP_MODELS if model in algorithm.honours],
        **more,
    )


def honours(algorithm: Algorithm, policy: kveil.Policy) -> bool:
    return able(algorithm, policy)


def solve(algorithm: Algorithm, here: Placed, order: list[int] | None = None) -> Result | None:
    """The release, or None where the algorithm says that there is none."""
    assume(honours(algorithm, here.policy))
    check_honours(algorithm, here.policy)
    try:
        return kveil.anonymize(here.case.frame(order), here.policy, algorithm=algorithm.name)
    except kveil.Unmeetable:
        event("unmeetable")
        return None


def close(found: float, exact: naive.Fraction) -> bool:
    return abs(found - float(exact)) <= 1e-12 * max(1.0, abs(float(exact)))
