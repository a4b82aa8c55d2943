"""Measure the main commands with one core and with all that the process may use, in turns.

    python benchmarks/cores.py [--rows N] [--times N] [--only COMMAND …] [--write]

The table is that of growth.py. A run on one core is one that may use no other (as by `taskset -c 0`), which kveil and
Polars both look at. The least CPU time and the least time of each are compared: with more cores nothing may be slower.
`--write` puts the table into docs/growth.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from growth import NEEDS, PAGE, Size, calls, make, write_policy
from measuring import KVEIL, Spent, fill, spent, where_and_when

CHOSEN = ("anonymize", "verify", "measure", "attack", "check", "init", "dependencies", "datafly", "k-member")
SLOWER = 1.05  # times as long as on one core: more than this is marked


@contextmanager
def limited_to(cores: set[int]) -> Iterator[None]:
    """Let what is started meanwhile use some cores only."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def compare(call: tuple[str | Path, ...], times: int) -> tuple[Spent, Spent]:
    """Run a command on one core and on all, in turns; return the least of each."""
    every = os.sched_getaffinity(0)
    runs: dict[bool, list[Spent]] = {True: [], False: []}
    for _ in range(times):
        for one in (True, False):
            with limited_to({min(every)} if one else every):
                runs[one].append(spent(*call))
    first, second = (
        Spent(min(r.wall for r in own), min(r.cpu for r in own), max(r.memory for r in own), max(r.code for r in own))
        for own in runs.values()
    )
    return first, second


def lines(folder: Path, rows: int, times: int, chosen: list[str]) -> Iterator[str]:
    """Yield the table, a line per command."""
    size = Size(rows=rows)
    make(folder, size)
    commands = calls(folder, write_policy(folder, size))
    many = f"{len(os.sched_getaffinity(0))} cores"
    yield f"| command, {rows:,} rows | CPU, one core | CPU, {many} | time, one core | time, {many} | ratio |"
    yield "|---|---|---|---|---|---|"
    for need in dict.fromkeys(NEEDS[name] for name in chosen if name in NEEDS):
        spent(*commands[need])
    for name in chosen:
        one, every = compare(commands[name], times)
        ratio = every.wall / one.wall
        mark = " (slower)" if ratio > SLOWER else ""
        yield (
            f"| {name} | {one.cpu:.3g} s | {every.cpu:.3g} s | {one.wall:.3g} s | {every.wall:.3g} s "
            f"| {ratio:.2f} ×{mark} |"
        )


def main() -> None:
    """Measure what the command line asks for, print it, and write it where that is asked for, too."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=list(CHOSEN), choices=list(CHOSEN))
    parser.add_argument("--write", action="store_true", help="write the table into docs/growth.md")
    chosen = parser.parse_args()
    subprocess.run([*KVEIL, "warmup", "--quiet"], check=True)
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        for line in lines(Path(temporary), chosen.rows, chosen.times, chosen.only):
            print(line, flush=True)
            found.append(line)
    if chosen.write:
        fill(PAGE, "cores.py", "cores", [f"{where_and_when()} The least of {chosen.times} runs each.", "", *found])


if __name__ == "__main__":
    main()
