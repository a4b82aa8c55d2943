"""Loss against time on Adult with ARX's trees: the search, its bound, and what others reach.

`python benchmarks/figures_least_loss.py [--rows N]` writes docs/pictures/least-loss.svg. ARX's points are its local
recoding as measured once on the same file and trees (ARX is no part of this repository); all others are run here.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kveil.algorithms.bound import lower_bound
from kveil.algorithms.registry import find
from kveil.engines.local import run
from kveil.frames import from_frame
from kveil.measures import measure
from kveil.policy.load import parse_policy
from kveil.table.encode import Table, encode

ROOT = Path(__file__).resolve().parent.parent
ADULT = ROOT.parent / "shared" / "data" / "adult"
QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
UCI = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary-class",
)  # fmt: skip
ARX = {5: (7.5, 0.0623), 10: (7.5, 0.0857)}  # seconds, NCP
SECONDS = (1, 2, 4, 8, 16, 32, 64)


def adult_table(k: int, file: str = "adult_arx.csv", rows: int | None = None) -> Table:
    """Return Adult, or the first of its rows, under k-anonymity over all quasi-identifiers with ARX's trees."""
    if file.endswith(".csv"):
        frame = pl.read_csv(ADULT / file, separator=";", infer_schema=False)
    else:
        lines = [line.strip().rstrip(".").split(", ") for line in (ADULT / file).read_text().splitlines()]
        whole = [line for line in lines if len(line) == len(UCI) and "?" not in line]
        frame = pl.DataFrame(whole, schema=list(UCI), orient="row").select(*QUASI, "salary-class")
    frame = frame if rows is None else frame[:rows]
    trees = "".join(
        f"\n  {name}: {{role: quasi-identifier, hierarchy: {ADULT}/hierarchies_arx/adult_hierarchy_{name}.csv}}"
        for name in QUASI
    )
    text = (
        f"kveil: 1\nattributes:{trees}\n  salary-class: {{role: sensitive}}\nprivacy: [{{model: k-anonymity, k: {k}}}]"
    )
    return encode(from_frame(frame), parse_policy(text, "adult", ADULT))


def losses_of(table: Table, effort: str) -> tuple[float, float]:
    """Return the NCP of an effort, and its tries a second."""
    started = time.perf_counter()
    solution = run(find("least-loss"), table, {"refine": effort})
    return measure(table, solution).ncp, solution.details["refine"]["tries"] / (time.perf_counter() - started)


def bound_of(table: Table) -> float:
    """Return the proved bound on the NCP."""
    return lower_bound(table, lambda stage: None).at_least


TIMED = """
import sys, time
sys.path.insert(0, sys.argv[1])
from figures_least_loss import synthetic_table, find, run
table = synthetic_table(int(sys.argv[2]))
run(find("least-loss"), table, {"refine": "0.01"})
started = time.perf_counter()
run(find("least-loss"), table, {"refine": "0.5"})
print(time.perf_counter() - started)
"""


def synthetic_table(rows: int) -> Table:
    """Return made-up rows of five attributes."""
    random = np.random.default_rng(0)
    sizes = (100, 60, 40, 20, 4)
    frame = pl.DataFrame({f"a{i}": random.integers(0, size, rows).astype(str).tolist() for i, size in enumerate(sizes)})
    lines = "".join(
        f"\n  a{i}: {{role: quasi-identifier, hierarchy: {{intervals: {{from: 0, to: {size - 1}, widths: [2, 10]}}}}}}"
        for i, size in enumerate(sizes)
    )
    return encode(
        from_frame(frame),
        parse_policy(f"kveil: 1\nattributes:{lines}\nprivacy: [{{model: k-anonymity, k: 10}}]", "made-up", Path()),
    )


def threads_ratio(folder: Path, rows: int = 200_000) -> float:
    """Return how many times faster two threads are than one."""
    found = []
    for threads in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", TIMED, str(Path(__file__).parent), str(rows)],
            env=os.environ | {"NUMBA_NUM_THREADS": threads}, capture_output=True, text=True, check=True, cwd=folder,
        )  # fmt: skip
        found.append(float(done.stdout))
    return found[0] / found[1]


def points(k: int, rows: int | None, seconds: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return what each method reaches in which time."""
    table = adult_table(k, rows=rows)
    run(find("least-loss"), table, {"refine": "0.01"})  # compiled
    found = []
    for limit in seconds:
        started = time.perf_counter()
        solution = run(find("least-loss"), table, {"refine": 1000, "refine_seconds": limit})
        spent = time.perf_counter() - started
        found.append({"method": "least-loss", "seconds": spent, "NCP": measure(table, solution).ncp})
    for name in ("mondrian", "k-member"):
        started = time.perf_counter()
        solution = run(find(name), table, {})
        found.append({"method": name, "seconds": time.perf_counter() - started, "NCP": measure(table, solution).ncp})
    least = bound_of(table)
    found += [{"method": "bound", "seconds": limit, "NCP": least} for limit in (seconds[0], seconds[-1])]
    if rows is None and k in ARX:
        found.append({"method": "ARX, given", "seconds": ARX[k][0], "NCP": ARX[k][1]})
    return [{**point, "panel": f"k = {k}"} for point in found]


def main() -> None:
    """Draw the picture."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, help="only the first rows, to try the script")
    parser.add_argument("--seconds", type=int, nargs="*", default=list(SECONDS))
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "pictures" / "least-loss.svg")
    chosen = parser.parse_args()
    values = [point for k in (5, 10) for point in points(k, chosen.rows, tuple(chosen.seconds))]
    altair = importlib.import_module("altair")
    base = altair.Chart(altair.Data(values=values)).encode(
        x=altair.X("seconds:Q", scale=altair.Scale(type="log"), title="seconds"),
        y=altair.Y("NCP:Q", axis=altair.Axis(format=".1%"), scale=altair.Scale(zero=False)),
        color=altair.Color("method:N", legend=altair.Legend(orient="top", title=None)),
    )
    chart = altair.layer(base.mark_line(), base.mark_point(filled=True, size=60)).properties(width=320, height=260)
    chart.facet(altair.Facet("panel:N", title=None), columns=2).save(str(chosen.output))
    print(f"{chosen.output} is written.")


if __name__ == "__main__":
    main()
