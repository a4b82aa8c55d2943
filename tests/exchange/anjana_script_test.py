"""Scripts that call ANJANA are read, not run; pyCANON agrees with the verifier on what it can be asked."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import kveil
from anjana_scripts import SCRIPT, clinic
from kveil.errors import FileError, PolicyError
from kveil.flow.exchange import import_anjana


def test_a_script_is_taken_over_without_running_it(tmp_path: Path) -> None:
    imported = import_anjana(clinic(tmp_path), tmp_path / "policy.yaml")
    assert not (tmp_path / "ran").exists()
    policy = kveil.Policy.load(tmp_path / "policy.yaml")
    assert [model.model for model in policy.privacy] == ["k-anonymity", "l-diversity", "t-closeness"]
    assert policy.privacy[2].model_dump()["distance"] == "ordered"  # its values are numbers
    assert str(policy.suppression.limit) == "0.05"  # the least of what the calls allow, in hundredths
    assert {name.strip(): attribute.role for name, attribute in policy.attributes.items()} == {
        "name": "identifier",
        "age": "quasi-identifier",
        "sex": "quasi-identifier",
        "job": "quasi-identifier",
        "illness": "sensitive",
        "cost": "sensitive",
    }
    assert imported.left_out == ("delta_disclosure for cost: kveil has no such model. Add another under `privacy`.",)
    frame = pl.read_csv(tmp_path / "clinic.csv", infer_schema=False)
    result = kveil.anonymize(frame, policy)
    assert kveil.verify(result.data, policy, original=frame, owner=result.owner)


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        (("k, supp_level = 4, 10", "supp_level = 10"), PolicyError, "given as k cannot be told without running"),
        (('"illness", k, 2,', '"illness", k, int("2"),'), PolicyError, "given as l_div cannot be told without running"),
        (("import pandas as pd", "import pandas as ("), FileError, "no Python script that can be read"),
        (('["age", "sex", "job"]', '["age", "sex", "town"]'), PolicyError, "the table has no column 'town'"),
        (('"job.csv"', '"absent.csv"'), FileError, "absent.csv: the hierarchy cannot be read"),
    ],
    ids=["number", "call", "syntax", "column", "file"],
)
def test_what_cannot_be_told_is_refused_by_name(
    tmp_path: Path, change: tuple[str, str], error: type[Exception], told: str
) -> None:
    path = clinic(tmp_path, SCRIPT.replace(*change))
    with pytest.raises(error, match=told):
        import_anjana(path, tmp_path / "policy.yaml")
    assert not (tmp_path / "policy.yaml").exists()


def test_a_script_without_calls_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="calls no function of ANJANA's"):
        import_anjana(clinic(tmp_path, "x = 1\n"), tmp_path / "policy.yaml")
