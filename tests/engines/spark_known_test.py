"""Tuples that the driver holds stand for themselves by a hash: it tells them apart, and what is shown is theirs."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import kveil
from kveil.engines.spark import driver_tuples, ordering, showing, staging, tuple_release
from kveil.flow.anonymize import anonymize_file
from kveil.flow.spark import spark_run as flow
from kveil.flow.steps.outputs import Targets
from kveil.flow.steps.request import Request
from kveil.policy.model import Policy
from on_spark import needs_spark, on_both, started

pytestmark = needs_spark()

POLICY = """
kveil: 1
data: {path: data.parquet}
attributes:
  note: {role: insensitive}
  age: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 100, widths: [10, 20]}}}
  zip: {role: quasi-identifier, hierarchy: {mask: {keep: [4, 3]}}}
  born: {role: quasi-identifier, hierarchy: {mask: {keep: [4, 3]}}}
privacy: [{model: k-anonymity, k: 3}]
algorithm: mondrian
engine: spark
"""


@pytest.fixture(scope="module")
def session() -> Any:
    return started()


@pytest.fixture
def here(tmp_path: Path) -> Path:
    random = Random(3)
    zips = [None, "02138", "02139", "10001"]  # null in one column or the other must make two tuples
    ages = [0.0, -0.0, float("nan"), None, 21.5, 34.0]
    cells = [(f"n{i % 7}", random.choice(ages), random.choice(zips), random.choice(zips)) for i in range(150)]
    pl.DataFrame(cells, ["note", "age", "zip", "born"], orient="row").write_parquet(tmp_path / "data.parquet")
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


@pytest.mark.parametrize("looked_at", [10, 1_000], ids=["one by one", "grouped"])
def test_tuples_with_the_same_hash_are_told_apart_by_another_one(
    here: Path, looked_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql import functions as f

    salts: list[int] = []
    tuple_hash = driver_tuples.tuple_hash

    def weak(units: Any, salt: int) -> Any:
        salts.append(salt)
        return f.lit(7).cast("long") if salt == 0 else tuple_hash(units, salt)

    monkeypatch.setattr(driver_tuples, "tuple_hash", weak)
    monkeypatch.setattr(driver_tuples, "LOOKED_AT", looked_at)
    assert not isinstance(on_both(Policy.load(here / "policy.yaml"), here / "data.parquet", here), str)
    assert set(salts) == {0, 1}


def test_rows_that_show_what_others_should_are_refused(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import functions as f

    with_texts = showing.KnownTuples.with_texts

    def mixed_up(self: Any, frame: Any) -> Any:
        last = f.lit(self.shown.classes.height - 1).cast("long")
        return with_texts(self, frame.withColumn(showing.CLASS, last - f.col(showing.CLASS))).withColumn(
            showing.CLASS, last - f.col(showing.CLASS)
        )

    monkeypatch.setattr(showing.KnownTuples, "with_texts", mixed_up)
    with pytest.raises(kveil.KveilError, match="do not show what was found for them"):
        anonymize_file(Request.of(Policy.load(here / "policy.yaml")), here / "data.parquet", Targets(here / "release"))
    assert sorted(path.name for path in here.iterdir()) == ["data.parquet", "policy.yaml"]


ALIKE = """
kveil: 1
data: {path: data.parquet}
attributes:
  pay: {role: quasi-identifier, hierarchy: {ranges: {within: [0, 100]}}}
  illness: {role: sensitive}
  ward: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 3}
  - {model: l-diversity, sensitive: illness, l: 2}
suppression: {limit: 0.2, show: star}
algorithm: mondrian
"""


def test_the_owner_is_warned_of_what_tuples_tell_as_in_memory(tmp_path: Path) -> None:
    random = Random(4)
    cells = [
        (random.randrange(40), random.choice(["HIV", "hiv", "unknown"]), "a" if i < 99 else "b") for i in range(120)
    ]
    pl.DataFrame(cells, ["pay", "illness", "ward"], orient="row").write_parquet(tmp_path / "data.parquet")
    (tmp_path / "policy.yaml").write_text(ALIKE)
    policy = Policy.load(tmp_path / "policy.yaml")
    told = [
        anonymize_file(
            Request.of(policy.model_copy(update={"engine": engine})), tmp_path / "data.parquet", Targets(tmp_path / out)
        )
        for engine, out in (("local", "local.parquet"), ("spark", "release"))
    ]
    assert told[1]["warnings"] == told[0]["warnings"]
    for sentence in ("same but for case", "may mean that nothing is known", "no model names ward", "exact extremes"):
        assert sentence in " ".join(told[1]["warnings"])


TOLD_BY_TUPLES = """
kveil: 1
data: {path: data.parquet}
attributes:
  age: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 100, widths: [10, 20]}}}
  zip: {role: quasi-identifier, hierarchy: {mask: {keep: [4, 3]}}}
  seen: {role: sensitive}
  note: {role: identifier}
  born: {role: identifier}
privacy:
  - {model: k-anonymity, k: 3}
  - {model: l-diversity, sensitive: seen, l: 2}
suppression: {limit: 0.2}
algorithm: mondrian
engine: spark
"""


@pytest.fixture
def told_by_tuples(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    frame = pl.read_parquet(here / "data.parquet")
    moments = pl.Series("seen", [None, *range(9)]).gather([i % 10 for i in range(frame.height)]).cast(pl.Datetime("us"))
    frame.with_columns(moments).write_parquet(here / "data.parquet")
    (here / "policy.yaml").write_text(TOLD_BY_TUPLES)
    monkeypatch.setattr(tuple_release, "REPEATED", 2)
    return here


def test_records_whose_tuples_tell_it_all_are_not_joined(told_by_tuples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = []

    def noted(*given: Any, **options: Any) -> Any:
        frame = ordering.in_order(*given, **options)
        plans.append(frame._jdf.queryExecution())
        return frame

    monkeypatch.setattr(flow, "in_order", noted)
    monkeypatch.delattr(showing.KnownTuples, "with_texts")
    assert not isinstance(
        on_both(Policy.load(told_by_tuples / "policy.yaml"), told_by_tuples / "data.parquet", told_by_tuples), str
    )
    (plan,) = plans
    assert plan.analyzed().deterministic()
    assert "02138" not in plan.toString()


def test_what_tuples_tell_is_compared_with_what_was_written_and_with_the_table(
    told_by_tuples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql import functions as f

    policy, data = Policy.load(told_by_tuples / "policy.yaml"), told_by_tuples / "data.parquet"
    write, rows = staging.StagedFolder.write, tuple_release.HeldRelease.rows

    def changed(self: Any, frame: Any) -> None:
        write(self, frame)
        pl.read_parquet(data).with_columns(zip=pl.col("zip").reverse()).write_parquet(data)

    with monkeypatch.context() as patch:
        patch.setattr(staging.StagedFolder, "write", changed)
        with pytest.raises(kveil.DataError, match="changed while kveil read it"):
            anonymize_file(Request.of(policy), data, Targets(told_by_tuples / "release"))

    def mixed_up(self: Any, names: Any) -> Any:
        return rows(self, names).withColumn(showing.CLASS, f.greatest(showing.CLASS, f.lit(1).cast("long")))

    monkeypatch.setattr(tuple_release.HeldRelease, "rows", mixed_up)
    with pytest.raises(kveil.NotVerified, match=r"its own verifier refuses.*not those that were counted"):
        anonymize_file(Request.of(policy), data, Targets(told_by_tuples / "release"))
    assert sorted(path.name for path in told_by_tuples.iterdir()) == ["data.parquet", "policy.yaml"]
