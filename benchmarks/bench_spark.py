"""Engine `spark` on this machine against `local`, in a session that is up; and the memory of its driver by parts.

    python benchmarks/bench_spark.py ROWS [--runs N] [--parts]

measures one size alone: what both engines take, or, with ``--parts``, the memory of the driver.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from bench_stream import floor_parquet
from kveil.flow.anonymize import anonymize_file
from kveil.flow.steps.outputs import Targets
from kveil.flow.steps.request import Request
from kveil.policy.model import Policy
from made_up_data import floor_policy
from measuring import Row

SIZES = ((1_000_000, 5.0, 3), (10_000_000, 4.0, 2))  # rows, how much longer than local it may take, warm runs
PARTS = (1_000_000, 4_000_000, 10_000_000)
MOST_GROWTH = 1.2  # of the driver's memory by parts, from the fewest rows to the most
ARGUMENTS = "--master local[2] --driver-memory 8g --conf spark.ui.enabled=false --conf spark.sql.shuffle.partitions=16"
# Tuples are held by the driver, however much memory is free at that moment: by parts is measured by itself.
BY_TUPLES = "--conf spark.driver.maxResultSize=0 --conf spark.kveil.most_tuples=100000000"


def spark(folder: Path) -> Iterator[Row]:
    """Mondrian with both engines on the floor file; the releases must have the same rows."""
    if shutil.which("java") is None:
        return
    yield from _against_local(folder, SIZES)
    yield from _by_parts(folder, PARTS)


@dataclass(frozen=True)
class Cost:
    """What a run took: seconds, and seconds of processors, of which those of Java are some."""

    seconds: float
    cpu: float
    java: float

    def least(self, other: Cost) -> Cost:
        """Return the best of two runs: other work on the machine only ever adds."""
        return Cost(min(self.seconds, other.seconds), *min((self.cpu, self.java), (other.cpu, other.java)))


def _against_local(folder: Path, sizes: Sequence[tuple[int, float, int]]) -> Iterator[Row]:
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", f"{ARGUMENTS} {BY_TUPLES} pyspark-shell")
    small = floor_parquet(folder, sizes[0][0])
    warming = floor_policy(folder, small, "mondrian")
    first = _cost(Policy.load(warming), "spark", small, folder / "first")
    what = f"spark, floor file, {sizes[0][0]:,} rows, first run of a session, CPU"
    yield Row(what, first.cpu, "s", "told", True)
    for rows, most, runs in sizes:
        data = floor_parquet(folder, rows)
        policy = floor_policy(folder, data, "mondrian")
        local = warm = Cost(float("inf"), float("inf"), float("inf"))
        for _ in range(runs):  # in turns, the best of each: Java goes on compiling for a while
            local = local.least(_local_cost([warming, small, policy, data], folder / f"local-{rows}.parquet"))
            shutil.rmtree(folder / f"warm-{rows}", ignore_errors=True)
            warm = warm.least(_cost(Policy.load(policy), "spark", data, folder / f"warm-{rows}"))
        same = [
            pl.scan_parquet(path).group_by(pl.all()).len().collect().sort(pl.all())
            for path in (folder / f"local-{rows}.parquet", folder / f"warm-{rows}" / "*.parquet")
        ]
        if not same[0].equals(same[1]):
            raise SystemExit("spark and local made different releases")
        ratio, what = warm.seconds / local.seconds, f"floor file, {rows:,} rows"
        yield Row(f"local, {what}, time", local.seconds, "s", "told", True)
        yield Row(f"local, {what}, CPU", local.cpu, "s", "told", True)
        yield Row(f"spark, {what}, time", warm.seconds, "s", "told", True)
        yield Row(f"spark, {what}, CPU", warm.cpu, "s", "told", True)
        yield Row(f"spark, {what}, CPU of Java alone", warm.java, "s", "told", True)
        python, java = _most_memory()
        yield Row(f"spark, {what}, memory of the driver's Python", python, "GB", "told", True)
        yield Row(f"spark, {what}, memory of Java, driver and executors", java, "GB", "told", True)
        yield Row(f"spark against local, {what}, CPU", warm.cpu / local.cpu, "×", "told", True)
        yield Row(f"spark against local, {what}, time", ratio, "×", f"≤ {most:g}", ratio <= most)


LOCAL = """
import os, sys, time
from pathlib import Path
from kveil.flow.anonymize import anonymize_file
from kveil.flow.steps.outputs import Targets
from kveil.flow.steps.request import Request
from kveil.policy.model import Policy
warming, small, policy, data, out = map(Path, sys.argv[1:])
anonymize_file(Request.of(Policy.load(warming).model_copy(update={"engine": "local"})), small, Targets(out))
own, started = sum(os.times()[:2]), time.perf_counter()
anonymize_file(Request.of(Policy.load(policy).model_copy(update={"engine": "local"})), data, Targets(out))
print(time.perf_counter() - started, sum(os.times()[:2]) - own)
"""


def _local_cost(places: Sequence[Path], out: Path) -> Cost:
    """Return what a run in memory takes in a process that is up, too.

    That is one of its own: the memory it leaves behind would be missing in the driver of Spark.
    """
    call = [sys.executable, "-c", LOCAL, *map(str, places), str(out)]
    seconds, cpu = subprocess.run(call, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return Cost(float(seconds), float(cpu), 0.0)


def _cost(policy: Policy, engine: str, data: Path, out: Path) -> Cost:
    java, own, started = _java(), sum(os.times()[:2]), time.perf_counter()
    anonymize_file(Request.of(policy.model_copy(update={"engine": engine})), data, Targets(out))
    seconds, java = time.perf_counter() - started, _java() - java
    return Cost(seconds, sum(os.times()[:2]) - own + java, java)


def _java() -> float:
    """Return the seconds of processors that Java took so far, where the machine tells."""
    from pyspark import SparkContext

    process = getattr(SparkContext._gateway, "proc", None)
    told = Path("/proc") / str(getattr(process, "pid", None)) / "stat"
    if not told.exists():
        return 0.0
    user, system = told.read_text().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _most_memory() -> tuple[float, float]:
    """Return the largest memory so far, in GB, of this process and of Java."""
    from pyspark import SparkContext

    processes = "self", str(SparkContext._gateway.proc.pid)
    told = [(Path("/proc") / process / "status").read_text() for process in processes]
    python, java = (int(re.search(r"VmHWM:\s+(\d+)", text)[1]) / 1e6 for text in told)  # type: ignore[index]
    return python, java


DRIVER = """
import re, sys, time
from pathlib import Path
from pyspark import SparkContext
from kveil.flow.anonymize import anonymize_file
from kveil.flow.steps.outputs import Targets
from kveil.flow.steps.request import Request
from kveil.policy.model import Policy
policy, data, out = map(Path, sys.argv[1:])
started = time.perf_counter()
anonymize_file(Request.of(Policy.load(policy).model_copy(update={"engine": "spark"})), data, Targets(out))
seconds = time.perf_counter() - started
def most(process):  # not `ru_maxrss`, which begins with what the process that started this one had
    told = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmHWM:\\s+(\\d+)", told)[1]) / 1e6
print(most("self"), most(SparkContext._gateway.proc.pid), seconds)
"""


def _by_parts(folder: Path, sizes: Sequence[int]) -> Iterator[Row]:
    """Mondrian by parts: the Python process of the driver needs no more memory for ten million rows than for one.

    That of Java is told beside it: here it is driver and executors in one, and takes what it may have.
    """
    memory = {}
    for rows in sizes:
        memory[rows], java, seconds = _driver_memory(folder, rows)
        what = f"spark by parts, floor file, {rows:,} rows"
        yield Row(f"{what}, first run of a session, time", seconds, "s", "told", True)
        yield Row(f"{what}, memory of the driver's Python", memory[rows], "GB", "told", True)
        yield Row(f"{what}, memory of Java, driver and executors", java, "GB", "told", True)
    growth = memory[sizes[-1]] / memory[sizes[0]]
    what = f"spark by parts, memory of the driver, {sizes[-1]:,} against {sizes[0]:,} rows"
    yield Row(what, growth, "×", f"≤ {MOST_GROWTH:g}", growth <= MOST_GROWTH)


def _driver_memory(folder: Path, rows: int) -> tuple[float, float, float]:
    """Return the largest memory, in GB, of a driver that may hold no tuples, of Python and of Java; and the seconds."""
    data = floor_parquet(folder, rows)
    policy = floor_policy(folder, data, "mondrian")
    settings = f"{ARGUMENTS} --conf spark.kveil.most_tuples=0 pyspark-shell"
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(policy), str(data), str(folder / f"parts-{rows}")],
        env={**os.environ, "PYSPARK_SUBMIT_ARGS": settings},
        stdout=subprocess.PIPE,
        check=True,
    )
    python, java, seconds = map(float, done.stdout.split()[-3:])
    return python, java, seconds


def main() -> None:
    """Measure one size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--parts", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        sizes = [(chosen.rows, SIZES[0][1], chosen.runs)]
        for row in _by_parts(folder, [chosen.rows]) if chosen.parts else _against_local(folder, sizes):
            print(f"{row.what}: {row.value:.3g} {row.unit} ({row.target})", flush=True)


if __name__ == "__main__":
    main()
