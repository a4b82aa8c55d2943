"""Engine `spark` on this machine against `local`: a second run in a session that is up, verification included."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from bench_stream import as_parquet
from kveil.flow.anonymize import anonymize_file
from kveil.flow.outputs import Targets
from kveil.policy.model import Policy
from made_up_data import floor_file, floor_policy
from measuring import Row

SIZES = ((1_000_000, 5.0), (10_000_000, 4.0))
ARGUMENTS = "--master local[2] --driver-memory 8g --conf spark.ui.enabled=false --conf spark.sql.shuffle.partitions=16"


def spark(folder: Path) -> Iterator[Row]:
    """Mondrian with both engines on the floor file; the releases must have the same rows."""
    if shutil.which("java") is None:
        return
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", f"{ARGUMENTS} --conf spark.driver.maxResultSize=0 pyspark-shell")
    for rows, most in SIZES:
        made = folder / f"floor-{rows}.csv"
        floor_file(made, rows)
        data = as_parquet(made)
        policy = Policy.load(floor_policy(folder, data, "mondrian"))
        local = _seconds(policy, "local", data, folder / f"local-{rows}.parquet")
        _seconds(policy, "spark", data, folder / f"first-{rows}")
        warm = _seconds(policy, "spark", data, folder / f"second-{rows}")
        same = [
            pl.scan_parquet(path).group_by(pl.all()).len().collect().sort(pl.all())
            for path in (folder / f"local-{rows}.parquet", folder / f"second-{rows}" / "*.parquet")
        ]
        if not same[0].equals(same[1]):
            raise SystemExit("spark and local made different releases")
        ratio = warm / local
        yield Row(f"spark against local, floor file, {rows:,} rows, time", ratio, "×", f"≤ {most:g}", ratio <= most)


def _seconds(policy: Policy, engine: str, data: Path, out: Path) -> float:
    started = time.perf_counter()
    anonymize_file(policy.model_copy(update={"engine": engine}), data, Targets(out))
    return time.perf_counter() - started
