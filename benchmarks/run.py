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

from bench_clusters import clusters, kmember
from bench_constraints import classfly
from bench_dependencies import incognito, rules
from bench_house import anjana, anonypy, files, models
from bench_least_loss import least_loss
from bench_people import people
from measuring import KVEIL, SHARED, Row

BENCHMARKS: dict[str, Callable[[Path], Iterator[Row]]] = {
    "files": files,
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
}


def main() -> None:
    """Run the benchmarks and print a table; exit 1 where a target is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", default=list(BENCHMARKS), choices=list(BENCHMARKS))
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args()
    subprocess.run([*KVEIL, "warmup", "--quiet"], check=True)
    lines = ["| measured | ratio | target | met |", "|---|---|---|---|"]
    rows: list[Row] = []
    print("\n".join(lines))
    with tempfile.TemporaryDirectory() as temporary:
        for name in chosen.only:
            if name not in {"clusters", "files", "people", "rules"} and not SHARED.exists():
                print(f"| {name} | skipped: the shared data is not here | | |")
                continue
            for row in BENCHMARKS[name](Path(temporary)):
                met = "yes" if row.met else "NO"
                rows.append(row)
                lines.append(f"| {row.what} | {row.value:.3g} {row.unit} | {row.target} | {met} |")
                print(lines[-1], flush=True)
    if chosen.write:
        head = (
            "# Benchmarks\n\nWritten by `benchmarks/run.py` (`make bench` runs all of it); ratios, all measured in one "
            f"run, here of: {', '.join(chosen.only)}.\n\n"
        )
        chosen.write.write_text(head + "\n".join(lines) + "\n")
    if not all(row.met for row in rows):
        print(json.dumps([row.what for row in rows if not row.met]))
        raise SystemExit(1)


if __name__ == "__main__":
    main()
