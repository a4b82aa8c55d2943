"""Engine `spark` on this machine against `local`, in a session that is up; and the memory of its driver by parts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
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

SIZES = ((1_000_000, 5.0, 3), (10_000_000, 4.0, 1))  # rows, how much longer than local it may take, warm runs
PARTS = (1_000_000, 4_000_000, 10_000_000)
MOST_GROWTH = 1.2  # of the driver's memory by parts, from the fewest rows to the most
ARGUMENTS = "--master local[2] --driver-memory 8g --conf spark.ui.enabled=false --conf spark.sql.shuffle.partitions=16"


def spark(folder: Path) -> Iterator[Row]:
    """Mondrian with both engines on the floor file; the releases must have the same rows."""
    if shutil.which("java") is None:
        return
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", f"{ARGUMENTS} --conf spark.driver.maxResultSize=0 pyspark-shell")
    yield from _against_local(folder)
    yield from _by_parts(folder)


def _against_local(folder: Path) -> Iterator[Row]:
    for rows, most, runs in SIZES:
        made = folder / f"floor-{rows}.csv"
        floor_file(made, rows)
        data = as_parquet(made)
        policy = Policy.load(floor_policy(folder, data, "mondrian"))
        _seconds(policy, "local", data, folder / f"cold-{rows}.parquet")  # which loads the loops
        _seconds(policy, "spark", data, folder / f"first-{rows}")
        local = warm = float("inf")
        for _ in range(runs):  # in turns, the best of each: Java goes on compiling for a while
            local = min(local, _seconds(policy, "local", data, folder / f"local-{rows}.parquet"))
            shutil.rmtree(folder / f"warm-{rows}", ignore_errors=True)
            warm = min(warm, _seconds(policy, "spark", data, folder / f"warm-{rows}"))
        same = [
            pl.scan_parquet(path).group_by(pl.all()).len().collect().sort(pl.all())
            for path in (folder / f"local-{rows}.parquet", folder / f"warm-{rows}" / "*.parquet")
        ]
        if not same[0].equals(same[1]):
            raise SystemExit("spark and local made different releases")
        ratio = warm / local
        yield Row(f"spark against local, floor file, {rows:,} rows, time", ratio, "×", f"≤ {most:g}", ratio <= most)


def _seconds(policy: Policy, engine: str, data: Path, out: Path) -> float:
    started = time.perf_counter()
    anonymize_file(policy.model_copy(update={"engine": engine}), data, Targets(out))
    return time.perf_counter() - started


DRIVER = """
import resource, sys
from pathlib import Path
from kveil.flow.anonymize import anonymize_file
from kveil.flow.outputs import Targets
from kveil.policy.model import Policy
policy, data, out = map(Path, sys.argv[1:])
anonymize_file(Policy.load(policy).model_copy(update={"engine": "spark"}), data, Targets(out))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)
"""


def _by_parts(folder: Path) -> Iterator[Row]:
    """Mondrian by parts: the Python process of the driver needs no more memory for ten million rows than for one."""
    memory = {rows: _driver_memory(folder, rows) for rows in PARTS}
    growth = memory[PARTS[-1]] / memory[PARTS[0]]
    for rows, used in memory.items():
        yield Row(f"spark by parts, floor file, {rows:,} rows, memory of the driver", used, "GB", "told", True)
    what = f"spark by parts, memory of the driver, {PARTS[-1]:,} against {PARTS[0]:,} rows"
    yield Row(what, growth, "×", f"≤ {MOST_GROWTH:g}", growth <= MOST_GROWTH)


def _driver_memory(folder: Path, rows: int) -> float:
    """Return the largest memory, in GB, of a driver that may hold no tuples."""
    made = folder / f"parts-{rows}.csv"
    floor_file(made, rows)
    data = as_parquet(made)
    policy = floor_policy(folder, data, "mondrian")
    settings = f"{ARGUMENTS} --conf spark.kveil.most_tuples=0 pyspark-shell"
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(policy), str(data), str(folder / f"parts-{rows}")],
        env={**os.environ, "PYSPARK_SUBMIT_ARGS": settings},
        stdout=subprocess.PIPE,
        check=True,
    )
    return float(done.stdout.split()[-1])
