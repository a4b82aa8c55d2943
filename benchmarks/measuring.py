"""What every benchmark measures with: the floor of the machine, one run of the command line, a row of the table."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))  # the slow twins, and where real tables lie

from places import SHARED as SHARED  # noqa: E402

ADULT = SHARED / "adult"
KVEIL = [sys.executable, "-m", "kveil"]


@dataclass(frozen=True)
class Row:
    """One measured ratio and what was asked of it."""

    what: str
    value: float
    unit: str
    target: str
    met: bool


def best(action: Callable[[], Any], times: int = 3) -> float:
    """Return the shortest of a few runs, in seconds."""
    found = []
    for _ in range(times):
        started = time.perf_counter()
        action()
        found.append(time.perf_counter() - started)
    return min(found)


def floor(path: Path, out: Path) -> None:
    """Read, encode, group and write a file, all with Polars."""
    frame = pl.read_csv(path, infer_schema=False).rechunk()
    coded = frame.with_columns(pl.all().cast(pl.Categorical))
    coded.group_by(coded.columns).len()
    frame.write_csv(out)


def command(*arguments: str | Path) -> tuple[float, float]:
    """Run kveil once; return seconds and the largest memory in GB."""
    started = time.perf_counter()
    process = subprocess.Popen([*KVEIL, *map(str, arguments), "--quiet"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"kveil {arguments[0]} failed with {process.returncode}")
    return time.perf_counter() - started, usage.ru_maxrss / 1e6


def best_command(*arguments: str | Path, times: int = 3) -> tuple[float, float]:
    """Return the shortest of a few runs and the largest memory of any."""
    runs = [command(*arguments) for _ in range(times)]
    return min(seconds for seconds, _ in runs), max(memory for _, memory in runs)
