"""Models trained on releases, tested on records held out."""

from __future__ import annotations

import pytest

import kveil
from kveil.errors import DataError, PolicyError
from sick_people import people, policy


def test_models_trained_on_releases_are_tested_on_records_held_out() -> None:
    pytest.importorskip("sklearn", reason="the extra sklearn is not installed: pip install 'kveil[sklearn]'")
    compared = kveil.compare(people(900), policy(3), ["mondrian", "k-member"], predict="sick")
    assert compared.prediction is not None
    assert compared.prediction["measure"] == "AUC"
    assert compared.prediction["held_out"] == 300
    assert compared.rows == 600
    assert compared.prediction["original"] > 0.65
    scores = [entry["prediction"] for entry in compared.algorithms]
    assert all(score is not None and 0.55 < score < 0.9 for score in scores)
    hidden = kveil.compare(people(900), policy(300), ["mondrian"], predict="sick").algorithms[0]["prediction"]
    assert hidden is not None
    assert hidden < compared.prediction["original"] - 0.05  # nearly everybody looks alike
    several = kveil.compare(people(), policy(3), ["mondrian"], predict="ward")
    assert several.prediction is not None
    assert several.prediction["measure"] == "accuracy"


def test_what_cannot_be_predicted_is_refused() -> None:
    with pytest.raises(PolicyError, match="which is no attribute of the policy; did you mean 'sick'"):
        kveil.compare(people(), policy(3), predict="sic")
    with pytest.raises(PolicyError, match="age, a column of role quasi-identifier"):
        kveil.compare(people(), policy(3), predict="age")
    with pytest.raises(DataError, match="needs at least 60 records"):
        kveil.compare(people(30), policy(3), predict="sick")
