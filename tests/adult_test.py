"""Adult by every algorithm, complete and with its missing values; pycanon as a second opinion on k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import polars as pl
import pytest
from pycanon.anonymity import k_anonymity

import kveil
from adult_data import QUASI, attributes_of, complete_rows, needs_adult, raw_rows
from kveil.algorithms.algorithm import Algorithm
from kveil.algorithms.registry import ALGORITHMS, able
from kveil.flow.steps.result import Result
from kveil.flow.verify import verify

SEVERAL = (
    ("sex", "age", "race"),
    ("age", "education"),
    ("native-country", "workclass"),
    ("marital-status", "occupation"),
)
pytestmark = needs_adult

Constraints = Sequence[tuple[Sequence[str], int]]


def check(result: Result, policy: kveil.Policy, original: pl.DataFrame, constraints: Constraints) -> None:
    """The verifier holds with and without the original, and pycanon counts the same k."""
    assert verify(result.data, policy, original=original, owner=result.owner)
    assert verify(result.data, policy)
    frame = pd.DataFrame({name: result.data[name].to_list() for name in result.data.columns})
    quasi = policy.quasi_identifiers
    for (attributes, k), said in zip(constraints, result.account["guarantees"], strict=True):
        # Rows of nothing but stars take no part; those of stars in one component only are a group like any other.
        taking_part = frame[~(frame[list(quasi)] == "*").all(axis=1)]
        if taking_part.empty:
            assert said["worst"] is None
        else:
            assert k_anonymity(taking_part, list(attributes)) == said["worst"] >= k


def entries(constraints: Constraints) -> list[dict[str, Any]]:
    return [{"model": "k-anonymity", "attributes": list(attributes), "k": k} for attributes, k in constraints]


def constraints_from(k: int, several: bool) -> Constraints:
    """One constraint over all quasi-identifiers, or several, each with its own k."""
    return [(attributes, k + i) for i, attributes in enumerate(SEVERAL)] if several else [(QUASI, k)]


def test_the_table_is_the_one_that_everybody_uses() -> None:
    assert raw_rows().height == 32_561
    assert raw_rows().filter(pl.any_horizontal(pl.all() == "?")).height == 2_399
    assert complete_rows().height == 30_162


# ---------------------------------------------------------------------------------------------- complete rows


def policy_of(constraints: Constraints, limit: float) -> kveil.Policy:
    return kveil.Policy(kveil=1, attributes=attributes_of(), privacy=entries(constraints), suppression={"limit": limit})


@pytest.mark.parametrize("limit", [0, 0.02])
@pytest.mark.parametrize("several", [False, True], ids=["one", "several"])
@pytest.mark.parametrize("k", [2, 5, 10, 50])
def test_adult_by_datafly(k: int, several: bool, limit: float) -> None:
    constraints = constraints_from(k, several)
    policy = policy_of(constraints, limit)
    result = kveil.anonymize(complete_rows(), policy, algorithm="datafly")
    records = result.account["records"]
    assert records["input"] == 30_162
    assert records["suppressed"] <= limit * 30_162
    assert records["released"] == result.data.height
    assert result.account["loss"]["ncp"] < 1
    assert result.account["loss"]["precision"] > 0
    check(result, policy, complete_rows(), constraints)


def runs() -> list[Any]:
    """Every algorithm with what it honours: one constraint, several."""
    return [
        pytest.param(algorithm, several, id=f"{algorithm.name}-{'several' if several else 'one'}")
        for algorithm in ALGORITHMS
        for several in (False, True)
        if able(algorithm, policy_of(constraints_from(10, several), 0.02))
    ]


# A search that may try for as long as the table is large gets a part of it.
PARTS = {"least-loss": 4_000}


@pytest.mark.parametrize(("algorithm", "several"), runs())
def test_adult_by_every_algorithm(algorithm: Algorithm, several: bool) -> None:
    constraints = constraints_from(10, several)
    policy = policy_of(constraints, 0.02)
    frame = complete_rows()[: PARTS.get(algorithm.name)]
    result = kveil.anonymize(frame, policy, algorithm=algorithm.name)
    assert result.account["records"]["suppressed"] <= 0.02 * frame.height
    check(result, policy, frame, constraints)


# ---------------------------------------------------------------------------------------------- missing values


WITH_MISSING: dict[str, Any] = {
    "age": {"role": "quasi-identifier", "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [5, 10, 20]}}},
    "workclass": {"role": "quasi-identifier"},
    "fnlwgt": {"role": "identifier"},
    "education": {"role": "insensitive"},
    "education-num": {
        "role": "quasi-identifier",
        "hierarchy": {"intervals": {"from": 1, "to": 16, "widths": [2, 4, 8]}},
    },
    "marital-status": {"role": "quasi-identifier", "hierarchy": {"mask": {"keep": [7]}}},
    "occupation": {"role": "quasi-identifier"},
    "relationship": {"role": "insensitive"},
    "race": {"role": "quasi-identifier"},
    "sex": {"role": "quasi-identifier"},
    "capital-gain": {"role": "insensitive"},
    "capital-loss": {"role": "insensitive"},
    "hours-per-week": {"role": "insensitive"},
    "native-country": {"role": "quasi-identifier"},
    "class": {"role": "sensitive"},
}


@pytest.mark.parametrize("limit", [0, 0.02])
@pytest.mark.parametrize("k", [2, 50])
def test_adult_with_missing_values(k: int, limit: float) -> None:
    quasi = ["age", "workclass", "education-num", "marital-status", "occupation", "race", "sex", "native-country"]
    constraints = [(quasi[:4], k), (quasi[3:6], 2 * k), (quasi[6:], k)]
    policy = kveil.Policy(
        kveil=1,
        data={"missing": ["?"]},
        attributes=WITH_MISSING,
        privacy=entries(constraints),
        suppression={"limit": limit},
    )
    frame = raw_rows()
    result = kveil.anonymize(frame, policy, algorithm="datafly")
    assert result.account["records"]["suppressed"] <= limit * frame.height
    # Missing is shown as itself, or as `*`, and never as another value.
    rows = frame.with_row_index("row").filter(pl.col("workclass") == "?")["row"].to_list()
    place = {row: at for at, row in enumerate(result.owner.rows.tolist())}
    assert {result.data["workclass"][place[row]] for row in rows if row in place} <= {"?", "*"}
    check(result, policy, frame, constraints)
