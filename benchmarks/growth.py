"""Measure how time and memory of every command grow: with rows, quasi-identifiers, leaves of one tree, and k.

    python benchmarks/growth.py [--minutes N] [--most ROWS] [--limit SECONDS] [--only SERIES …] [--fresh] [--write]

Files are made up: columns of 50 values ever rarer (as 1 / rank) under a tree of three levels, one of them with as many
leaves as asked for; nine cells in ten are those of one of a few hundred rows, so that groups form; beside them stand
a number of each row, by which an archive knows it, and a secret. Every figure is one run of the command line after
`kveil warmup`: its CPU time, over all cores, and its largest memory. A run that takes more CPU time than the limit is
ended and told as such, and that command is not tried with more.

Every figure is kept in `.growth` as soon as there is one: a run that was interrupted, or whose minutes are over, is
taken up again by the next one, and `--fresh` begins anew. What matters most comes first. `--write` puts tables and
a picture into docs/growth.md and docs/pictures, of all that is known so far.
"""

from __future__ import annotations

import argparse
import json
import math
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from measuring import KVEIL, ROOT, fill, spent, where_and_when

PAGE = ROOT / "docs" / "growth.md"
PICTURE = ROOT / "docs" / "pictures" / "growth.svg"
KNOWN = ROOT / ".growth" / "figures.json"
VALUES, FAN = 50, 7  # values of a column, and children of the root of its tree
MODELS, FOLLOWED = 300, 0.9  # rows that the others follow, in as many of their cells
LIMIT = 60  # CPU seconds
ENDS = {1: "finds none", 2: "refuses"}  # what exit codes say
MUCH = 1.3  # times as long as n log n: more than this is marked
ALGORITHMS = ("datafly", "incognito", "classfly+complete", "k-msd", "k-member", "least-loss")  # beside mondrian


@dataclass(frozen=True)
class Size:
    """What is measured: so many rows and quasi-identifiers, leaves in one tree, and k."""

    rows: int = 100_000
    attributes: int = 10
    leaves: int = VALUES
    k: int = 10


@dataclass(frozen=True)
class Measured:
    """One run: seconds of all cores and gigabytes; or that it took longer than it may, or ended without an answer."""

    seconds: float
    memory: float
    late: bool = False
    code: int = 0

    def __str__(self) -> str:
        if self.code:
            return ENDS.get(self.code, f"fails ({self.code})")
        return f"> {self.seconds:.0f} s" if self.late else f"{self.seconds:.3g} s, {self.memory:.2f} GB"

    @property
    def answered(self) -> bool:
        """Whether it came to its end with an answer."""
        return not self.late and not self.code


SERIES: dict[str, tuple[str, list[Size]]] = {
    "rows": ("rows", [Size(rows=rows) for rows in (10_000, 100_000, 1_000_000, 4_000_000)]),
    "attributes": ("attributes", [Size(attributes=number) for number in (10, 20, 40)]),
    "leaves": ("leaves", [Size(leaves=leaves) for leaves in (VALUES, 10_000, 100_000)]),
    "k": ("k", [Size(k=k) for k in (2, 10, 100, 1_000, 5_000)]),
}
# What matters most first: a run that ends early has that.
ORDER = [
    *(Size(rows=rows) for rows in (10_000, 100_000, 1_000_000)),
    *(Size(attributes=number) for number in (20, 40)),
    Size(leaves=100_000),
    *(Size(k=k) for k in (5_000, 2)),
    Size(rows=4_000_000),
    *(Size(k=k) for k in (1_000, 100)),
    Size(leaves=10_000),
]


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


def calls(folder: Path, policy: Path) -> dict[str, tuple[str | Path, ...]]:
    """Return the command line of every command; those after `anonymize` look at its release."""
    names = ("data.csv", "release.csv", "owner.json", f"{policy.stem}-archive")
    data, release, owner, kept = (folder / name for name in names)
    made = ("anonymize", policy, "--output", release, "--owner", owner)
    other = ("anonymize", policy, "--output", folder / "other.csv", "--algorithm")
    beside = ("--original", data, "--release", release, "--owner", owner)
    return {
        "anonymize": made,
        "verify": ("verify", policy, *beside),
        "measure": ("measure", policy, *beside),
        "attack": ("attack", policy, *beside),
        "check": ("check", policy),
        "init": ("init", data, "--output", folder / "suggested.yaml", "--force"),
        "dependencies": ("dependencies", policy),
        "report": (*made, "--report", folder / "report.html"),
        "archive": (*made, "--archive", kept),
        "apply": ("apply", kept, "--input", data, "--output", folder / "applied.csv"),
        "compare": ("compare", policy, "--algorithms", "datafly,mondrian"),
        **{name: (*other, name) for name in ALGORITHMS},
        "bound": (*made, "--bound"),
    }


COMMANDS = tuple(calls(Path(), Path()))
NEEDS = {"verify": "anonymize", "measure": "anonymize", "attack": "anonymize", "apply": "archive"}
NO_IS_AN_ANSWER = {"check", "dependencies"}  # by 1


def _run(limit: int, *arguments: str | Path) -> Measured:
    """Run kveil once; one that takes more CPU time than the limit is ended."""
    run = spent(*arguments, most_cpu=limit)
    if run.code == -signal.SIGXCPU:
        return Measured(limit, 0.0, late=True)
    return Measured(run.cpu, run.memory, code=0 if run.code == 1 and arguments[0] in NO_IS_AN_ANSWER else run.code)


class Figures:
    """What is known, by size and command, kept in a file from run to run."""

    def __init__(self, path: Path, *, fresh: bool) -> None:
        self.path = path
        self.found: dict[Size, dict[str, Measured]] = {}
        if path.exists() and not fresh:
            for entry in json.loads(path.read_text()):
                runs = {name: Measured(**run) for name, run in entry["runs"].items()}
                self.found[Size(**entry["size"])] = runs

    def of(self, size: Size) -> dict[str, Measured]:
        """Return what is known of a size."""
        return self.found.get(size, {})

    def keep(self, size: Size, command: str, run: Measured) -> None:
        """Add a figure, and write all of them."""
        self.found.setdefault(size, {})[command] = run
        entries = [
            {"size": asdict(own), "runs": {name: asdict(one) for name, one in runs.items()}}
            for own, runs in self.found.items()
        ]
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(json.dumps(entries, indent=1) + "\n")

    def hopeless(self, command: str, size: Size) -> bool:
        """Tell whether a command took too long with less of something, and no more of anything."""
        return any(
            runs[command].late and all(getattr(own, field) <= getattr(size, field) for field in asdict(size))
            for own, runs in self.found.items()
            if command in runs and own != size
        )


@dataclass(frozen=True)
class Bounds:
    """How long all may go on, by the clock, and the CPU seconds of one run."""

    until: float
    limit: int

    @property
    def over(self) -> bool:
        """Whether the time is used up."""
        return time.monotonic() > self.until


def measure(folder: Path, size: Size, figures: Figures, bounds: Bounds) -> None:
    """Run every command that is not known yet, was not too slow with less, and whose input there is."""
    policy = write_policy(folder, size)
    made: set[str] = set()
    for command, call in calls(folder, policy).items():
        if command in figures.of(size) or figures.hopeless(command, size):
            continue
        if bounds.over:
            return
        need = NEEDS.get(command)
        if need is not None and need not in made:
            if not figures.of(size).get(need, Measured(0, 0, late=True)).answered:
                continue
            _run(0, *calls(folder, policy)[need])  # known from an earlier run, whose files are gone
            made.add(need)
        run = _run(bounds.limit, *call)
        figures.keep(size, command, run)
        made.add(command)
        print(f"{size}: {command} {run}", flush=True)


def table(name: str, sizes: list[Size], figures: Figures) -> Iterator[str]:
    """Return a table of a series: a line per command; for rows also how the last step compares with n log n."""
    field, _ = SERIES[name]
    grows = name == "rows" and len(sizes) > 1
    heads = [f"{getattr(size, field):,} {field}" if field != "k" else f"k = {size.k:,}" for size in sizes]
    yield f"| command | {' | '.join(heads)} |{' last step by n log n |' if grows else ''}"
    yield "|---|" + "---|" * (len(sizes) + grows)
    for command in COMMANDS:
        cells = [str(figures.of(size).get(command, "not tried")) for size in sizes]
        line = f"| {command} | {' | '.join(cells)} |"
        if grows:
            line += f" {_by_n_log_n(command, sizes, figures)} |"
        yield line


def _by_n_log_n(command: str, sizes: list[Size], figures: Figures) -> str:
    """Say how much longer the last step took than n log n would have it."""
    known = [(size.rows, figures.of(size).get(command)) for size in sizes]
    answered = [(rows, run) for rows, run in known if run is not None and run.answered]
    if len(answered) < 2:
        return "unknown"
    (few, before), (many, after) = answered[-2:]
    ratio = after.seconds / before.seconds / (many * math.log(many) / (few * math.log(few)))
    return f"{ratio:.2f} ×{' (steeper)' if ratio > MUCH else ''}"


def draw(series: dict[str, list[Size]], figures: Figures) -> str:
    """Return the picture: seconds and gigabytes by what grows; a colour per command, dashes for algorithms."""
    import vl_convert

    scale = {"type": "log", "nice": False}
    panels = []
    for name, sizes in series.items():
        field, _ = SERIES[name]
        values = [
            {
                "command": command,
                "x": getattr(size, field),
                "seconds": run.seconds,
                "memory": run.memory,
                "dashed": command in ALGORITHMS,
            }
            for size in sizes
            for command, run in figures.of(size).items()
            if run.answered
        ]
        for measured, title in (("seconds", "CPU seconds"), ("memory", "GB")):
            panels.append(
                {
                    "width": 300,
                    "height": 260,
                    "data": {"values": values},
                    "mark": {"type": "line", "point": True},
                    "encoding": {
                        "x": {
                            "field": "x",
                            "type": "quantitative",
                            "scale": scale,
                            "title": field,
                            "axis": {"values": [getattr(size, field) for size in sizes], "format": "~s"},
                        },
                        "y": {"field": measured, "type": "quantitative", "scale": scale, "title": title},
                        "color": {
                            "field": "command",
                            "type": "nominal",
                            "title": None,
                            "sort": list(COMMANDS),
                            "scale": {"scheme": "tableau20"},
                            "legend": {"labelLimit": 300},
                        },
                        "strokeDash": {"field": "dashed", "type": "nominal", "legend": None},
                    },
                }
            )
    picture = {
        "background": "white",
        "padding": {"left": 5, "top": 5, "bottom": 5, "right": 40},
        "columns": 2,
        "concat": panels,
    }
    svg: str = vl_convert.vegalite_to_svg(vl_spec=picture, vl_version="5.20")
    return svg


def _sizes(sizes: list[Size], most: int) -> list[Size]:
    """Return sizes without those of more rows than asked for; where all have them, they have fewer."""
    every = [replace(size, rows=min(size.rows, most)) for size in sizes]
    return [size for size in dict.fromkeys(every) if size.k <= size.rows // 10]


def write(series: dict[str, list[Size]], figures: Figures) -> None:
    """Write what is known into the page and its picture."""
    for name, sizes in series.items():
        fill(PAGE, "growth.py", name, [where_and_when(), "", *table(name, sizes, figures)])
    PICTURE.write_text(draw(series, figures), encoding="utf-8")
    fill(PAGE, "growth.py", "picture", [f"![{', '.join(series)}: CPU seconds, GB](pictures/{PICTURE.name})"])


def main() -> None:
    """Measure what the command line asks for, print it, and write it where that is asked for, too."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=45, help="begin no further run after so many")
    parser.add_argument("--most", type=int, default=4_000_000, help="rows of the largest table")
    parser.add_argument("--limit", type=int, default=LIMIT, help="CPU seconds that one command may take")
    parser.add_argument("--only", nargs="*", default=list(SERIES), choices=list(SERIES))
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs have measured")
    parser.add_argument("--known", type=Path, default=KNOWN, help="where figures are kept")
    parser.add_argument("--write", action="store_true", help="write docs/growth.md and its picture")
    chosen = parser.parse_args()
    bounds = Bounds(time.monotonic() + 60 * chosen.minutes, chosen.limit)
    subprocess.run([*KVEIL, "warmup", "--quiet"], check=True)
    series = {name: _sizes(SERIES[name][1], chosen.most) for name in chosen.only}
    wanted = {size for sizes in series.values() for size in sizes}
    figures = Figures(chosen.known, fresh=chosen.fresh)
    for size in _sizes(ORDER, chosen.most):
        if size not in wanted or bounds.over:
            continue
        with tempfile.TemporaryDirectory() as temporary:
            make(Path(temporary), size)
            measure(Path(temporary), size, figures, bounds)
        if chosen.write:  # after each size, so that whoever interrupts it has a page
            write(series, figures)
    if chosen.write:
        write(series, figures)
    for name, sizes in series.items():
        print("\n".join(["", *table(name, sizes, figures)]), flush=True)


if __name__ == "__main__":
    main()
