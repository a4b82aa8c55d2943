"""What every benchmark measures with: the floor of the machine, one run of the command line, a row of the table."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))  # the slow twins, and where real tables lie

from places import SHARED as SHARED  # noqa: E402

ADULT = SHARED / "adult"
KVEIL = [sys.executable, "-m", "kveil"]

# What is measured is a second run: `kveil warmup` has left bytecode behind, as it does for whoever did not forbid it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


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


@dataclass(frozen=True)
class Spent:
    """What a process took: seconds by the clock, seconds of all cores, its largest memory in GB, and how it ended."""

    wall: float
    cpu: float
    memory: float
    code: int


# A process counts the memory of the one that started it as its own, so that a small one stands between: this one may
# hold tables.
BETWEEN = """
import os, resource, sys, time
limit, call = float(sys.argv[1]), sys.argv[2:]
started = time.perf_counter()
nowhere = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
child = os.posix_spawn(call[0], call, os.environ, file_actions=nowhere)
if limit:
    resource.prlimit(child, resource.RLIMIT_CPU, (int(limit), resource.RLIM_INFINITY))
_, status, used = os.wait4(child, 0)
seconds = time.perf_counter() - started
print(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6, os.waitstatus_to_exitcode(status))
"""


def spent(*arguments: str | Path, most_cpu: int = 0) -> Spent:
    """Run kveil once, without a word; it is ended once it has taken more CPU seconds than it may."""
    call = [sys.executable, "-S", "-c", BETWEEN, str(most_cpu), *KVEIL, *map(str, arguments), "--quiet"]
    wall, cpu, memory, code = subprocess.run(call, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return Spent(float(wall), float(cpu), float(memory), int(code))


def command(*arguments: str | Path) -> tuple[float, float]:
    """Run kveil once; return seconds and the largest memory in GB."""
    run = spent(*arguments)
    if run.code:
        raise SystemExit(f"kveil {arguments[0]} failed with {run.code}")
    return run.wall, run.memory


def best_command(*arguments: str | Path, times: int = 3) -> tuple[float, float]:
    """Return the shortest of a few runs and the largest memory of any."""
    runs = [command(*arguments) for _ in range(times)]
    return min(seconds for seconds, _ in runs), max(memory for _, memory in runs)


HEAD = """\
# Benchmarks

Written by `benchmarks/run.py`, a table for each kind (`make bench` runs all of it). Every ratio was measured in one run
against its own floor, or peer; tables may stem from different runs, so each says where and when it was measured.
"""


def write_section(page: Path, name: str, lines: list[str], order: Sequence[str] = ()) -> None:
    """Put lines under their heading on the page of benchmarks: those of ``order`` first; other sections stay."""
    text = page.read_text(encoding="utf-8") if page.exists() else HEAD
    head, *sections = text.split("\n## ")
    found = dict(section.split("\n\n", 1) for section in sections)
    found[name] = "\n".join(lines)
    names = [key for key in order if key in found] or list(found)
    whole = "".join(f"\n## {key}\n\n{found[key].rstrip()}\n" for key in dict.fromkeys([*names, *found]))
    page.write_text(head.rstrip() + "\n" + whole, encoding="utf-8")


def fill(page: Path, by: str, name: str, lines: Iterable[str]) -> None:
    """Write new text between the two comments of a page that name a script and a table."""
    start, end = f"<!-- {by}: {name} -->", f"<!-- end of {name} -->"
    before, opened, rest = page.read_text(encoding="utf-8").partition(start)
    _, closed, after = rest.partition(end)
    if not opened or not closed:
        raise SystemExit(f"{page} has no {start} … {end}")
    page.write_text(f"{before}{start}\n\n{chr(10).join(lines).rstrip()}\n\n{end}{after}", encoding="utf-8")


def commit_of(tree: Path) -> str:
    """Return the commit that a checkout is at, and whether its files differ from it: docs, which a run fills, aside."""
    at = ["git", "-C", str(tree)]
    told = subprocess.run([*at, "describe", "--always"], capture_output=True, text=True, check=False).stdout.strip()
    differs = subprocess.run([*at, "diff", "--quiet", "HEAD", "--", ".", ":!docs"], check=False).returncode == 1
    return f"{told}-dirty" if told and differs else told or "unknown"


def where_and_when() -> str:
    """Return the machine, the commit and the day of a run, as a sentence for a page."""
    model = ""
    with suppress(OSError):
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        model = next(
            (line.partition(":")[2].strip() for line in told.splitlines() if line.startswith("model name")), ""
        )
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    machine = f"{cores} cores of {model or platform.machine()}, Python {platform.python_version()}"
    return f"Measured on {date.today().isoformat()}, commit {commit_of(ROOT)}, {machine}."
