"""Measure how time and memory of every command grow: with rows, quasi-identifiers, leaves of one tree, and k.

    python benchmarks/growth.py [--most ROWS] [--limit SECONDS] [--only SERIES …] [--write]

Files are made up: columns of 50 values ever rarer (as 1 / rank) under a tree of three levels, one of them with as many
leaves as asked for; nine cells in ten are those of one of a few hundred rows, so that groups form. Every figure is one
run of the command line after `kveil warmup`. A run that takes longer than the limit is ended and told as such, and is
not tried with more. `--write` puts tables and a picture into docs/growth.md and docs/pictures.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from measuring import KVEIL, ROOT, fill, where_and_when

PAGE = ROOT / "docs" / "growth.md"
PICTURE = ROOT / "docs" / "pictures" / "growth.svg"
VALUES, FAN = 50, 7  # values of a column, and children of the root of its tree
COMMANDS = ("init", "check", "dependencies", "anonymize", "verify", "measure", "attack", "report", "bound")
MODELS, FOLLOWED = 300, 0.9  # rows that the others follow, in as many of their cells
MUCH = 1.3  # times as long as n log n: more than this is marked


@dataclass(frozen=True)
class Size:
    """What is measured: so many rows and quasi-identifiers, leaves in one tree, and k."""

    rows: int = 100_000
    attributes: int = 10
    leaves: int = VALUES
    k: int = 10


@dataclass(frozen=True)
class Measured:
    """One run: seconds and gigabytes, or that it took longer than it may."""

    seconds: float
    memory: float
    late: bool = False

    def __str__(self) -> str:
        return f"> {self.seconds:.0f} s" if self.late else f"{self.seconds:.3g} s, {self.memory:.2f} GB"


SERIES: dict[str, tuple[str, list[Size]]] = {
    "rows": ("rows", [Size(rows=rows) for rows in (10_000, 100_000, 1_000_000, 4_000_000)]),
    "attributes": ("attributes", [Size(attributes=number) for number in (10, 20, 40)]),
    "leaves": ("leaves", [Size(leaves=leaves) for leaves in (1_000, 10_000, 100_000)]),
    "k": ("k", [Size(k=k) for k in (2, 10, 100, 1_000, 5_000)]),
}


def _tree(name: str, leaves: int) -> str:
    """Return a hierarchy file: every leaf with two nodes above it, and the root, which has about seven children."""
    wide = -(-leaves // FAN)
    near = math.isqrt(wide)
    far = near * -(-wide // near)  # leaves under a child of the root, in whole nodes of the level below
    return "".join(f"{name}{i};{name}-a{i // near};{name}-b{i // far};*\n" for i in range(leaves))


def make(folder: Path, size: Size, seed: int = 5) -> Path:
    """Write table, trees and policy of a size, and return the policy."""
    rng = np.random.default_rng(seed)
    columns: dict[str, pl.Series] = {}
    like = rng.integers(0, MODELS, size.rows)  # the row that each one follows
    for a in range(size.attributes):
        number = size.leaves if a == 0 else VALUES
        share = 1 / np.arange(1, number + 1)
        codes = rng.choice(number, size.rows, p=share / share.sum())
        codes = np.where(rng.random(size.rows) < FOLLOWED, codes[like], codes)
        columns[f"q{a}"] = pl.Series([f"q{a}{i}" for i in range(number)], dtype=pl.String).gather(codes)
        (folder / f"q{a}.csv").write_text(_tree(f"q{a}", number))
    columns["secret"] = pl.Series(list("abcdefgh"), dtype=pl.String).gather(rng.integers(0, 8, size.rows))
    pl.DataFrame(columns).write_csv(folder / "data.csv")
    lines = "".join(f"  q{a}: {{role: quasi-identifier, hierarchy: q{a}.csv}}\n" for a in range(size.attributes))
    policy = folder / "policy.yaml"
    policy.write_text(
        f"kveil: 1\ndata: {{path: data.csv}}\nattributes:\n{lines}  secret: {{role: sensitive}}\n"
        f"privacy:\n  - {{model: k-anonymity, k: {size.k}}}\nsuppression: {{limit: 0.02}}\nalgorithm: mondrian\n"
    )
    return policy


def _run(limit: float, *arguments: str | Path) -> Measured:
    """Run kveil once; one that takes longer than the limit is ended."""
    started = time.perf_counter()
    process = subprocess.Popen([*KVEIL, *map(str, arguments), "--quiet"], stdout=subprocess.DEVNULL)
    ended = threading.Timer(limit, process.kill)
    ended.start()
    _, status, usage = os.wait4(process.pid, 0)
    ended.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    if process.returncode < 0 and seconds >= limit:
        return Measured(limit, 0.0, late=True)
    answers = (0, 1) if arguments[0] in {"check", "dependencies"} else (0,)  # these answer no by 1
    if process.returncode not in answers:
        raise SystemExit(f"kveil {arguments[0]} failed with {process.returncode}")
    return Measured(seconds, usage.ru_maxrss / 1e6)


def measure(folder: Path, size: Size, limit: float, given_up: set[str]) -> dict[str, Measured]:
    """Run every command that was not too slow before."""
    policy, data, release, owner = (
        make(folder, size),
        folder / "data.csv",
        folder / "release.csv",
        folder / "owner.json",
    )
    made = ("anonymize", policy, "--output", release, "--owner", owner)
    beside = ("--original", data, "--release", release, "--owner", owner)
    calls: dict[str, tuple[str | Path, ...]] = {
        "init": ("init", data, "--output", folder / "suggested.yaml", "--force"),
        "check": ("check", policy),
        "dependencies": ("dependencies", policy),
        "anonymize": made,
        "verify": ("verify", policy, *beside),
        "measure": ("measure", policy, *beside),
        "attack": ("attack", policy, *beside),
        "report": (*made, "--report", folder / "report.html"),
        "bound": (*made, "--bound"),
    }
    runs: dict[str, Measured] = {}
    for command in COMMANDS:
        if command not in given_up:
            runs[command] = _run(limit, *calls[command])
            print(f"{size}: {command} {runs[command]}", flush=True)
            if runs[command].late:
                given_up.add(command)
    return runs


def table(name: str, sizes: list[Size], runs: list[dict[str, Measured]]) -> Iterator[str]:
    """Return a table of a series: a line per command; for rows also how the last step compares with n log n."""
    field, _ = SERIES[name]
    grows = name == "rows" and len(sizes) > 1
    heads = [f"{getattr(size, field):,} {field}" if field != "k" else f"k = {size.k:,}" for size in sizes]
    yield f"| command | {' | '.join(heads)} |{' last step by n log n |' if grows else ''}"
    yield "|---|" + "---|" * (len(sizes) + grows)
    for command in COMMANDS:
        cells = [str(run[command]) if command in run else "not tried" for run in runs]
        line = f"| {command} | {' | '.join(cells)} |"
        if grows:
            line += f" {_by_n_log_n(command, sizes, runs)} |"
        yield line


def _by_n_log_n(command: str, sizes: list[Size], runs: list[dict[str, Measured]]) -> str:
    """Say how much longer the last step took than n log n would have it."""
    known = [(size.rows, run[command]) for size, run in zip(sizes, runs, strict=True) if command in run]
    known = [(rows, run) for rows, run in known if not run.late]
    if len(known) < 2:
        return "unknown"
    (few, before), (many, after) = known[-2:]
    ratio = after.seconds / before.seconds / (many * math.log(many) / (few * math.log(few)))
    return f"{ratio:.2f} ×{' (faster)' if ratio > MUCH else ''}"


def draw(runs: dict[str, list[dict[str, Measured]]], sizes: dict[str, list[Size]]) -> str:
    """Return the picture: seconds by what grows, a panel per series, a line per command, both scales logarithmic."""
    import vl_convert

    panels = []
    for name, results in runs.items():
        field, _ = SERIES[name]
        values = [
            {"command": command, "x": getattr(size, field), "seconds": run.seconds}
            for size, own in zip(sizes[name], results, strict=True)
            for command, run in own.items()
            if not run.late
        ]
        panels.append(
            {
                "width": 260,
                "height": 220,
                "data": {"values": values},
                "mark": {"type": "line", "point": True},
                "encoding": {
                    "x": {"field": "x", "type": "quantitative", "scale": {"type": "log"}, "title": field},
                    "y": {"field": "seconds", "type": "quantitative", "scale": {"type": "log"}, "title": "seconds"},
                    "color": {"field": "command", "type": "nominal", "title": None, "scale": {"scheme": "tableau10"}},
                },
            }
        )
    svg: str = vl_convert.vegalite_to_svg(vl_spec={"columns": 2, "concat": panels}, vl_version="5.20")
    return svg


def main() -> None:
    """Measure what the command line asks for, print it, and write it where that is asked for, too."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=4_000_000, help="rows of the largest table")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds that one command may take")
    parser.add_argument("--only", nargs="*", default=list(SERIES), choices=list(SERIES))
    parser.add_argument("--write", action="store_true", help="write docs/growth.md and its picture")
    chosen = parser.parse_args()
    subprocess.run([*KVEIL, "warmup", "--quiet"], check=True)
    sizes: dict[str, list[Size]] = {}
    runs: dict[str, list[dict[str, Measured]]] = {}
    for name in chosen.only:
        every = [replace(size, rows=min(size.rows, chosen.most)) for size in SERIES[name][1]]
        sizes[name] = [size for size in dict.fromkeys(every) if size.k <= size.rows // 10]
        given_up: set[str] = set()
        runs[name] = []
        for size in sizes[name]:
            with tempfile.TemporaryDirectory() as temporary:
                runs[name].append(measure(Path(temporary), size, chosen.limit, given_up))
        lines = list(table(name, sizes[name], runs[name]))
        print("\n".join(lines), flush=True)
        if chosen.write:
            fill(PAGE, "growth.py", name, [where_and_when(), "", *lines])
    if chosen.write:
        PICTURE.write_text(draw(runs, sizes), encoding="utf-8")
        fill(PAGE, "growth.py", "picture", [f"![{', '.join(runs)}: seconds](pictures/{PICTURE.name})"])


if __name__ == "__main__":
    main()
