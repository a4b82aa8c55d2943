"""One session of Spark for all tests that need one, and the reason why they skip where there can be none."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kveil.flow.anonymize import anonymize_file
from kveil.flow.steps.outputs import Targets
from kveil.flow.steps.request import Request
from kveil.policy.model import Policy

# Few threads and little memory; the compiler of hot code stays at its first level, which suits a run of minutes.
ARGUMENTS = (
    f"--conf spark.sql.warehouse.dir={Path(tempfile.gettempdir()) / 'kveil-warehouse'} "
    "--master local[2] --driver-memory 1g --conf spark.ui.enabled=false --conf spark.ui.showConsoleProgress=false "
    "--conf spark.sql.shuffle.partitions=2 --conf spark.sql.adaptive.enabled=false "
    "--conf spark.driver.extraJavaOptions='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' pyspark-shell"
)


def why_not() -> str | None:
    """Why there can be no session here; None where there can."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed; pip install 'kveil[spark]' brings it"
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        return "there is no Java, which Spark needs; install OpenJDK 17"
    return None


def needs_spark() -> list[pytest.MarkDecorator]:
    """Marks that let a module's tests run where there is Spark, after all others, with the session of the module."""
    reason = why_not()
    if reason is not None and os.environ.get("KVEIL_NEEDS_SPARK"):
        raise RuntimeError(f"KVEIL_NEEDS_SPARK is set, but {reason}")
    skips = pytest.mark.skipif(reason is not None, reason=reason or "")
    return [pytest.mark.spark, skips, pytest.mark.usefixtures("session")]


def started() -> Any:
    """The one session of this process."""
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", ARGUMENTS)
    from pyspark.sql import SparkSession

    session = SparkSession.builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    session.sparkContext.pythonExec = sys.executable  # executors solve parts with the kveil that is tested
    return session


def noted_plans(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The plan of whatever Spark is asked to do from now on, in the order in which it is asked."""
    from pyspark.sql.classic.dataframe import DataFrame

    plans: list[Any] = []

    def noting(act: Callable[..., Any]) -> Callable[..., Any]:
        def noted(frame: Any, *given: Any, **options: Any) -> Any:
            plans.append(frame._jdf.queryExecution())
            return act(frame, *given, **options)

        return noted

    for name in ("collect", "count", "localCheckpoint", "toArrow", "toLocalIterator"):
        monkeypatch.setattr(DataFrame, name, noting(getattr(DataFrame, name)))
    monkeypatch.setattr(DataFrame, "write", property(noting(DataFrame.write.fget)))
    return plans


def tell_nothing(plans: Sequence[Any], values: Sequence[str]) -> None:
    """Fail where a plan has one of some values in it, or something that a second run would do otherwise."""
    assert plans
    for plan in plans:
        assert plan.analyzed().deterministic(), plan.toString()
        told = plan.toString()
        for value in values:
            # Not the numbers that Spark gives to columns (`m1#4897`), steps (`plan_id=97`) and what is kept (`[97]`).
            assert re.search(rf"(?<![\w#=\[/-]){re.escape(value)}(?![\w\]])", told) is None, told


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    """A release with sets as texts and categories as texts, sorted: Spark has no categories, and several files."""
    sets = [
        pl.col(name).list.eval(pl.element().cast(pl.String)).list.join("|")
        for name, kind in frame.schema.items()
        if kind == pl.List
    ]
    texts = [pl.col(name).cast(pl.String) for name, kind in frame.schema.items() if kind == pl.Categorical]
    return frame.with_columns(*sets, *texts).sort(pl.all())


def release_of(folder: Path) -> pl.DataFrame:
    """The rows that a folder of Parquet files has."""
    return pl.concat([pl.read_parquet(file) for file in sorted(folder.glob("*.parquet"))])


def on_both(policy: Policy, data: Path, folder: Path) -> Any:
    """The accounts of a run on Spark and of one in memory, whose releases must be the same; or the same refusal."""
    import kveil

    told: list[Any] = []
    for engine, name in (("local", "local.parquet"), ("spark", "release")):
        try:
            account = anonymize_file(
                Request.of(policy.model_copy(update={"engine": engine})), data, Targets(folder / name)
            )
        except kveil.KveilError as error:
            assert not (folder / name).exists()
            told.append(f"{type(error).__name__}: {error}")
        else:
            told.append(account)
        assert not list(folder.glob(".kveil*"))
    if isinstance(told[0], str):
        assert told[1] == told[0]
        return told[0]
    assert not isinstance(told[1], str), told[1]
    local, spark = plain(pl.read_parquet(folder / "local.parquet")), plain(release_of(folder / "release"))
    assert spark.columns == local.columns
    assert spark.equals(local)
    same = ("algorithm", "records", "individuals", "guarantees", "dependencies", "boundaries", "details", "components")
    assert {key: told[1][key] for key in same} == {key: told[0][key] for key in same}
    for name, loss in told[0]["loss"].items():
        assert told[1]["loss"][name] == (loss if loss is None else pytest.approx(loss, rel=1e-9))
    assert told[1]["sha256"]["policy"] == told[0]["sha256"]["policy"]
    assert told[1]["engine"] == "spark"
    return told[1]
