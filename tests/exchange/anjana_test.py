"""Scripts that call ANJANA are read, not run; pyCANON agrees with the verifier on what it can be asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import kveil
from anjana_scripts import SCRIPT, clinic
from kveil.errors import FileError, PolicyError
from kveil.flow.exchange import export_pycanon, import_anjana


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


POLICY = """
kveil: 1
data: {path: clinic.csv}
attributes:
  name: {role: identifier}
  " age": {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 99, widths: [10, 50]}}}
  " sex": {role: quasi-identifier}
  job: {role: quasi-identifier, hierarchy: job.csv}
  illness: {role: sensitive}
  cost: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 4}
  - {model: l-diversity, sensitive: illness, l: 2}
  - {model: alpha-k, sensitive: illness, alpha: 0.8, k: 3}
  - {model: t-closeness, sensitive: cost, t: 0.6, distance: ordered}
  - {model: l-diversity, sensitive: illness, l: 2, variant: recursive, c: 5}
suppression: {limit: 0.2}
"""


def test_pycanon_finds_what_the_verifier_finds(tmp_path: Path) -> None:
    clinic(tmp_path)
    (tmp_path / "policy.yaml").write_text(POLICY)
    frame = pl.read_csv(tmp_path / "clinic.csv", infer_schema=False)
    result = kveil.anonymize(frame, kveil.Policy.load(tmp_path / "policy.yaml"))
    result.data.write_csv(tmp_path / "release.csv")
    script, left_out = export_pycanon(tmp_path / "policy.yaml", tmp_path / "release.csv")
    assert script.count("assert ") == 4
    assert left_out == ["l-diversity: pyCANON has no function that answers it rightly."]
    kept = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=300)
    assert kept.returncode == 0, kept.stderr
    frame.select(frame.columns[1:]).write_csv(tmp_path / "release.csv")  # the table itself, not a release
    broken = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=300)
    assert "AssertionError" in broken.stderr
