"""Engine `spark`: a table on Spark gives the release of one in memory, row for row."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

from kveil.algorithms.registry import ALGORITHMS, find
from kveil.flow.anonymize import anonymize_file
from kveil.flow.steps.inputs import with_algorithm
from kveil.flow.steps.outputs import Targets
from kveil.flow.steps.request import Request
from kveil.policy.model import Policy
from on_spark import needs_spark, on_both, plain, release_of, started
from planted_rules import planted
from strategies import EXPLORE, placed

pytestmark = needs_spark()

POLICY = """
kveil: 1
data: {path: data.parquet, missing: ["", "?"]}
attributes:
  name: {role: identifier}
  note: {role: insensitive}
  age: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 100, widths: [10, 20]}}, boundary: {level: 2}}
  zip: {role: quasi-identifier, hierarchy: {mask: {keep: [4, 3]}}}
  illness: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 4}
  - {model: l-diversity, sensitive: illness, l: 2}
suppression: {limit: 0.1}
algorithm: mondrian
"""
PEOPLE = """
kveil: 1
attributes:
  pid: {role: individual}
  ward: {role: insensitive}
  age: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 100, widths: [10, 20]}}, boundary: {level: 2}}
  sex: {role: quasi-identifier}
  code: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 4}
  - {model: l-diversity, sensitive: code, l: 2}
suppression: {limit: 0.2}
algorithm: mondrian
"""


@pytest.fixture(scope="module")
def session() -> Any:
    return started()


def rows(number: int = 250) -> pl.DataFrame:
    random = Random(5)
    return pl.DataFrame(
        {
            "name": [f"n{i}" for i in range(number)],
            "note": [random.choice([None, "", "x", "y"]) for _ in range(number)],
            "age": [*(random.choice([None, 21, 34, 35, 52]) for _ in range(number - 1)), 99],
            "zip": [random.choice(["?", "02138", "02139", "02141", "10001"]) for _ in range(number)],
            "illness": [random.choice(["a", "b", "c", None]) for _ in range(number)],
        }
    )


def people(number: int = 120, *, disagree: bool = False) -> pl.DataFrame:
    random = Random(1)
    told: list[tuple[Any, ...]] = [(number, "x", 99, "m", 1)]
    for person in range(number):
        age, sex, ward = random.choice([None, 21, 34, 52]), random.choice("mf"), random.choice(["x", "y", None])
        ages = [random.choice([age, 34]) if disagree else age for _ in range(random.randrange(1, 4))]
        told += [(person, ward, own, sex, random.randrange(5)) for own in ages]
    return pl.DataFrame(told, ["pid", "ward", "age", "sex", "code"], orient="row")


def written(folder: Path, frame: pl.DataFrame, text: str) -> Policy:
    frame.write_parquet(folder / "data.parquet")
    (folder / "policy.yaml").write_text(text)
    return Policy.load(folder / "policy.yaml")


@pytest.mark.parametrize("name", [algorithm.name for algorithm in ALGORITHMS if algorithm.on_tuples])
def test_every_algorithm_on_tuples_gives_the_release_of_memory(name: str, tmp_path: Path) -> None:
    text = (
        POLICY
        if name not in {"classfly", "k-msd", "k-msd-ag"}
        else POLICY.replace("  - {model: l-diversity, sensitive: illness, l: 2}\n", "")
    )
    policy = with_algorithm(written(tmp_path, rows(), text), name)
    told = on_both(policy, tmp_path / "data.parquet", tmp_path)
    assert not isinstance(told, str)


@pytest.mark.parametrize("order", ["sorted", "shuffle"])
def test_records_shown_as_stars_are_those_of_memory(order: str, tmp_path: Path) -> None:
    text = POLICY.replace("{limit: 0.1}", "{limit: 0.1, show: star}") + f"release: {{order: {order}}}\n"
    told = on_both(written(tmp_path, rows(), text), tmp_path / "data.parquet", tmp_path)
    assert told["records"]["suppressed"] > 0


@pytest.mark.parametrize("show", ["drop", "star"])
def test_individuals_are_those_of_memory(show: str, tmp_path: Path) -> None:
    policy = written(tmp_path, people(), PEOPLE.replace("{limit: 0.2}", f"{{limit: 0.2, show: {show}}}"))
    told = on_both(policy, tmp_path / "data.parquet", tmp_path)
    assert told["individuals"]["suppressed"] > 0


def test_individuals_whose_records_disagree_are_refused_or_generalized(tmp_path: Path) -> None:
    policy = written(tmp_path, people(disagree=True), PEOPLE)
    assert "disagree on age" in on_both(policy, tmp_path / "data.parquet", tmp_path)
    text = PEOPLE.replace(", boundary: {level: 2}", "") + "individual: {conflicts: generalize}\n"
    policy = written(tmp_path, people(disagree=True), text)
    for engine, target in (("spark", "release"), ("local", "local.parquet")):
        anonymize_file(
            Request.of(policy.model_copy(update={"engine": engine})),
            tmp_path / "data.parquet",
            Targets(tmp_path / target),
        )
    assert plain(release_of(tmp_path / "release")).equals(plain(pl.read_parquet(tmp_path / "local.parquet")))


@pytest.mark.parametrize("seed", range(8) if EXPLORE else range(2))
@pytest.mark.parametrize("individuals", [False, True], ids=["records", "individuals"])
def test_rules_boundaries_and_spans_give_the_release_of_memory(seed: int, individuals: bool) -> None:
    with placed(planted(find("mondrian"), Random(seed), individuals=individuals)) as here:
        policy, folder = with_algorithm(here.policy, "mondrian"), here.path.parent
        here.case.frame().write_parquet(folder / "data.parquet")
        on_both(policy, folder / "data.parquet", folder)
