"""Measure kveil against the floor of the machine and against peers, as ratios taken in one run.

    python benchmarks/run.py [--only NAME …] [--write docs/benchmarks.md]

Every kveil figure of a file is one run of the command line, start of Python included, after `kveil warmup`; the
floor is reading, encoding, grouping and writing the same file with Polars in a process that is already up. Times
are the best of a few runs, since other work on the machine only ever adds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bench_census import census
from bench_clusters import clusters, kmember
from bench_constraints import classfly
from bench_dependencies import incognito, rules
from bench_first import adult, clone, demo, warmup
from bench_house import anjana, anonypy, files, models
from bench_least_loss import least_loss, least_loss_speed
from bench_people import people
from bench_spark import spark
from bench_stream import stream
from measuring import ADULT, KVEIL, Row, where_and_when, write_section

BENCHMARKS: dict[str, Callable[[Path], Iterator[Row]]] = {
    "warmup": warmup,
    "clone": clone,
    "demo": demo,
    "adult": adult,
    "files": files,
    "census": census,
    "stream": stream,
    "anjana": anjana,
    "anonypy": anonypy,
    "models": models,
    "rules": rules,
    "incognito": incognito,
    "clusters": clusters,
    "kmember": kmember,
    "classfly": classfly,
    "people": people,
    "least-loss": least_loss,
    "least-loss-speed": least_loss_speed,
    "spark": spark,  # the longest last
}


WITHOUT_DATA = {"clusters", "demo", "files", "people", "rules", "warmup"}
COLUMNS = "| measured | ratio | target | met |\n|---|---|---|---|"


def main() -> None:
    """Run the benchmarks and print their tables; exit 1 where a target is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", default=list(BENCHMARKS), choices=list(BENCHMARKS))
    parser.add_argument("--write", type=Path, help="a page whose tables of these benchmarks are replaced")
    chosen = parser.parse_args()
    subprocess.run([*KVEIL, "warmup", "--quiet"], check=True)
    missed: list[str] = []
    print(COLUMNS)
    with tempfile.TemporaryDirectory() as temporary:
        for name in chosen.only:
            if name not in WITHOUT_DATA and not ADULT.exists():
                print(f"| {name} | skipped: the shared data is not here | | |")
                continue
            lines = []
            for row in BENCHMARKS[name](Path(temporary)):
                met = "yes" if row.met else "NO"
                missed += [] if row.met else [row.what]
                lines.append(f"| {row.what} | {row.value:.3g} {row.unit} | {row.target} | {met} |")
                print(lines[-1], flush=True)
            if chosen.write:
                write_section(chosen.write, name, [where_and_when(), "", COLUMNS, *lines], list(BENCHMARKS))
    if missed:
        print(json.dumps(missed))
        raise SystemExit(1)


if __name__ == "__main__":
    main()
