"""Measure how time and memory of every command grow: with rows, quasi-identifiers, leaves of one tree, and k.

    python benchmarks/growth.py [--most ROWS] [--limit SECONDS] [--only SERIES …] [--write]

Files are made up: columns of 50 values ever rarer (as 1 / rank) under a tree of three levels, one of them with as many
leaves as asked for; nine cells in ten are those of one of a few hundred rows, so that groups form; beside them stand
a number of each row, by which an archive knows it, and a secret. Every figure is one
run of the command line after `kveil warmup`: its CPU time, over all cores, and its largest memory. A run that takes
more CPU time than the limit is ended and told as such, and that command is not tried with more. What two series have
in common is measured once. `--write` puts tables and a picture into docs/growth.md and docs/pictures.
"""

from __future__ import annotations

import argparse
import math
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from measuring import KVEIL, ROOT, fill, spent, where_and_when

PAGE = ROOT / "docs" / "growth.md"
PICTURE = ROOT / "docs" / "pictures" / "growth.svg"
VALUES, FAN = 50, 7  # values of a column, and children of the root of its tree
COMMANDS = (
    "init",
    "check",
    "dependencies",
    "anonymize",
    "verify",
    "measure",
    "attack",
    "report",
    "archive",
    "apply",
    "compare",
    "k-member",
    "least-loss",
    "bound",
)
MODELS, FOLLOWED = 300, 0.9  # rows that the others follow, in as many of their cells
LIMIT = 60  # CPU seconds
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
    """One run: seconds of all cores and gigabytes, or that it took longer than it may."""

    seconds: float
    memory: float
    late: bool = False

    def __str__(self) -> str:
        return f"> {self.seconds:.0f} s" if self.late else f"{self.seconds:.3g} s, {self.memory:.2f} GB"


SERIES: dict[str, tuple[str, list[Size]]] = {
    "rows": ("rows", [Size(rows=rows) for rows in (10_000, 100_000, 1_000_000, 4_000_000)]),
    "attributes": ("attributes", [Size(attributes=number) for number in (10, 20, 40)]),
    "leaves": ("leaves", [Size(leaves=leaves) for leaves in (VALUES, 10_000, 100_000)]),
    "k": ("k", [Size(k=k) for k in (2, 10, 100, 1_000, 5_000)]),
}


def _tree(name: str, leaves: int) -> str:
    """Return a hierarchy file: every leaf with two nodes above it, and the root, which has about seven children."""
    wide = -(-leaves // FAN)
    near = math.isqrt(wide)
    far = near * -(-wide // near)  # leaves under a child of the root, in whole nodes of the level below
    return "".join(f"{name}{i};{name}-a{i // near};{name}-b{i // far};*\n" for i in range(leaves))


def make(folder: Path, size: Size, seed: int = 5) -> None:
    """Write the table and the trees of a size."""
    rng = np.random.default_rng(seed)
    columns = {"id": pl.Series(np.arange(size.rows)).cast(pl.String)}
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


def write_policy(folder: Path, size: Size) -> Path:
    """Write the policy of a size beside its table."""
    lines = "".join(f"  q{a}: {{role: quasi-identifier, hierarchy: q{a}.csv}}\n" for a in range(size.attributes))
    policy = folder / f"k{size.k}.yaml"
    policy.write_text(
        "kveil: 1\ndata: {path: data.csv, key: id}\nattributes:\n  id: {role: identifier}\n"
        f"{lines}  secret: {{role: sensitive}}\n"
        f"privacy:\n  - {{model: k-anonymity, k: {size.k}}}\nsuppression: {{limit: 0.02}}\nalgorithm: mondrian\n"
    )
    return policy


def _run(limit: int, *arguments: str | Path) -> Measured:
    """Run kveil once; one that takes more CPU time than the limit is ended."""
    run = spent(*arguments, most_cpu=limit)
    if run.code == -signal.SIGXCPU:
        return Measured(limit, 0.0, late=True)
    answers = (0, 1) if arguments[0] in {"check", "dependencies"} else (0,)  # these answer no by 1
    if run.code not in answers:
        raise SystemExit(f"kveil {arguments[0]} failed with {run.code}")
    return Measured(run.cpu, run.memory)


def calls(folder: Path, policy: Path) -> dict[str, tuple[str | Path, ...]]:
    """Return the command line of every command; those after `anonymize` look at its release."""
    names = ("data.csv", "release.csv", "owner.json", f"{policy.stem}-archive")
    data, release, owner, kept = (folder / name for name in names)
    made = ("anonymize", policy, "--output", release, "--owner", owner)
    other = ("anonymize", policy, "--output", folder / "other.csv")
    beside = ("--original", data, "--release", release, "--owner", owner)
    return {
        "init": ("init", data, "--output", folder / "suggested.yaml", "--force"),
        "check": ("check", policy),
        "dependencies": ("dependencies", policy),
        "anonymize": made,
        "verify": ("verify", policy, *beside),
        "measure": ("measure", policy, *beside),
        "attack": ("attack", policy, *beside),
        "report": (*made, "--report", folder / "report.html"),
        "archive": (*made, "--archive", kept),
        "apply": ("apply", kept, "--input", data, "--output", folder / "applied.csv"),
        "compare": ("compare", policy, "--algorithms", "datafly,mondrian"),
        "k-member": (*other, "--algorithm", "k-member"),
        "least-loss": (*other, "--algorithm", "least-loss"),
        "bound": (*made, "--bound"),
    }


NEEDS = {"verify": "anonymize", "measure": "anonymize", "attack": "anonymize", "apply": "archive"}


def measure(folder: Path, size: Size, limit: int, given_up: set[str]) -> dict[str, Measured]:
    """Run every command that was not too slow before, and whose input there is."""
    runs: dict[str, Measured] = {}
    for command, call in calls(folder, write_policy(folder, size)).items():
        if command not in given_up and NEEDS.get(command) not in given_up:
            runs[command] = _run(limit, *call)
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
                    "y": {"field": "seconds", "type": "quantitative", "scale": {"type": "log"}, "title": "CPU seconds"},
                    "color": {"field": "command", "type": "nominal", "title": None, "scale": {"scheme": "tableau20"}},
                },
            }
        )
    svg: str = vl_convert.vegalite_to_svg(vl_spec={"columns": 2, "concat": panels}, vl_version="5.20")
    return svg


def _sizes(name: str, most: int) -> list[Size]:
    """Return the sizes of a series, none with more rows than asked for."""
    every = [replace(size, rows=min(size.rows, most)) for size in SERIES[name][1]]
    return [size for size in dict.fromkeys(every) if size.k <= size.rows // 10]


def _measured(
    folder: Path, size: Size, limit: int, given_up: set[str], known: dict[Size, dict[str, Measured]]
) -> dict[str, Measured]:
    """Return what another series has measured, or measure it in a folder of its table."""
    if size not in known:
        home = folder / f"{size.rows}-{size.attributes}-{size.leaves}"
        if not home.exists():
            home.mkdir()
            make(home, size)
        known[size] = measure(home, size, limit, given_up)
    given_up.update(command for command, run in known[size].items() if run.late)
    return known[size]


def main() -> None:
    """Measure what the command line asks for, print it, and write it where that is asked for, too."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=4_000_000, help="rows of the largest table")
    parser.add_argument("--limit", type=int, default=LIMIT, help="CPU seconds that one command may take")
    parser.add_argument("--only", nargs="*", default=list(SERIES), choices=list(SERIES))
    parser.add_argument("--write", action="store_true", help="write docs/growth.md and its picture")
    chosen = parser.parse_args()
    subprocess.run([*KVEIL, "warmup", "--quiet"], check=True)
    sizes = {name: _sizes(name, chosen.most) for name in chosen.only}
    runs: dict[str, list[dict[str, Measured]]] = {}
    known: dict[Size, dict[str, Measured]] = {}
    for name in chosen.only:
        given_up: set[str] = set()
        with tempfile.TemporaryDirectory() as temporary:
            runs[name] = [_measured(Path(temporary), size, chosen.limit, given_up, known) for size in sizes[name]]
        lines = list(table(name, sizes[name], runs[name]))
        print("\n".join(lines), flush=True)
        if chosen.write:
            fill(PAGE, "growth.py", name, [where_and_when(), "", *lines])
    if chosen.write:
        PICTURE.write_text(draw(runs, sizes), encoding="utf-8")
        fill(PAGE, "growth.py", "picture", [f"![{', '.join(runs)}: CPU seconds](pictures/{PICTURE.name})"])


if __name__ == "__main__":
    main()
