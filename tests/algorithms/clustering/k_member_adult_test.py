"""k-member and greedy-cka on Adult: label for label what comparing all pairs gives, and the papers' claims in small."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import kveil
from adult_data import QUASI, attributes_of, complete_rows, needs_adult
from kveil.algorithms.clustering.space import Space, clusters_of
from kveil.frames import from_frame
from kveil.table.encode import encode
from naive.all_pairs import all_pairs

pytestmark = needs_adult


def policy_of(loss: str, k: int, algorithm: str = "k-member", **more: dict[str, Any]) -> kveil.Policy:
    return kveil.Policy(
        kveil=1,
        attributes=attributes_of(**more),
        privacy=[{"model": "k-anonymity", "k": k}],
        loss=loss,
        algorithm=algorithm,
        suppression={"limit": 0.05},
    )


def sample(rows: int, seed: int) -> pl.DataFrame:
    return complete_rows().sample(rows, seed=seed)


@pytest.mark.parametrize(("loss", "k", "ranges"), [("ncp", 10, False), ("il", 5, False), ("ncp", 3, True)])
def test_label_for_label_what_comparing_all_pairs_gives(loss: str, k: int, ranges: bool) -> None:
    more = {"age": {"hierarchy": {"ranges": {"within": [17, 90]}}}} if ranges else {}
    table = encode(from_frame(sample(2_003, 4)), policy_of(loss, k, **more))
    space = Space(table, list(range(len(QUASI))))
    everyone = np.ones(table.records, dtype=bool)
    found, _ = clusters_of(space, np.zeros(len(table.distinct.weights), dtype=np.int32), everyone, k)
    assert np.array_equal(found.label, all_pairs(table, k))


def test_boundaries_are_kept_and_cost_little() -> None:
    frame = sample(3_000, 8)
    free = kveil.anonymize(frame, policy_of("il", 5))
    bound = kveil.anonymize(frame, policy_of("il", 5, "greedy-cka", native_country={"boundary": {"level": 1}}))
    assert bound.account["boundaries"] == {"violations": 0}
    assert bound.account["loss"]["il"] < 1.2 * free.account["loss"]["il"]
