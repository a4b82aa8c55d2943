"""k-member and greedy-cka on Adult: label for label what comparing all pairs gives, and the papers' claims in small."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import numpy as np
import polars as pl
import pytest

import kveil
from kveil.algorithms.clustering.k_member import Space, clusters_of
from kveil.frames import from_frame
from kveil.policy.load import parse_policy
from kveil.table.encode import encode
from places import ADULT, ROOT

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
pytestmark = pytest.mark.skipif(not ADULT.exists(), reason=f"{ADULT} is not there")


def quadratic() -> Any:
    spec = importlib.util.spec_from_file_location("quadratic", ROOT / "benchmarks" / "quadratic.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["quadratic"] = module  # where Numba looks for it if a benchmark has left compiled loops
    spec.loader.exec_module(module)
    return module


def policy_of(loss: str, k: int, boundary: str = "", algorithm: str = "k-member", ranges: bool = False) -> kveil.Policy:
    rows = "".join(
        f"\n  {name}: {{role: quasi-identifier, hierarchy: "
        + (
            "{ranges: {within: [17, 90]}}}"
            if ranges and name == "age"
            else f"{ADULT}/hierarchies_arx/adult_hierarchy_{name}.csv{boundary if name == 'native-country' else ''}}}"
        )
        for name in QUASI
    )
    text = (
        f"kveil: 1\nattributes:{rows}\n  salary-class: {{role: sensitive}}\n"
        f"privacy: [{{model: k-anonymity, k: {k}}}]\nloss: {loss}\nalgorithm: {algorithm}\n"
        "suppression: {limit: 0.05}\n"
    )
    return parse_policy(text, "adult", ADULT)


def sample(rows: int, seed: int) -> pl.DataFrame:
    frame = pl.read_csv(ADULT / "adult_arx.csv", separator=";", infer_schema=False)
    return frame.sample(rows, seed=seed)


@pytest.mark.parametrize(("loss", "k", "ranges"), [("ncp", 10, False), ("il", 5, False), ("ncp", 3, True)])
def test_label_for_label_what_comparing_all_pairs_gives(loss: str, k: int, ranges: bool) -> None:
    table = encode(from_frame(sample(2_003, 4)), policy_of(loss, k, ranges=ranges))
    space = Space(table, list(range(len(QUASI))))
    everyone = np.ones(table.records, dtype=bool)
    found, _ = clusters_of(space, np.zeros(len(table.distinct.weights), dtype=np.int32), everyone, k, None)
    assert np.array_equal(found.label, quadratic().quadratic(table, k))


def test_boundaries_are_kept_and_cost_little() -> None:
    frame = sample(3_000, 8)
    free = kveil.anonymize(frame, policy_of("il", 5))
    bound = kveil.anonymize(frame, policy_of("il", 5, ", boundary: {level: 1}", "greedy-cka"))
    assert bound.account["boundaries"] == {"violations": 0}
    assert bound.account["loss"]["il"] < 1.2 * free.account["loss"]["il"]
