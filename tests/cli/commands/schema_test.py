"""The schema of policies knows what kveil knows, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import kveil
import places
from support import (
    policy_dict,
    run,
)

GOLDEN = sorted(places.GOLDEN.glob("*/policy*.yaml"))


@pytest.fixture(scope="module")
def schema() -> Any:
    outcome = run("schema")
    assert (outcome.code, outcome.err) == (0, "")
    found = outcome.json
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_the_schema_knows_the_golden_policies(schema: Any, path: Path) -> None:
    assert list(schema.iter_errors(yaml.safe_load(path.read_text()))) == []


def test_there_are_golden_policies() -> None:
    assert len(GOLDEN) >= 5


EXAMPLE = """
kveil: 1
data: {path: patients.csv, separator: ",", missing: ["", "?"]}
attributes:
  name:      {role: identifier}
  pid:       {role: individual}
  age:       {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 100, widths: [5, 10, 20]}}}
  zip:       {role: quasi-identifier, hierarchy: {mask: {keep: [4, 3]}}}
  birth:     {role: quasi-identifier, hierarchy: {dates: [month, year, decade]}}
  location:  {role: quasi-identifier, hierarchy: location.csv, boundary: [California, Kansas, Midwest]}
  country:
    role: quasi-identifier
    hierarchy: {tree: {"*": {Asia: [Japan, Korea], Europe: [France, NO, 02137]}}}
    boundary: {level: 1}
    weight: 2
  weight:    {role: quasi-identifier, hierarchy: {ranges: {within: [0, 200], round: 5}}, boundary: {max_width: 10}}
  sex:       {role: quasi-identifier}
  diagnosis: {role: sensitive, hierarchy: icd.csv}
  ward:      {role: insensitive}
privacy:
  - {model: k-anonymity, k: 5}
  - {model: k-anonymity, attributes: [zip, birth, sex], k: 10}
  - {model: l-diversity, sensitive: diagnosis, l: 3, variant: distinct}
  - {model: p-sensitive, sensitive: diagnosis, p: 2}
  - {model: alpha-k, sensitive: diagnosis, alpha: 0.5, k: 5}
  - {model: t-closeness, sensitive: diagnosis, t: 0.2, distance: equal}
  - {model: kl-diversity, sensitive: diagnosis, k: 10, l: 5}
  - {model: k-km-anonymity, sensitive: diagnosis, k: 10, m: 2}
dependencies: ["department -> phone", "course ->> teacher"]
suppression: {limit: 0.05, show: drop}
individual: {conflicts: error}
release: {order: sorted, shape: sets}
loss: ncp
seed: 0
algorithm: {name: greedy-cka, option: value}
"""


def test_the_schema_knows_the_contracts_example(schema: Any) -> None:
    assert list(schema.iter_errors(yaml.safe_load(EXAMPLE))) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("kveil: 1", "kveil: 2"),
        ("role: sensitive,", "role: sensitiv,"),
        ("model: k-anonymity, k: 5", "model: k-anonimity, k: 5"),
        ("model: k-anonymity, k: 5", "model: k-anonymity"),
        ("model: k-anonymity, k: 5", "model: k-anonymity, k: 0"),
        ("p: 2", "q: 2"),
        pytest.param("alpha: 0.5", "alpha: 1.5"),
        ("alpha: 0.5", "alpha: half"),
        ("variant: distinct", "variant: unique"),
        ("show: drop", "show: hide"),
        pytest.param("limit: 0.05", "limit: 5"),
        ("order: sorted", "order: random"),
        ("shape: sets", "shape: wide"),
        ("loss: ncp", "loss: entropy"),
        pytest.param("seed: 0", "seed: -1"),
        ("name: greedy-cka", "name: greedy"),
        ("mask: {keep: [4, 3]}", "mask: {kept: [4, 3]}"),
        ("dates: [month, year, decade]", "dates: [day]"),
        ("widths: [5, 10, 20]", "width: 5"),
        ("hierarchy: {mask", "hierarchie: {mask"),
        ("boundary: {level: 1}", "boundary: {levels: 1}"),
        ("max_width: 10", "max_width: -1"),
        ("suppression:", "supression:"),
        ('"course ->> teacher"', '"course teacher"'),
        ('missing: ["", "?"]', 'missing: "?"'),
        ("privacy:", "private:"),
        ("conflicts: error", "conflicts: ignore"),
    ],
)
def test_the_schema_rejects_what_the_policy_rejects(schema: Any, tmp_path: Path, old: str, new: str) -> None:
    assert EXAMPLE.count(old) >= 1
    wrong = EXAMPLE.replace(old, new, 1)
    assert list(schema.iter_errors(yaml.safe_load(wrong)))
    (tmp_path / "policy.yaml").write_text(wrong)
    with pytest.raises(kveil.PolicyError):
        kveil.Policy.load(tmp_path / "policy.yaml")


def test_the_schema_knows_every_policy_these_tests_write(schema: Any) -> None:
    assert list(schema.iter_errors(policy_dict())) == []
    assert list(schema.iter_errors(policy_dict(algorithm="auto", release={"order": "keep"}, data={"path": "x"}))) == []
