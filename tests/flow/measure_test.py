"""What a release made by anyone lost."""

from __future__ import annotations

import polars as pl
import pytest

import kveil
from kveil.errors import DataError
from kveil.flow.measure import measure
from small_people import people, policy_of

POLICY = policy_of("[{model: k-anonymity, k: 3}]", "release: {order: keep}", "mondrian")


def test_a_release_of_kveil_is_measured_as_its_run_measured_it() -> None:
    original = people(20)
    result = kveil.anonymize(original, POLICY)
    found = measure(result.data, POLICY, original, result.owner)
    assert found.losses.of("ncp") == pytest.approx(result.account["loss"]["ncp"])
    assert found.records["released"] == 20
    assert found.warnings == []
    assert found.as_json()["loss"]["ncp"] == found.losses.of("ncp")


def test_nothing_is_lost_by_what_stays_and_everything_by_stars() -> None:
    original = people(6)
    assert measure(original, POLICY, original).losses.of("ncp") == 0.0
    stars = original.with_columns(age=pl.lit("*"), city=pl.lit("*"), sex=pl.lit("*"))
    assert measure(stars, POLICY, original).losses.of("ncp") == 1.0
    strange = original.with_columns(city=pl.lit("Atlantis"))
    assert "unknown to their hierarchies" in measure(strange, POLICY, original).warnings[0]
    with pytest.raises(DataError, match="lacks city"):
        measure(original.drop("city"), POLICY, original)
