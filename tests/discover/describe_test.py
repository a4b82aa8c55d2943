"""`kveil dependencies`: how declared rules stand, and what is looked at."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import places
from kveil.flow.dependencies import dependencies_of_file
from support import refused, run

GOLDEN = places.GOLDEN / "kmsd"


def write(folder: Path, rows: list[dict[str, str]]) -> Path:
    pl.DataFrame(rows).write_csv(folder / "data.csv")
    return folder / "data.csv"


def test_declared_rules_of_a_policy_and_of_its_release() -> None:
    fine = run("dependencies", GOLDEN / "policy-ag.yaml", "--json")
    assert fine.code == 0
    (declared,) = fine.json["declared"]
    assert (declared["rule"], declared["holds"], declared["groups"]) == ("Department -> Phone", True, [])
    assert "Department -> Phone" in [rule["rule"] for rule in fine.json["functional"]]

    broken = run("dependencies", GOLDEN / "policy-ag.yaml", "--input", GOLDEN / "expected-k-msd.csv", "--json")
    assert broken.code == 1
    (declared,) = broken.json["declared"]
    assert declared["broken"] == 1
    assert declared["groups"] == [
        {
            "left": {"Department": "Teaching"},
            "right": [{"Phone": "85152**"}, {"Phone": "85153**"}],
            "right_sides": 2,
            "records": 4,
        }
    ]
    told = run("dependencies", GOLDEN / "policy-ag.yaml", "--input", GOLDEN / "expected-k-msd.csv")
    assert "Teaching: 2 right sides in 4 records: 85152**; 85153**" in told.out


def test_what_is_never_released_is_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("name,id,zip,city\nAnn,7,1,x\nBob,8,1,x\nCid,9,2,y\n")
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "kveil: 1\ndata: {path: data.csv}\nattributes: {name: {role: identifier}, id: {role: individual}, "
        "zip: {role: quasi-identifier}, city: {role: insensitive}}\nprivacy: [{model: k-anonymity, k: 1}]\n"
        "dependencies: ['zip -> city']\n"
    )
    outcome = run("dependencies", policy, "--json")
    assert outcome.json["columns"] == ["zip", "city"]
    assert "Ann" not in outcome.out
    assert "cannot be generalized" in outcome.json["declared"][0]["kept"]
    assert "never releases" in refused(run("dependencies", policy, "--columns", "name,zip"))
    refused(run("dependencies", tmp_path / "data.csv", "--columns", "zipp"), "zip")
    refused(run("dependencies", tmp_path / "data.csv", "--input", policy), "--input")
    refused(run("dependencies", tmp_path / "none.csv"), "none.csv")


def test_only_so_many_columns_are_looked_at(tmp_path: Path) -> None:
    rows = [{f"c{i:02}": str(rng) for i in range(14)} for rng in range(3)]
    found = dependencies_of_file(write(tmp_path, rows))
    assert len(found["columns"]) == 12
    assert found["left_out"] == ["c12", "c13"]
    assert dependencies_of_file(write(tmp_path, rows), columns=["c13", "c00"])["left_out"] == []


def test_empty_and_one_row_tables(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b\n")
    assert dependencies_of_file(tmp_path / "data.csv")["functional"] == []
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    assert dependencies_of_file(tmp_path / "data.csv")["constant"] == ["a", "b"]
